"""A run: a folder named by its recipe's hash, that holds all that came of it.

recipe.yaml  environment.json  metrics.jsonl  checkpoints/  result.json (last)  lease-N
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save

from tenfold import __version__
from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.files import write_atomically
from tenfold.core.stored_files import (
    LARGEST_TEXT,
    MANIFEST,
    manifest,
    read_checked,
    read_json_mapping,
    read_manifest,
    read_stored,
    sealed,
)
from tenfold.evals.statistics import Measurement
from tenfold.models import Model
from tenfold.runs.answer import Answer as Answer
from tenfold.runs.answer import GoingOn
from tenfold.runs.build import Built, build
from tenfold.runs.other_encoding import with_encoding
from tenfold.runs.own_components import include as include_files
from tenfold.runs.own_components import keep_copies, require
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import SHELF as SHELF
from tenfold.runs.recipe_files import shipped_names as shipped_names
from tenfold.runs.recipe_files import stored_recipe
from tenfold.runs.sample_log import SampleSink, describe
from tenfold.training.checkpoint import Checkpoint, Checkpoints, Tensors, parse_tensors
from tenfold.training.metrics_file import METRICS, Metrics, parse_lines

Which = Literal["final", "best"]
CHECKPOINTS: tuple[Which, Which] = ("final", "best")
WEIGHTS = "weights.safetensors"


class Run:
    """`Run.open("runs/...")`, or what `tenfold.train(recipe)` returns."""

    def __init__(self, folder: Path, recipe: Recipe, *, opened: bool = False) -> None:
        """`opened`: the recipe was read from the folder, which somebody else may have made."""
        self.folder, self.recipe, self.opened = folder, recipe, opened
        self._built: Built | None = None
        self._models: dict[str, Model] = {}
        self.computed: dict[Any, Any] = {}  # results that features keep with the run
        self._answerers: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @classmethod
    def open(cls, folder: Path | str) -> Run:
        folder = Path(folder)
        return cls(folder, stored_recipe(folder), opened=True)

    @property
    def built(self) -> Built:
        if self._built is None:
            if self.recipe.include:
                require(self.recipe.include, self.folder)
            built = build(self.recipe)
            if self.opened:
                built.source.expect(self.environment().get("text"), self.folder)
            self._built = built
        return self._built

    @property
    def finished(self) -> bool:
        return (self.folder / "result.json").exists()

    def result(self) -> dict[str, Any]:
        """What the run came to: rows of measurements, steps, seconds, environment."""
        try:
            return read_json_mapping(self.folder, "result.json", "a result")
        except FileNotFoundError:
            raise TenfoldError(f"{self.folder} has not finished; train it first") from None

    def environment(self) -> dict[str, Any]:
        """What the run was made with; empty for an exported model, which does not say it."""
        try:
            return read_json_mapping(self.folder, "environment.json", "an environment")
        except FileNotFoundError:
            return {}

    def check_result(self) -> None:
        """Raise if what is there is not this recipe's result, or cannot be read."""
        stored = self.result().get("fingerprint")
        if stored != self.recipe.fingerprint:
            raise TenfoldError(f"{self.folder} holds results of another recipe ({stored})")

    def check_text(self) -> None:
        """Raise if the text here is not the one that the run was trained on: another Python has another library."""
        here = self.built.source.prepare().get("text")
        stored = self.environment().get("text")
        if here is None:
            return
        if stored not in (None, here):
            raise TenfoldError(
                f'{self.folder} was trained on other text than "{self.recipe.task.name}" is here and now '
                f"(its digest was {stored}, it is {here}); train it again with --fresh"
            )

    def metrics(self) -> list[Metrics]:
        """The training curve: one entry a logged step; a line cut short by a crash is left out.

        Of a finished run, the file must be as the result states it.
        """
        try:
            files = self.result().get("files") if self.finished else None
            if isinstance(files, dict) and METRICS in files:
                data = read_checked(self.folder, METRICS, files[METRICS])
            else:
                data = read_stored(self.folder, METRICS, LARGEST_TEXT)
        except FileNotFoundError:
            return []
        return parse_lines(data, self.folder / METRICS)

    def progress(self) -> dict[str, Any]:
        """How far the run is: its step, seconds, best score."""
        steps = Checkpoints(self.folder / "checkpoints").steps()
        return self.checkpoint().state if steps else {"step": 0}

    def checkpoint(self) -> Checkpoint:
        latest = Checkpoints(self.folder / "checkpoints").latest()
        if latest is None:
            raise TenfoldError(f"{self.folder} has no checkpoint yet; train it first")
        if latest.state.get("fingerprint") != self.recipe.fingerprint:
            raise TenfoldError(
                f"the checkpoint in {self.folder} belongs to another recipe "
                f"({latest.state.get('fingerprint')}, the folder's is {self.recipe.fingerprint})"
            )
        return latest

    def model(self, which: Which = "best") -> Model:
        """The trained model, ready to answer: the best checkpoint, or the final one."""
        if which not in CHECKPOINTS:
            raise unknown("checkpoint", which, CHECKPOINTS)
        if which not in self._models:
            model, weights = self.built.model(), self.weights(which)
            self._check_precision(model, weights)
            try:
                model.load_state_dict(weights)
            except RuntimeError as error:
                reason = " ".join(str(error).split())
                raise TenfoldError(
                    f"the weights in {self.folder} do not fit its recipe: {reason[:160]}"
                ) from None
            self._models[which] = model.to(self.recipe.train.device).eval()
        return self._models[which]

    def _check_precision(self, model: Model, weights: Tensors) -> None:
        """Raise where weights would be rounded, or widened, when they are loaded."""
        for name, own in model.state_dict().items():
            if name in weights and weights[name].dtype != own.dtype:
                kinds = (str(t.dtype).removeprefix("torch.") for t in (weights[name], own))
                raise TenfoldError(
                    "the weights {name} in {folder} are {} numbers, those of the model are {}; "
                    "export the run again".format(*kinds, name=name, folder=self.folder)
                )

    def answerer(self, which: Which = "best") -> Any:
        """The model, answering in the fastest of its ways; it remembers what it computed."""
        if which not in self._answerers:
            self.check_text()
            self._answerers[which] = self.built.source.answerer(self.model(which))
        return self._answerers[which]

    @property
    def published(self) -> bool:
        """Whether it is weights and a recipe alone, as `export` leaves them."""
        return (self.folder / WEIGHTS).exists()

    def weights(self, which: Which = "best") -> Tensors:
        """The tensors of a checkpoint by name."""
        if self.published:
            return parse_tensors(self._published_weights(), self.folder / WEIGHTS)
        tensors = self.checkpoint().tensors
        final = tensors.get("average") or tensors.get("model")
        chosen = tensors.get("best", final) if which == "best" else final
        if chosen is None:
            raise TenfoldError(f"the checkpoint in {self.folder} has no weights of a model")
        return chosen

    def _published_weights(self) -> bytes:
        """The file of the weights. Where the export left a manifest, as it does since 0.2, every file agrees with it."""
        try:
            files = read_manifest(self.folder)
        except FileNotFoundError:
            return read_stored(self.folder, WEIGHTS)
        if WEIGHTS not in files:
            raise TenfoldError(f"{self.folder / MANIFEST} is damaged: it does not name {WEIGHTS}")
        data = {name: read_checked(self.folder, name, stated) for name, stated in files.items()}
        return data[WEIGHTS]

    def evaluate(
        self,
        lengths: Sequence[int] | None = None,
        slices: Sequence[str] | None = None,
        n: int | None = None,
        *,
        which: Which = "best",
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
        log: SampleSink | None = None,
        force: bool = False,
        pe: Any = None,
        encoder_pe: Any = None,
        cross_pe: Any = None,
    ) -> list[Measurement]:
        """Measure the run at these lengths, by default those of its recipe.

        `log`, a `SampleLog` or any function, is given the samples of each batch: a list of dicts.

        `force` also measures lengths at which one problem takes more than 4 GiB of memory.

        `pe`, `encoder_pe` and `cross_pe` put another encoding in the place of the run's own, where the trained weights
        fit: a name, or a mapping of a name and options. Each measurement then names it in `evaluated_pe`.
        """
        options = self.recipe.eval
        wanted = {"pe": pe, "encoder_pe": encoder_pe, "cross_pe": cross_pe}
        wanted = {key: value for key, value in wanted.items() if value is not None}
        answerer, source, other = self.answerer(which), self.built.source, ""
        if wanted:
            given = with_encoding(self.recipe, self.weights(which), wanted, self.folder)
            source, other = given.built.source, given.words
            answerer = source.answerer(given.model)
        graded = None
        if log is not None:
            name = self.folder.resolve().name
            graded = describe(log, self.built.batcher, name, self.recipe.seed, [which], other)
        torch.set_num_threads(self.recipe.train.threads)
        rows = source.measure(
            answerer,
            options.lengths if lengths is None else lengths,
            options.slices if slices is None else slices,
            options.n if n is None else n,
            seed=seed,
            progress=progress,
            log=graded,
            force=force,
        )
        return [replace(row, evaluated_pe=other) for row in rows] if other else rows

    def export(self, folder: Path | str, *, which: Which = "best") -> dict[str, Path]:
        """Write the weights (safetensors) and the recipe into a new or empty folder, which opens as a run."""
        folder = Path(folder)
        _check_empty(folder)
        weights = {k: v.contiguous() for k, v in self.model(which).cpu().state_dict().items()}
        folder.mkdir(parents=True, exist_ok=True)
        written = {"recipe": folder / "recipe.yaml", "weights": folder / WEIGHTS}
        files = {WEIGHTS: save(weights), "recipe.yaml": self.recipe.as_yaml().encode()}
        write_atomically(written["weights"], files[WEIGHTS])
        if (text := self.environment().get("text")) is not None:
            files["environment.json"] = sealed({"tenfold": __version__, "text": text})
            write_atomically(folder / "environment.json", files["environment.json"])
        write_atomically(folder / MANIFEST, manifest(files))
        write_atomically(written["recipe"], files["recipe.yaml"])
        written |= {path.name: path for path in keep_copies(self.recipe.include, folder)}
        return written

    def ask(self, question: str, *, which: Which = "best", how: GoingOn | None = None) -> Answer:
        """The model's answer to a question as a person writes it, such as "12+345"; `how` is how a text is continued."""
        return self.built.source.ask(self.answerer(which), question, how)

    def examples(self, length: int, count: int, *, which: Which = "best") -> list[Answer]:
        """Worked examples: random problems of a length with the model's answers."""
        return self.built.source.examples(self.answerer(which), length, count, self.recipe.seed)


def _check_empty(folder: Path) -> None:
    """Raise for a folder that has something in it, which an export would be mixed with."""
    if folder.exists() and not folder.is_dir():
        raise TenfoldError(f"{folder} is a file; name a new folder")
    if (folder / "recipe.yaml").exists():
        raise TenfoldError(f"{folder} holds a run already; name a new folder")
    runs = sum(1 for _ in folder.glob("*/recipe.yaml"))
    if runs:
        what = "a run" if runs == 1 else f"{runs} runs"
        raise TenfoldError(
            f"{folder} is a folder with {what} in it; name a new folder, such as {folder / 'exported'}"
        )
    first = min(folder.iterdir(), default=None) if folder.exists() else None
    if first is not None:
        raise TenfoldError(f"{folder} is not empty ({first.name} is in it); name a new folder")


def shipped(name: str) -> Run | None:
    """A proved model of the package by its name, if there is one."""
    return Run.open(SHELF / name) if name in shipped_names() else None


def is_shipped(run: Run) -> bool:
    """Whether a run is one of the package's own, whose folders are not written to."""
    return run.folder.resolve().is_relative_to(SHELF)


def open_run(name: str | Path, include: Sequence[str | Path] = ()) -> Run:
    """A run by its folder, by the beginning of its name in runs/, or a shipped model by its name.

    A run with own components needs `include`, the Python files that it was made with; another content is refused.
    """
    include_files(*include)
    run = _find_run(name)
    if include:
        require(run.recipe.include, run.folder)
    return run


def _find_run(name: str | Path) -> Run:
    if Path(name).is_dir() or "/" in str(name):
        return Run.open(name)
    matches = sorted(
        path.parent for path in Path("runs").glob(f"{glob.escape(str(name))}*/recipe.yaml")
    )
    if len(matches) == 1:
        return Run.open(matches[0])
    if matches:
        raise TenfoldError(
            f'"{name}" is the beginning of {len(matches)} runs; name one: {matches[0]}, ...'
        )
    run = shipped(str(name))
    if run is not None:
        return run
    known = [path.parent.name for path in Path("runs").glob("*/recipe.yaml")]
    raise unknown("run", str(name), [*known, *shipped_names()])


def places_of(names: Sequence[str]) -> list[Path]:
    """Folders by path, or by the names of runs; without any, `runs`."""
    if not names and not Path("runs").is_dir():
        raise TenfoldError(
            "there are no runs yet, since there is no folder runs; train one, or name a folder"
        )
    folders = [path if (path := Path(name)).exists() else open_run(name).folder for name in names]
    return folders or [Path("runs")]
