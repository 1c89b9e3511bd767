"""Exact match by length and slice, of anything that answers a batch.

Shapes: N problems, B rows of a batch, T tokens of a sequence, A answer tokens.

Slices stand at the end. A slice names the samplers to draw from at a length, none where it does not apply:
`cascades` of sums of 5 digits is `cascade-1`, `cascade-2`, `cascade-4` and `cascade-all`.
The task decides which problems are hard (`Task.hard`). `carries`, `hard`, `levels`, `multipliers`, `parts`, `pads`,
`shifted`, `sentences` and `pairs` are drawn only where a recipe names them.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.stored_files import LARGEST_DATA
from tenfold.data.batch import IGNORED, Batch, Batcher
from tenfold.data.formats.numeric import Format
from tenfold.data.tasks import samplers
from tenfold.data.tasks.task import Examples, Ints, Sampler, Task, check_length
from tenfold.evals.statistics import Measurement, wilson
from tenfold.models import Model

MEMORY = 2**29  # bytes that one batch of an evaluation may take
MOST = min(8 * MEMORY, LARGEST_DATA)  # that one problem may take, which then fills a batch
TOKEN = 512  # bytes of a token whose neighbours are gathered
SPREAD = 6  # times as much as attention usually takes, some encodings take at the most
SHORT = 100  # digits of a problem on which that is measured
WORDY = 64  # tokens for each digit of a problem: more than formats write
SAMPLE = 8  # problems of a length and slice whose answers whole sequences must confirm
# Called with a graded batch: length, slice, its problems, the answers (B, A), and whether each is right (B,).
Log = Callable[[int, str, Examples, Ints, NDArray[np.bool_]], None]


class Answerer(Protocol):
    def answer(self, batch: Batch) -> Tensor: ...


@runtime_checkable
class Sampled(Protocol):
    """Answers from less than the whole sequence, which a sample can confirm; `model` reads the whole."""

    model: Answerer

    def answer(self, batch: Batch) -> Tensor: ...

    def confirmed(self, batch: Batch) -> int | None: ...


@dataclass(frozen=True)
class RowMemory:
    """Bytes that a row of tokens takes when a model of this size answers it.

    Attention compares all pairs of tokens. Without it, or with neighbours alone, memory is linear in the length.
    """

    heads: int = 8
    width: int = 128
    most: float = MOST  # for one row
    hint: str = ""  # what can be done about a row that takes more
    factor: float = 1.0  # that attention with this encoding takes of what it usually takes

    def row(self, tokens: int, model: object = None) -> float:
        """As this model answers it; None: it attends."""
        if getattr(model, "linear", False):
            return TOKEN * tokens
        pairs = 12 * self.heads * tokens**2 if getattr(model, "attends", True) else 0
        return self.factor * (pairs + 64 * self.width * tokens)

    def check(self, tokens: int, model: object = None, length: int | None = None) -> None:
        """Raise for a row that takes too much, with the tokens, or the length, that would fit."""
        need, fits = self.row(tokens, model), 1
        if need <= self.most:
            return
        while self.row(2 * fits, model) <= self.most:
            fits *= 2
        what, most = f"an input of {tokens:,} tokens", f"{fits:,} tokens"
        if length is not None:
            what, most = (f"a length of {n:,}" for n in (length, length * fits // tokens))
        raise TenfoldError(
            f"{what} needs about {need / 2**30:,.1f} GiB of memory, and one problem may take {self.most / 2**30:.1f} of the "
            f"{2 * LARGEST_DATA / 2**30:.1f} GiB of this machine; this model can answer {most}{self.hint}"
        )


@dataclass(frozen=True)
class Examiner:
    """Grades a model on problems of a task. The problems depend on the seed, the length and the slice only."""

    batcher: Batcher
    seed: int = 0
    memory: RowMemory = RowMemory()
    device: str = "cpu"

    def rows(
        self,
        model: Answerer,
        lengths: Sequence[int],
        slices: Sequence[str] = ("uniform",),
        n: int = 1000,
        progress: Callable[[int, int], None] | None = None,
        log: Log | None = None,
    ) -> list[Measurement]:
        """Exact match and per-digit accuracy at every length, on every slice that applies there.

        `progress(done, all)` is called after every length and slice, `log` after every graded batch.
        """
        if n < 1:
            raise TenfoldError(f"{n} problems; at least 1 is needed")
        self.check_memory(lengths, model)
        of = len(self.samplers(lengths, slices))
        rows: list[Measurement] = []
        for done, (length, label, examples) in enumerate(self.questions(lengths, slices, n)):
            rows += self.grade(model, examples, length, label, log)
            if progress is not None:
                progress(done + 1, of)
        return rows

    def check_memory(self, lengths: Sequence[int], model: object = None) -> None:
        """Raise for a length whose problems take more memory than one may, before any is drawn."""
        if SPREAD * self.memory.row(WORDY * (length := max(lengths, default=1))) > self.memory.most:
            tokens = self.tokens_at(length, model)
            self.measured_memory(tokens, length, model).check(tokens, model, length)

    def tokens_at(self, length: int, model: object) -> int:
        """Of a problem of this length; it is made only if a token a digit fits."""
        if self.memory.row(length, model) > self.memory.most:
            return self._one(SHORT).row_tokens * length // SHORT
        return self._one(length).row_tokens

    def _one(self, length: int) -> Batch:
        drawn = self.batcher.task.sample(1, length, np.random.default_rng(0), samplers.exact)
        return self.batcher(drawn)

    def measured_memory(self, tokens: int, length: int, model: object) -> RowMemory:
        """The memory of rows; near the most, a short problem tells what the encoding takes."""
        memory, reads = self.memory, getattr(model, "model", model)
        near = SPREAD * memory.row(tokens, model) > memory.most
        if not (near and isinstance(reads, Model)) or getattr(model, "linear", False):
            return memory
        from tenfold.evals.peak_memory import peak_bytes

        short = self._one(min(length, SHORT)).to(self.device)
        usual = memory.row(short.row_tokens, model)
        return replace(memory, factor=peak_bytes(reads, short) / usual)

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
        """Exact match and per-digit accuracy on these problems.

        An answerer that reads only the tokens in sight of each digit is held against whole sequences on a sample. If an
        answer is another one there, all problems are decoded over whole sequences.
        """
        exact = right = written = graded = 0
        vocabulary = self.batcher.vocabulary
        whole_rows: int | None = None
        if getattr(model, "linear", False) and isinstance(model, Sampled):
            whole_rows = self._confirmed(model, examples)
            if whole_rows is None:
                model, whole_rows = model.model, len(examples)
        for answer, target in self.answers(model, examples):
            whole, tokens, _ = grade(answer, target)
            digits = (target != IGNORED) & (target != vocabulary.pad) & (target != vocabulary.end)
            exact += int(whole.sum())
            right += int((tokens & digits).sum())
            written += int(digits.sum())
            if log is not None:
                batch = examples.rows(slice(graded, graded + len(whole)))
                log(length, label, batch, answer.cpu().numpy(), whole.cpu().numpy())
            graded += len(whole)
        n = len(examples)
        return [
            Measurement(length, label, "exact", exact / n, n, *wilson(exact, n), whole=whole_rows),
            Measurement(length, label, "digit", right / written, n, whole=whole_rows),
        ]

    def _confirmed(self, model: Sampled, examples: Examples) -> int | None:
        """How many of the first problems are answered alike over whole sequences; None: one is not."""
        blank = self.batcher.task.vocabulary.pad
        sample = self.batcher(examples.rows(slice(0, SAMPLE))).to(self.device)
        return model.confirmed(sample.without_answer(blank))

    def answers(self, model: Answerer, examples: Examples) -> Iterator[tuple[Tensor, Tensor]]:
        """The model's answer and the target of each batch, (B, A) each."""
        for batch in self.batches(examples, model):
            yield model.answer(batch.without_answer(self.batcher.task.vocabulary.pad)), batch.target

    def batches(self, examples: Examples, model: object = None) -> Iterable[Batch]:
        """Batches of as many rows as the memory allows, as this model answers them."""
        self.memory.check(int(examples.lengths.sum(1).max()), model)  # before tokens are laid out
        widest = [int(examples.lengths.sum(1).argmax()), int(examples.longest.argmax())]
        tokens = self.batcher(examples.rows(widest)).row_tokens
        self.measured_memory(tokens, int(examples.longest.max()), model).check(tokens, model)
        size = max(1, min(int(MEMORY // self.memory.row(tokens, model)), 1024))
        for start in range(0, len(examples), size):
            yield self.batcher(examples.rows(slice(start, start + size))).to(self.device)


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


Slice = Callable[[int, Task, Format], dict[str, Sampler]]


def uniform(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Uniform over the problems whose longest operand has exactly this length."""
    return {"uniform": samplers.longest}


def full(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Every operand of this length, where the format then has no padding left."""
    return {"full": samplers.exact} if written.longest() in (None, length) else {}


def unequal(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """One operand of this length, the others shorter."""
    return {"unequal": samplers.unequal} if length > 1 and task.drawn > 1 else {}


def cascades(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """What runs on over 1, 2, 4, ... columns, and over all: a carry, a borrow, a verdict over equal digits."""
    return task.hard(length).get("cascades", {})


def pads(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Every operand of this length, where the format has 3 to 0 places left: `pads-1` is one short of full."""
    limit = written.longest()
    left = -1 if limit is None else limit - length
    return {f"pads-{left}": samplers.exact} if 0 <= left <= 3 else {}


def carries(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Sums of two numbers with 1, 2, 4, ... carries in a row that do not run on: no cascade, whatever their number."""
    return task.hard(length).get("carries", {})


def nines(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Carries from nines: 99...9 plus a number of any length up to this one, or one number that ends in nines."""
    return task.hard(length).get("nines", {})


def levels(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """By the levels of the parallel algorithm, those that are not rare: `levels-0` to `levels-4` of products of 5 digits."""
    return task.by_levels(length)


def multipliers(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Products by how many digits the multiplier has: `multiplier-1`, `multiplier-2`, ..."""
    return task.hard(length).get("multipliers", {})


def hard(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """What a sequence task itself states as hard: close majorities, deep brackets."""
    return task.hard(length).get("hard", {})


def parts(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """The uniform problems of each part, of a task that has several: `sum`, `product`."""
    return task.hard(length).get("parts", {})


def shifted(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Problems of half as many digits, the rest zeros at the end of every operand: `12300+45600` at 5.

    At twice the training length these are the longest problems of training, moved up.
    """
    return {"shifted": halves} if length > 2 else {}  # one digit alone may be 0, which stays 0


def halves(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> samplers.Drawn:
    """At least one operand has exactly `length` digits; the lower half of every one is zeros."""
    digits, lengths = samplers.longest(rng, n, (length + 1) // 2, terms, base)
    by = np.full(n, length // 2, dtype=np.int64)
    return samplers.shifted(digits, lengths, by, length)


def sentences(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Every way that the format has to ask a problem, by itself: `sentence-1`, ..., and, not in training, `unseen-1`, ..."""
    return dict.fromkeys(written.phrasings(task), samplers.longest)


def pairs(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Each pair of lengths whose longer one is this, the other 1, 2, 4, ... digits or as long: `5x2`, `2x5`, `5x5`."""
    if task.drawn != 2 or task.terms != 2:
        return {}
    shorter = [2**i for i in range((length - 1).bit_length())]
    wanted = [*((length, m) for m in shorter), *((m, length) for m in shorter), (length, length)]
    return {
        f"{a}x{b}": functools.partial(pair, digits=(a, b)) for a, b in wanted if _can(task, (a, b))
    }


def pair(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, digits: tuple[int, int]
) -> samplers.Drawn:
    """Two operands of exactly so many digits."""
    return samplers.of_lengths(rng, np.tile(np.array(digits, dtype=np.int64), (n, 1)), length, base)


def _can(task: Task, digits: tuple[int, int]) -> bool:
    """Whether the task asks what is drawn: one that puts the larger number first has no `2x5`."""
    drawn = functools.partial(pair, digits=digits)
    some = task.sample(32, max(digits), np.random.default_rng(0), drawn)
    return bool((some.lengths == digits).all())


def pair_of(label: str) -> tuple[int, int] | None:
    """The lengths that a label of `pairs` names.

    >>> pair_of("5x2"), pair_of("cascade-4")
    ((5, 2), None)
    """
    match = re.fullmatch(r"(\d+)x(\d+)", label)
    return (int(match[1]), int(match[2])) if match else None


SLICES: dict[str, Slice] = {
    slice.__name__: slice
    for slice in (
        uniform,
        parts,
        full,
        pads,
        unequal,
        cascades,
        carries,
        levels,
        multipliers,
        nines,
        hard,
        shifted,
        sentences,
        pairs,
    )
}
