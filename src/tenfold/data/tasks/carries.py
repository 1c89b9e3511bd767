"""Carry chains of sums of two numbers: their lengths, and sampling by length (the `symmetry` paper's complexity).

A **cascade** starts at a column that sums to the base or more and continues over columns that sum to base - 1.
**Consecutive carries** are columns in a row that carry, for any reason. Only a cascade makes a column depend on columns
far below it:

95+17: the units sum to 12 and start a cascade. The tens sum to 10 and start another. Two carries in a row, longest
cascade 1.
97+5: the units sum to 12, the tens to 9, so the carry propagates. Two carries in a row, longest cascade 2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import Digits, Ints

DECIDES_NOT, RUNS_ON, STARTS = 0, 1, 2  # a column sums below base - 1, to base - 1, to base or more
KINDS = (DECIDES_NOT, RUNS_ON, STARTS)
SHORT = 64  # the most columns of a cached chain

Follow = Callable[[int, int], int | None]  # (class of a column, run before) -> run, or None


def classes(operands: Digits, base: int) -> np.ndarray:
    """The class of each column of two operands: (N, 2, W) -> (N, W)."""
    sums = operands.sum(1, dtype=np.int32)
    return np.where(sums >= base, STARTS, np.where(sums == base - 1, RUNS_ON, DECIDES_NOT))


def longest_cascade(operands: Digits, base: int = 10) -> Ints:
    """The longest cascade of each sum: (N, 2, W) -> (N,).

    >>> longest_cascade(
    ...     np.array([[[7, 9], [5, 0]], [[5, 9], [7, 1]], [[1, 2], [3, 4]]], dtype=np.uint8)
    ... )
    array([2, 1, 0])
    """
    carried, last = _carried(operands, base)
    return np.where(carried, np.arange(last.shape[-1]) - last + 1, 0).max(-1).astype(np.int64)


def consecutive_carries(operands: Digits, base: int = 10) -> Ints:
    """The most consecutive carries of each sum: (N, 2, W) -> (N,). The example is 97+5, 95+17 and 12+34.

    >>> consecutive_carries(
    ...     np.array([[[7, 9], [5, 0]], [[5, 9], [7, 1]], [[2, 1], [4, 3]]], dtype=np.uint8)
    ... )
    array([2, 2, 0])
    """
    carried, _ = _carried(operands, base)
    here = np.arange(carried.shape[-1])
    free = np.maximum.accumulate(np.where(carried, -1, here), axis=-1)  # last column without carry
    return (here - free).max(-1).astype(np.int64)


def _carried(operands: Digits, base: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether each column carries, and the column at or below it that determines this (-1: none): both (N, W)."""
    kind = classes(operands, base)
    last = np.maximum.accumulate(np.where(kind != RUNS_ON, np.arange(kind.shape[-1]), -1), axis=-1)
    started = np.take_along_axis(kind, np.maximum(last, 0), -1) == STARTS
    return started & (last >= 0), last


def cascading(kind: int, run: int) -> int | None:
    """The length of a cascade after a column of this class. A column of the base or more starts a new one."""
    return {DECIDES_NOT: 0, RUNS_ON: run + (run > 0), STARTS: 1}[kind]


def alone(kind: int, run: int) -> int | None:
    """The number of carries in a row if no carry may propagate: each column carries on its own."""
    return {DECIDES_NOT: 0, RUNS_ON: None if run else 0, STARTS: run + 1}[kind]


def draw_cascade(
    rng: np.random.Generator, n: int, length: int, base: int, cascade: int, *, leading: bool = True
) -> Digits:
    """Pairs of `length`-digit numbers, uniform among those with longest cascade exactly `cascade`.

    `leading` means that no number starts with 0 (except 0 itself).
    """
    chain = _chain(cascading, length, base, cascade, leading)
    if chain is None:
        raise TenfoldError(f"no sum of {length} digits in base {base} has a cascade of {cascade}")
    return chain.draw(rng, n)


def draw_carries(rng: np.random.Generator, n: int, length: int, base: int, carries: int) -> Digits:
    """Pairs of `length`-digit numbers, uniform among those with this many carries in a row and no cascade above 1."""
    chain = _chain(alone, length, base, carries, True)
    if chain is None:
        raise TenfoldError(
            f"no sum of {length} digits in base {base} has {carries} carries in a row that do not cascade"
        )
    return chain.draw(rng, n)


class Chain:
    """Sums whose longest run is `wanted`, drawn column by column from the units on.

    The state is (run so far, whether `wanted` was reached). Weights are logarithms of the number of completions, so each
    row is drawn exactly, without rejection.
    """

    def __init__(
        self, follow: Follow, pairs: list[list[np.ndarray]], wanted: int, length: int
    ) -> None:
        self.pairs, self.length = pairs, length
        self.start = 1 if wanted == 0 else 0
        states = 2 * (wanted + 1)
        self.after = np.full((3, states), -1)
        for run in range(wanted + 1):
            for kind in KINDS:
                then = follow(kind, run)
                if then is not None and then <= wanted:
                    for reached in (0, 1):
                        now = 1 if reached or then == wanted else 0
                        self.after[kind, 2 * run + reached] = 2 * then + now
        # logarithms, because the share of sums with a long cascade is about 10^-length
        weights = np.full((length + 1, states), -np.inf)
        weights[length, 1::2] = 0.0
        self.ahead = np.empty((length, 3, states))  # log of the number of completions by class
        with np.errstate(divide="ignore"):  # log 0 where a class has no pair
            choices = [np.log([len(p) for p in kinds])[:, None] for kinds in pairs]
        for column in reversed(range(length)):
            on = np.where(self.after >= 0, weights[column + 1, self.after], -np.inf)
            self.ahead[column] = choices[column] + on
            weights[column] = np.logaddexp.reduce(self.ahead[column])
        self.possible = bool(weights[0, self.start] > -np.inf)

    def draw(self, rng: np.random.Generator, n: int) -> Digits:
        state = np.full(n, self.start)
        digits = np.zeros((n, 2, self.length), dtype=np.uint8)
        for column in range(self.length):
            to = self.after[:, state]  # (3, N)
            ways = self.ahead[column][:, state]
            share = np.exp(ways - ways.max(0)).cumsum(0)
            share /= share[-1]
            kind = (rng.random(n) >= share).sum(0)
            for k in KINDS:
                rows = np.flatnonzero(kind == k)
                if len(rows):
                    of_kind = self.pairs[column][k]
                    digits[rows, :, column] = of_kind[rng.integers(0, len(of_kind), len(rows))]
            state = to[kind, np.arange(n)]
        return digits


def _chain(follow: Follow, length: int, base: int, wanted: int, leading: bool) -> Chain | None:
    """The chain, or None if there is no such sum. Short chains are cached, because every training batch needs them."""
    make = _kept if length <= SHORT else _made
    return make(follow, length, base, wanted, leading)


def _made(follow: Follow, length: int, base: int, wanted: int, leading: bool) -> Chain | None:
    highest = _pairs(base, least=1 if leading and length > 1 else 0)
    pairs = [_pairs(base, least=0)] * (length - 1) + [highest]
    chain = Chain(follow, pairs, wanted, length)
    return chain if chain.possible else None


_kept = functools.lru_cache(256)(_made)


def _pairs(base: int, least: int) -> list[np.ndarray]:
    """The pairs of digits of each class, with digits from `least` on."""
    grid = np.stack(np.meshgrid(np.arange(least, base), np.arange(least, base)), -1).reshape(-1, 2)
    kind = classes(grid[:, :, None].astype(np.uint8), base)[:, 0]
    return [grid[kind == k].astype(np.uint8) for k in KINDS]
