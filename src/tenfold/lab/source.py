"""Where batches come from, and what measures a model on more of the same: problems of a task, or text of a corpus.

A recipe's `task` and `format` name the one or the other; training and runs know only this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from tenfold.batch import Batch
from tenfold.errors import TenfoldError
from tenfold.evals.exact import Log, Row
from tenfold.lab.answer import Answer, GoingOn
from tenfold.models import Model
from tenfold.training.loop import Metrics

if TYPE_CHECKING:
    from tenfold.lab.problems import Problems


class Source(ABC):
    layouts: ClassVar[frozenset[str]]  # of the models that can take its batches

    @property
    @abstractmethod
    def vocabulary(self) -> int:
        """How many different tokens there are."""

    @property
    @abstractmethod
    def end(self) -> int:
        """The token that ends an answer, or a text."""

    @abstractmethod
    def batch(
        self, n: int, length: int, rng: np.random.Generator, generator: torch.Generator | None
    ) -> Batch:
        """A batch to train on; same generators, same batch."""

    def like_batch(
        self, n: int, length: int, rng: np.random.Generator, generator: torch.Generator | None
    ) -> Batch:
        """A batch of the same shape, for which nothing needs to be at hand."""
        return self.batch(n, length, rng, generator)

    @abstractmethod
    def one(self, length: int) -> Batch:
        """One row of this length, whatever it says: the places are what counts."""

    def check_length(self, length: int) -> None:
        """Raise one clear error where training cannot draw this length."""
        return

    @abstractmethod
    def check_slices(self, names: Sequence[str]) -> None:
        """Raise one clear error where a slice is not known."""

    @abstractmethod
    def answerer(self, model: Model) -> Any:
        """What `measure` and `ask` take: the model, in the fastest of its ways."""

    @abstractmethod
    def measure(
        self,
        answerer: Any,
        lengths: Sequence[int],
        slices: Sequence[str],
        n: int,
        *,
        seed: int = 0,
        validation: bool = False,
        tell: Callable[[int, int], None] | None = None,
        log: Log | None = None,
    ) -> list[Row]:
        """Measurements at every length; `validation`: on what nobody else is asked."""

    @abstractmethod
    def score(self, rows: Sequence[Row]) -> tuple[float, Metrics]:
        """One number for a checkpoint, the higher the better, and what is told of it."""

    @abstractmethod
    def ask(self, answerer: Any, question: str, how: GoingOn | None) -> Answer:
        """What the model makes of what a person wrote."""

    @abstractmethod
    def examples(self, answerer: Any, length: int, count: int, seed: int) -> list[Answer]:
        """Worked examples of a length, with the truth."""

    def prepare(self) -> dict[str, Any]:
        """Get at hand what training needs, with one clear error where that fails; what a run should remember of it."""
        return {}

    def problems(self) -> Problems:
        """The problems of a task, if it is these."""
        raise TenfoldError(
            "this is a language model: it continues text, and has no problems with a true answer; "
            "`tenfold eval` measures its perplexity"
        )
