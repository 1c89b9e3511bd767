"""Where batches come from, and what measures a model on more of the same: problems of a task, or text of a corpus.

A recipe's `task` and `format` name the one or the other; training and runs know only this.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.batch import LAYOUTS, Batch, Batcher
from tenfold.data.tasks.samplers import exact
from tenfold.data.tasks.task import Examples, Ints
from tenfold.data.tasks.wrappers.label_noise import Noise
from tenfold.evals.exact_match import (
    SLICES,
    Answerer,
    Examiner,
    Log,
    RowMemory,
    grade,
)
from tenfold.evals.statistics import Measurement
from tenfold.models import Model
from tenfold.models.decoding import WRITTEN, Swift
from tenfold.runs.answer import Answer, GoingOn
from tenfold.runs.recipe import Recipe
from tenfold.training.metrics_file import Metrics


class Source(ABC):
    layouts: ClassVar[frozenset[str]]  # of the models that can take its batches
    running_text: ClassVar[bool] = False  # text that goes on, without questions and answers

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
        """One row of this length; only its places matter."""

    def expect(self, text: object, folder: Path) -> None:
        """Raise where a stored run may not read what its recipe names; `text` is the digest that the run states.

        Called before anything is read for a run that was opened from its folder, which somebody else may have made.
        """
        return

    def check_length(self, length: int) -> None:
        """Raise one clear error where training cannot draw this length."""
        return

    @abstractmethod
    def check_slices(self, names: Sequence[str]) -> None:
        """Raise one clear error where a slice is not known."""

    @abstractmethod
    def answerer(self, model: Model) -> Any:
        """What `measure` and `ask` take: the model with its fastest way to answer."""

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
        progress: Callable[[int, int], None] | None = None,
        log: Log | None = None,
        force: bool = False,
    ) -> list[Measurement]:
        """Measurements at every length; `validation`: on problems that nothing else uses.

        A length at which one problem takes too much memory is refused beforehand, unless `force` is given.
        """

    @abstractmethod
    def row_memory(self, length: int, answerer: Any = None) -> float:
        """Bytes that one problem of this length takes when it is measured."""

    @abstractmethod
    def score(self, rows: Sequence[Measurement]) -> tuple[float, Metrics]:
        """One number for a checkpoint, the higher the better, and the details to report."""

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


@dataclass(frozen=True)
class Problems(Source):
    """A task's problems as a recipe draws and writes them."""

    recipe: Recipe
    batcher: Batcher
    draw: Callable[..., Any]
    noise: Noise | None = None  # in the answers that training sees
    layouts: ClassVar[frozenset[str]] = frozenset(LAYOUTS)

    @property
    def vocabulary(self) -> int:
        return len(self.batcher.vocabulary)

    @property
    def end(self) -> int:
        return self.batcher.vocabulary.end

    def problems(self) -> Problems:
        return self

    def batch(
        self, n: int, length: int, rng: np.random.Generator, generator: torch.Generator | None
    ) -> Batch:
        examples = self.batcher.task.sample(n, length, rng, self.draw)
        if self.noise is not None:
            examples = self.noise(examples, rng)
        return self.batcher(examples, generator)

    def one(self, length: int) -> Batch:
        return self.batcher(self.batcher.task.sample(1, length, np.random.default_rng(0), exact))

    def check_length(self, length: int) -> None:
        self.batcher.task.sample(1, length, np.random.default_rng(0), self.draw)

    def check_slices(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in SLICES:
                raise unknown("slice", name, SLICES)
        task, lengths = self.batcher.task, self.recipe.eval.lengths
        drawn = (SLICES[name](n, task, self.batcher.format) for n in lengths for name in names)
        if names and not any(drawn):
            raise TenfoldError(
                f'eval.slices {", ".join(names)}: task "{self.recipe.task.name}" has no such problems at the lengths '
                f'{", ".join(map(str, lengths))}; "uniform" always has some'
            )

    def examiner(self, seed: int = 0) -> Examiner:
        size = self.recipe.model
        if seed < 0:
            raise TenfoldError(f"a seed of {seed}; at least 0")
        memory = RowMemory(size.heads, size.width)
        return Examiner(self.batcher, seed, memory, self.recipe.train.device)

    def answerer(self, model: Model) -> Answerer:
        """The model in the fastest of its ways; one whose answer is read at once has no other."""
        return Swift(model, self.batcher) if model.layout in WRITTEN else model

    def measure(
        self,
        answerer: Answerer,
        lengths: Sequence[int],
        slices: Sequence[str],
        n: int,
        *,
        seed: int = 0,
        validation: bool = False,
        progress: Callable[[int, int], None] | None = None,
        log: Log | None = None,
        force: bool = False,
    ) -> list[Measurement]:
        examiner = self.examiner(VALIDATION if validation else seed)
        most = math.inf if force else examiner.memory.most
        memory = replace(examiner.memory, most=most, hint=" (--force goes on)")
        examiner = replace(examiner, memory=memory)
        return examiner.rows(answerer, lengths, slices, n, progress, log)

    def row_memory(self, length: int, answerer: Any = None) -> float:
        examiner = self.examiner()
        tokens = examiner.tokens_at(length, answerer)
        return examiner.measured_memory(tokens, length, answerer).row(tokens, answerer)

    def score(self, rows: Sequence[Measurement]) -> tuple[float, Metrics]:
        right = {row.length: row.value for row in rows if row.metric == "exact"}
        return sum(right.values()) / len(right), {"exact": right}

    def ask(self, answerer: Answerer, question: str, how: GoingOn | None) -> Answer:
        if how is not None:
            raise TenfoldError(
                "an answer has its own length and is the likeliest; only text is continued by --tokens, --temperature "
                "and --seed"
            )
        examples = self.batcher.parse(question)
        ((answer, target),) = self.examiner().answers(answerer, examples)
        whole, _, _ = grade(answer, target)
        return replace(self.read(examples, answer[0].cpu().numpy()), whole=bool(whole[0]))

    def read(self, examples: Examples, tokens: Ints) -> Answer:
        """Answer tokens of one problem, as a person reads them."""
        batcher = self.batcher
        text = batcher.format.read(tokens, batcher.vocabulary, examples)
        return Answer(batcher.question(examples, 0), text, batcher.task.truth(examples, 0))

    def examples(self, answerer: Answerer, length: int, count: int, seed: int) -> list[Answer]:
        drawn = self.batcher.task.sample(count, length, np.random.default_rng((seed, length, 10)))
        questions = [self.batcher.question(drawn, row) for row in range(count)]
        return [self.ask(answerer, question, None) for question in questions]


VALIDATION = 2**32  # the seed of the problems that choose the best checkpoint: nobody else's
