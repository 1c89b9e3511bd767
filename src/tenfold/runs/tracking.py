"""Trackers: a training's curves for another program to draw, while it runs and after.

`tenfold train RECIPE --track tensorboard`. A tracker is called with each line that goes to `metrics.jsonl`:

    {"step": 20, "loss": 1.93, "grad_norm": 0.8, "lr": 0.001, "seconds": 1.2,
     "eval": {"exact": {5: 0.31, 10: 0.02}}, "score": 0.165}

It decides nothing of a run, so it is no part of the recipe. Other packages add theirs as entry points of
the group `tenfold.trackers`.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from tenfold.core.errors import TenfoldError
from tenfold.core.files import remove
from tenfold.core.registry import Registry
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run
from tenfold.training.metrics_file import Metrics

FLUSH = 10  # seconds after which a curve is seen


class Tracker(ABC):
    """Made when training starts or goes on. It writes to `folder`, its own in the run's, which `--fresh` removes."""

    name: ClassVar[str]

    def __init__(self, folder: Path, recipe: Recipe) -> None:
        self.folder, self.recipe = folder, recipe

    @abstractmethod
    def __call__(self, metrics: Metrics) -> None:
        """One line of `metrics.jsonl`; a resumed run repeats what came after its checkpoint."""

    def close(self) -> None:
        """Training has ended, or was stopped."""
        return


class TensorBoard(Tracker):
    """Event files for `tensorboard --logdir runs`: loss, lr, grad_norm, and accuracy by length.

    A resumed run begins its file anew with what metrics.jsonl holds of the steps before, so that no step is
    there twice and none is missing, however the process before ended.
    """

    name = "tensorboard"

    def __init__(self, folder: Path, recipe: Recipe) -> None:
        super().__init__(folder, recipe)
        try:
            with warnings.catch_warnings():  # of what it imports
                warnings.simplefilter("ignore", DeprecationWarning)
                from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise TenfoldError(
                "--track tensorboard needs tensorboard, which is not installed; "
                "pip install 'tenfold[tensorboard]'"
            ) from None
        self._make: Any = SummaryWriter
        self._writer: Any = None

    def __call__(self, metrics: Metrics) -> None:
        try:
            if self._writer is None:
                self._begin(metrics)
            self._write(metrics, time.time())
        except OSError as error:
            raise TenfoldError(
                f"cannot write to {self.folder}: {error.strerror or error}; the last checkpoint stands"
            ) from None

    def _begin(self, first: Metrics) -> None:
        for old in self.folder.glob("events.*"):
            old.unlink()
        # viewers drop what was in the files before
        self._writer = self._make(str(self.folder), purge_step=0, flush_secs=FLUSH)
        self._writer.add_text("recipe", f"```yaml\n{self.recipe.as_yaml()}```", 0)
        now = time.time() - first["seconds"]
        for line in Run(self.folder.parent, self.recipe).metrics():
            if line["step"] < first["step"]:
                self._write(line, now + line["seconds"])

    def _write(self, metrics: Metrics, when: float) -> None:
        for tag, value in scalars(metrics).items():
            self._writer.add_scalar(tag, value, metrics["step"], when)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def scalars(metrics: Metrics) -> dict[str, float]:
    """The curves' names and values.

    >>> scalars(
    ...     {"step": 20, "loss": 1.5, "lr": 0.1, "grad_norm": 2.0, "eval": {"exact": {5: 0.25}}}
    ... )
    {'loss': 1.5, 'lr': 0.1, 'grad_norm': 2.0, 'exact/5': 0.25}
    """
    curves = {name: metrics[name] for name in ("loss", "lr", "grad_norm")}
    for name, by_length in metrics.get("eval", {}).items():
        curves |= {f"{name}/{length}": value for length, value in by_length.items()}
    return curves


TRACKERS: Registry[Tracker] = Registry(
    "tracker", "tenfold.trackers", of=(TensorBoard,), base=Tracker
)


@contextmanager
def tracking(name: str | None, folder: Path, recipe: Recipe) -> Iterator[Tracker | None]:
    """A run's tracker while it trains; without a name none, and nothing is looked for."""
    if name is None:
        yield None
        return
    tracker = TRACKERS[name](folder / name, recipe)
    try:
        yield tracker
    finally:
        tracker.close()


def remove_tracks(folder: Path) -> None:
    """Remove what trackers left of a run."""
    for name in TRACKERS.names():
        remove(folder / name)
