"""Problems of a task as a source of batches: drawn, written, laid out; answers are graded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch

from tenfold.batch import LAYOUTS, Batch, Batcher
from tenfold.certify import Swift
from tenfold.errors import TenfoldError, unknown
from tenfold.evals.exact import Answerer, Examiner, Log, Row, grade
from tenfold.evals.slices import SLICES
from tenfold.lab.answer import Answer, GoingOn
from tenfold.lab.recipe import Recipe
from tenfold.lab.source import Source
from tenfold.models import Model
from tenfold.tasks.base import Examples, Ints
from tenfold.tasks.noise import Noise
from tenfold.tasks.samplers import exact
from tenfold.training.loop import Metrics


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

    def examiner(self, seed: int = 0) -> Examiner:
        size = self.recipe.model
        if seed < 0:
            raise TenfoldError(f"a seed of {seed}; at least 0")
        return Examiner(self.batcher, seed, size.heads, size.width, self.recipe.train.device)

    def answerer(self, model: Model) -> Swift:
        return Swift(model, self.batcher)

    def measure(
        self,
        answerer: Answerer,
        lengths: Sequence[int],
        slices: Sequence[str],
        n: int,
        *,
        seed: int = 0,
        validation: bool = False,
        tell: Callable[[int, int], None] | None = None,
        log: Log | None = None,
    ) -> list[Row]:
        return self.examiner(VALIDATION if validation else seed).rows(
            answerer, lengths, slices, n, tell, log
        )

    def score(self, rows: Sequence[Row]) -> tuple[float, Metrics]:
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
        asked = [self.batcher.question(drawn, row) for row in range(count)]
        return [self.ask(answerer, question, None) for question in asked]


VALIDATION = 2**32  # the seed of the problems that choose the best checkpoint: nobody else's
