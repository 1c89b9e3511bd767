"""The columns that each digit of a sum depends on, as a list of relative positions (the `symmetry` paper's Appendix E).

A column d columns below the answer's column matters only if every column between sums to base - 1, so that a carry
propagates. Among uniform sums this happens once in 10^(d - 1). So each pair of columns gets its own problems:

- The columns strictly between the input digit and the answer digit sum to base - 1. All others are uniform.
- One digit of the input column, of either operand, is replaced by each other digit.
- Only changes that change the true answer digit count. If none can (the input is above the answer digit), all count.

An input digit **matters** to an answer digit if at least half of the counted changes change the model's answer digit.
The list of an answer digit contains an entry for each digit that matters: its operand and how many columns back it is.

Shapes: N problems, M operands, W their columns, C columns of an answer, all from the units on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import Digits, Ints, check_length
from tenfold.evals.exact_match import Answerer, Examiner
from tenfold.evals.interventions import Bools, Floats, blocks, changes, moved

HALF = 0.5
Entry = tuple[int, int]  # operand, columns back


@dataclass(frozen=True)
class Lists:
    """The share of counted changes that change an answer digit, (M, W, C), and the number of counted changes."""

    shares: Floats
    counts: Ints
    threshold: float = HALF

    @property
    def matters(self) -> Bools:
        return self.shares >= self.threshold

    def of(self, column: int) -> frozenset[Entry]:
        """The list of an answer digit."""
        operand, below = np.nonzero(self.matters[:, :, column])
        return frozenset(
            (m, column - c) for m, c in zip(operand.tolist(), below.tolist(), strict=True)
        )

    @property
    def commonest(self) -> frozenset[Entry]:
        """The list that most answer digits have; in a tie, the longer list.

        No answer digit has all relative columns. So the majority vote of the digits that have a column is tried too.
        """
        lists = [self.of(column) for column in range(self.shares.shape[2])]
        votes = Counter(entry for each in lists for entry in each)
        having = Counter(entry for column in range(len(lists)) for entry in self._there(column))
        voted = frozenset(entry for entry, count in votes.items() if 2 * count > having[entry])
        return max([*lists, voted], key=lambda each: (self.agreeing(each), len(each)))

    def agreeing(self, wanted: frozenset[Entry]) -> int:
        """The number of answer digits with this list. Near the ends, only existing columns are compared."""
        columns = range(self.shares.shape[2])
        return sum(wanted & self._there(column) == self.of(column) for column in columns)

    def _there(self, column: int) -> frozenset[Entry]:
        """All entries that the list of an answer digit could contain."""
        operands, width, _ = self.shares.shape
        return frozenset((m, column - c) for m in range(operands) for c in range(width))

    @property
    def same_list(self) -> float:
        """The share of answer digits that have the most common list."""
        return self.agreeing(self.commonest) / int(self.shares.shape[2])

    @property
    def reach(self) -> int:
        """The largest number of columns back in the most common list."""
        return max((back for _, back in self.commonest), default=0)


def between(
    rng: np.random.Generator, n: int, length: int, base: int, low: int, high: int
) -> Digits:
    """Pairs of uniform `length`-digit numbers whose columns strictly between `low` and `high` sum to base - 1: (N, 2, W).

    >>> between(np.random.default_rng(0), 1, 6, 10, 1, 5).sum(1)[0, 2:5].tolist()
    [9, 9, 9]
    """
    digits = rng.integers(0, base, (n, 2, length), dtype=np.uint8)
    if length > 1:
        digits[..., -1] = rng.integers(1, base, (n, 2))
    if high > low + 1:
        digits[:, 1, low + 1 : high] = base - 1 - digits[:, 0, low + 1 : high]
        if high == length > 1:  # the highest column too: 1..base - 2, so that neither begins with 0
            first = rng.integers(1, base - 1, n)
            digits[:, 0, -1], digits[:, 1, -1] = first, base - 1 - first
    return digits


def relative_lists(
    examiner: Examiner,
    model: Answerer,
    length: int,
    n: int = 30,
    threshold: float = HALF,
    progress: Callable[[int, int], None] | None = None,
) -> Lists:
    """Measure which digits matter to each digit of sums of `length` digits, with `n` problems per pair of columns.

    `progress(done, all)` is called with the number of pairs.
    """
    task = examiner.batcher.task
    if task.terms != 2 or task.drawn != 2 or task.base < 3:
        raise TenfoldError(
            f'lists of columns are for sums of two numbers in base 3 or more, not for "{task.name}" in base {task.base}'
        )
    rng = np.random.default_rng((examiner.seed, length, 12))
    pairs = [(low, high) for high in range(length + 1) for low in range(length)]
    check_length(length, n)
    sizes = np.full((n, 2), length, dtype=np.int64)
    parts = []  # of each change: its operand and column, the answer's column, whether model and truth moved there
    for done, (low, high) in enumerate(pairs):
        drawn = between(rng, n, length, task.base, low, high)
        for problems in blocks(task.solve(drawn, sizes), task.base):
            selected = np.broadcast_to(np.arange(length) == low, problems.operands.shape)
            changed = changes(task, problems, selected)
            both = (
                each[:, high] if high < each.shape[1] else np.zeros(len(each), dtype=bool)
                for each in moved(examiner, model, problems, changed)
            )
            answer = np.full(len(changed.source), high)
            parts.append((changed.operand, changed.column, answer, *both))
        if progress is not None:
            progress(done + 1, len(pairs))
    *where, model_moved, truth_moved = (np.concatenate(each) for each in zip(*parts, strict=True))
    at = tuple(where)
    shape = (2, length, length + 1)
    can, counts, hits = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    np.add.at(can, at, truth_moved)
    counted = truth_moved | (can[at] == 0)
    np.add.at(counts, at, counted)
    np.add.at(hits, at, counted & model_moved)
    return Lists(hits / np.maximum(counts, 1), counts, threshold)
