"""Exact match by length and slice, of anything that answers a batch.

Shapes: N problems, B rows of a batch, T tokens of a sequence, A answer tokens.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.batch import IGNORED, Batch, Batcher
from tenfold.data.tasks.task import Examples, Ints, Sampler, check_length
from tenfold.evals.metrics import Measurement
from tenfold.evals.slices import SLICES
from tenfold.evals.statistics import wilson

MEMORY = 2**29  # bytes that one batch of an evaluation may take


# Hears of a graded batch: length, slice, its problems, the answers (B, A), and whether each is right (B,).
Log = Callable[[int, str, Examples, Ints, NDArray[np.bool_]], None]


class Answerer(Protocol):
    def answer(self, batch: Batch) -> Tensor: ...


@dataclass(frozen=True)
class Examiner:
    """Asks a model problems of a task: the same ones for the same seed, whatever else is asked."""

    batcher: Batcher
    seed: int = 0
    heads: int = 8  # of the model, for the memory that attention takes
    width: int = 128
    device: str = "cpu"

    def rows(
        self,
        model: Answerer,
        lengths: Sequence[int],
        slices: Sequence[str] = ("uniform",),
        n: int = 1000,
        tell: Callable[[int, int], None] | None = None,
        log: Log | None = None,
    ) -> list[Measurement]:
        """Exact match and per-digit accuracy at every length, on every slice that applies there.

        `tell(done, all)` hears of every length and slice that is done, `log` of every batch that was graded.
        """
        if n < 1:
            raise TenfoldError(f"{n} problems; at least 1 is needed")
        of = len(self.samplers(lengths, slices))
        found: list[Measurement] = []
        for done, (length, label, examples) in enumerate(self.questions(lengths, slices, n)):
            found += self.grade(model, examples, length, label, log)
            if tell is not None:
                tell(done + 1, of)
        return found

    def questions(
        self, lengths: Sequence[int], slices: Sequence[str], n: int
    ) -> Iterator[tuple[int, str, Examples]]:
        """The problems of every length and slice."""
        for length, label, sampler in self.samplers(lengths, slices):
            yield length, label, self.problems(length, label, sampler, n)

    def problems(self, length: int, label: str, sampler: Sampler, n: int) -> Examples:
        """What a sampler draws under this label: the same problems for the same seed."""
        rng = np.random.default_rng((self.seed, length, zlib.crc32(label.encode())))
        drawn = self.batcher.task.sample(n, length, rng, sampler)
        wording = self.batcher.format.phrasings(self.batcher.task).get(label)
        return replace(drawn, wording=wording)

    def samplers(
        self, lengths: Sequence[int], slices: Sequence[str]
    ) -> list[tuple[int, str, Sampler]]:
        """What to draw from, for every slice that applies at a length."""
        limit = self.batcher.format.longest()
        for length in lengths:
            check_length(length)
            if limit is not None and length > limit:
                raise TenfoldError(
                    f"a length of {length} digits does not fit the format "
                    f'"{self.batcher.format.name}", which holds {limit}'
                )
        for name in slices:
            if name not in SLICES:
                raise unknown("slice", name, SLICES)
        return [
            (length, label, sampler)
            for length in lengths
            for name in slices
            for label, sampler in SLICES[name](
                length, self.batcher.task, self.batcher.format
            ).items()
        ]

    def grade(
        self,
        model: Answerer,
        examples: Examples,
        length: int,
        label: str,
        log: Log | None = None,
    ) -> list[Measurement]:
        exact = right = written = asked = 0
        vocabulary = self.batcher.vocabulary
        for answer, target in self.answers(model, examples):
            whole, tokens, _ = grade(answer, target)
            digits = (target != IGNORED) & (target != vocabulary.pad) & (target != vocabulary.end)
            exact += int(whole.sum())
            right += int((tokens & digits).sum())
            written += int(digits.sum())
            if log is not None:
                batch = examples.rows(slice(asked, asked + len(whole)))
                log(length, label, batch, answer.cpu().numpy(), whole.cpu().numpy())
            asked += len(whole)
        n = len(examples)
        return [
            Measurement(length, label, "exact", exact / n, n, *wilson(exact, n)),
            Measurement(length, label, "digit", right / written, n),
        ]

    def answers(self, model: Answerer, examples: Examples) -> Iterator[tuple[Tensor, Tensor]]:
        """The model's answer and the target of each batch, (B, A) each."""
        blank = self.batcher.task.vocabulary.pad
        linear = bool(getattr(model, "linear", False))  # in the length, as gathered neighbours are
        for batch in self.batches(examples, linear):
            yield model.answer(batch.asked(blank)), batch.target

    def batches(self, examples: Examples, linear: bool = False) -> Iterable[Batch]:
        """Batches of as many rows as the memory allows, for attention over whole rows or over neighbours."""
        widest = [int(examples.lengths.sum(1).argmax()), int(examples.longest.argmax())]
        one = self.batcher(examples.rows(widest))
        tokens = one.sequence.tokens.shape[1]
        sources = 0 if one.source is None else one.source.tokens.shape[1]
        span = tokens + sources
        row = 512 * span if linear else 4 * (3 * self.heads * span**2 + 16 * self.width * span)
        if row > 8 * MEMORY:
            raise TenfoldError(
                f"an input of {span} tokens needs about {row / 2**30:.0f} GiB of memory; this model can be "
                f"asked up to about {8 * MEMORY // 512 if linear else self._affordable()} tokens"
            )
        size = max(1, min(MEMORY // row, 1024))
        for start in range(0, len(examples), size):
            yield self.batcher(examples.rows(slice(start, start + size))).to(self.device)

    def _affordable(self) -> int:
        return int((8 * MEMORY / (12 * self.heads)) ** 0.5)


def grade(answer: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Whether each row is right, each graded token is right, and is graded: (B,), (B, A), (B, A).

    >>> from torch import tensor
    >>> answer = tensor([[7, 5, 3], [7, 4, 3]])
    >>> whole, right, graded = grade(answer, tensor([[7, 5, IGNORED], [7, 5, 3]]))
    >>> whole.tolist(), int(right.sum()), int(graded.sum())
    ([True, False], 4, 5)
    """
    graded = target != IGNORED
    right = (answer == target) & graded
    return (right | ~graded).all(1), right, graded
