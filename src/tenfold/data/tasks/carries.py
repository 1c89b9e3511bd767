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
from collections.abc import Callable, Iterable

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import Digits, Ints

DECIDES_NOT, RUNS_ON, STARTS = 0, 1, 2  # a column sums below base - 1, to base - 1, to base or more
KINDS = (DECIDES_NOT, RUNS_ON, STARTS)
SHORT = 64  # the most columns of a chain that is a table, and cached

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
    row is drawn exactly, without rejection. This table has one for every column and state: memory grows with the square of
    the length. `LongChain` computes the same weights when they are needed.
    """

    def __init__(
        self, follow: Follow, pairs: list[list[np.ndarray]], wanted: int, length: int
    ) -> None:
        self.pairs, self.length = pairs, length
        self.start = 1 if wanted == 0 else 0
        self.after = _transitions(follow, wanted)  # (3, states)
        # logarithms, because the share of sums with a long cascade is about 10^-length
        weights = np.full((length + 1, self.after.shape[1]), -np.inf)
        weights[length, 1::2] = 0.0
        self.ahead = np.empty((length, *self.after.shape))  # log of the number of completions
        choices = [log_counts(kinds)[:, None] for kinds in pairs]
        for column in reversed(range(length)):
            on = np.where(self.after >= 0, weights[column + 1, self.after], -np.inf)
            self.ahead[column] = choices[column] + on
            weights[column] = np.logaddexp.reduce(self.ahead[column])
        self.possible = bool(weights[0, self.start] > -np.inf)

    def ways(self, column: int, state: Ints) -> np.ndarray:
        """The logarithm of the number of completions by the class of this column, for each of these states: (3, N)."""
        return self.ahead[column][:, state]

    def draw(self, rng: np.random.Generator, n: int) -> Digits:
        state = np.full(n, self.start)
        digits = np.zeros((n, 2, self.length), dtype=np.uint8)
        for column in range(self.length):
            to = self.after[:, state]  # (3, N)
            ways = self.ways(column, state)
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


class LongChain(Chain):
    """The same sums with memory and time linear in the length.

    With m columns left, a run that may still grow D times ends after j of them: either another column stops it, or it
    reaches `wanted`, or no column is left. So its weight is a sum over j of the weights of runs of 0 and 1 alone. Prefix
    sums over m give it at once. `stopped[x][m]` sums them up to m, each divided by the choices of growing; x is 0 before
    `wanted` was reached and 1 after it.
    """

    def __init__(
        self, follow: Follow, pairs: list[list[np.ndarray]], wanted: int, length: int
    ) -> None:
        self.pairs, self.length, self.wanted = pairs, length, wanted
        self.start = 1 if wanted == 0 else 0
        self.after = _transitions(follow, wanted)
        self.usual, self.highest = log_counts(pairs[0]), log_counts(pairs[-1])
        grows = next(kind for kind in KINDS if follow(kind, 2) == 3)
        self.growth, self.last_growth = float(self.usual[grows]), float(self.highest[grows])
        self.none, self.one, self.stopped, self.stop = (
            np.full((2, length + 1), -np.inf) for _ in range(4)
        )
        self.none[1, 0] = 0.0
        self.one[:, 0] = self._run(0, np.full(2, 1), np.arange(2))
        stops = [(kind, then) for kind in KINDS if (then := follow(kind, 2)) in (0, 1)]
        begins = [(kind, then) for kind in KINDS if (then := follow(kind, 0)) is not None]
        for left in range(1, length + 1):
            choices = self.highest if left == 1 else self.usual
            for x in (0, 1):
                before = (self.none[x, left - 1], self.one[x, left - 1])
                self.stop[x, left] = _log_sum(choices[k] + before[then] for k, then in stops)
                more = self.stop[x, left] - left * self.growth
                self.stopped[x, left] = np.logaddexp(self.stopped[x, left - 1], more)
                self.none[x, left] = _log_sum(choices[k] + before[then] for k, then in begins)
            self.one[:, left] = self._run(left, np.full(2, 1), np.arange(2))
        self.possible = bool(self.none[self.start, length] > -np.inf)

    def ways(self, column: int, state: Ints) -> np.ndarray:
        left = self.length - column - 1
        to = self.after[:, state]
        run, reached = np.maximum(to, 0) // 2, np.maximum(to, 0) % 2
        on = np.where(run == 0, self.none[reached, left], self._run(left, run, reached))
        choices = self.usual if left else self.highest
        return choices[:, None] + np.where(to >= 0, on, -np.inf)

    def _run(self, left: int, run: Ints, reached: np.ndarray) -> np.ndarray:
        """The weight of runs of at least 1 with so many columns left."""
        room = self.wanted - run  # how often it may grow
        reached = np.where(room == 0, 1, reached)
        if left == 0:
            return np.where((reached == 1) & (room >= 0), 0.0, -np.inf)
        all_grow = (left - 1) * self.growth + self.last_growth
        # stopped after 0, 1, ... columns; before `wanted` is reached, after fewer than `room`
        first = np.clip(left - room + (reached == 0), 1, left + 1)
        ended = left * self.growth + _between(self.stopped, reached, first, left)
        rest = np.clip(left - room, 0, left)  # columns after it reached `wanted`
        arrived = np.where(rest > 0, room * self.growth + self.stop[1, rest], all_grow)
        beyond = np.where(
            reached == 1,
            np.where(room >= left, all_grow, -np.inf),
            np.where(room <= left, arrived, -np.inf),
        )
        return np.where(room >= 0, np.logaddexp(ended, beyond), -np.inf)


def _between(sums: np.ndarray, reached: np.ndarray, first: Ints, last: int) -> np.ndarray:
    """The logarithm of the sum of the terms from `first` to `last`, from their prefix sums."""
    whole, before = sums[reached, last], sums[reached, first - 1]
    with np.errstate(invalid="ignore", divide="ignore"):  # -inf: there are none
        part = whole + np.log1p(-np.exp(before - whole))
    return np.where((whole > -np.inf) & (first <= last), part, -np.inf)


def _log_sum(terms: Iterable[float]) -> float:
    return float(np.logaddexp.reduce(list(terms)))


def log_counts(kinds: list[np.ndarray]) -> np.ndarray:
    """The logarithms of how many pairs of digits each class has, -inf for none: (3,)."""
    with np.errstate(divide="ignore"):
        return np.log([len(pairs) for pairs in kinds])


def _transitions(follow: Follow, wanted: int) -> np.ndarray:
    """The state after a column of each class, by the state before it, -1 where there is none: (3, states)."""
    after = np.full((3, 2 * (wanted + 1)), -1)
    for run in range(wanted + 1):
        for kind in KINDS:
            then = follow(kind, run)
            if then is not None and then <= wanted:
                for reached in (0, 1):
                    now = 1 if reached or then == wanted else 0
                    after[kind, 2 * run + reached] = 2 * then + now
    return after


def _chain(follow: Follow, length: int, base: int, wanted: int, leading: bool) -> Chain | None:
    """The chain, or None if there is no such sum. Short chains are cached, because every training batch needs them."""
    make = _kept if length <= SHORT else _made
    return make(follow, length, base, wanted, leading)


def _made(follow: Follow, length: int, base: int, wanted: int, leading: bool) -> Chain | None:
    highest = _pairs(base, least=1 if leading and length > 1 else 0)
    pairs = [_pairs(base, least=0)] * (length - 1) + [highest]
    make = Chain if length <= SHORT else LongChain
    chain = make(follow, pairs, wanted, length)
    return chain if chain.possible else None


_kept = functools.lru_cache(256)(_made)


def _pairs(base: int, least: int) -> list[np.ndarray]:
    """The pairs of digits of each class, with digits from `least` on."""
    grid = np.stack(np.meshgrid(np.arange(least, base), np.arange(least, base)), -1).reshape(-1, 2)
    kind = classes(grid[:, :, None].astype(np.uint8), base)[:, 0]
    return [grid[kind == k].astype(np.uint8) for k in KINDS]
