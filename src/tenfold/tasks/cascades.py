"""Carry cascades (the `symmetry` paper's measure of a sum's difficulty): how long they are, and drawing them.

95+17: the units sum to 12 and start a cascade, the tens sum to 10 and start another: longest is 1.
97+5: 12, then 9: the carry runs on, longest is 2.
"""

from __future__ import annotations

import numpy as np

from tenfold.errors import TenfoldError
from tenfold.tasks.base import Digits, Ints

DECIDES_NOT, RUNS_ON, STARTS = 0, 1, 2  # a column sums below base - 1, to base - 1, to base or more


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
    kind = classes(operands, base)
    here = np.arange(kind.shape[-1])
    last = np.maximum.accumulate(np.where(kind != RUNS_ON, here, -1), axis=-1)
    started = np.take_along_axis(kind, np.maximum(last, 0), -1) == STARTS
    return np.where(started & (last >= 0), here - last + 1, 0).max(-1).astype(np.int64)


def draw_cascade(
    rng: np.random.Generator, n: int, length: int, base: int, cascade: int, *, leading: bool = True
) -> Digits:
    """Pairs of `length`-digit numbers, uniform among those with longest cascade exactly `cascade`.

    `leading` says that no number starts with 0 (but for 0 itself).

    A chain over columns: the state is (run so far, whether `cascade` was reached); weights are logs of the
    number of ways to finish, so each row is drawn exactly, without rejection.
    """
    highest = _pairs(base, least=1 if leading and length > 1 else 0)
    pairs = [_pairs(base, least=0)] * (length - 1) + [highest]
    states = 2 * (cascade + 1)
    state_after = np.full((3, states), -1)
    for run in range(cascade + 1):
        for reached in (0, 1):
            for kind, next_run in ((DECIDES_NOT, 0), (RUNS_ON, run + (run > 0)), (STARTS, 1)):
                if next_run <= cascade:
                    now = 1 if reached or next_run == cascade else 0
                    state_after[kind, 2 * run + reached] = 2 * next_run + now
    with np.errstate(divide="ignore"):  # no pair of a class: log 0
        choices = [np.log([len(p) for p in kinds])[:, None] for kinds in pairs]

    def ahead(column: int) -> np.ndarray:
        """Log of the ways to go on with each class of column, from each state: (3, states)."""
        return choices[column] + np.where(
            state_after >= 0, weights[column + 1, state_after], -np.inf
        )

    weights = np.full((length + 1, states), -np.inf)  # logs: a long cascade is one in 10^length
    weights[length, 1::2] = 0.0
    for column in reversed(range(length)):
        weights[column] = np.logaddexp.reduce(ahead(column))
    state = np.full(n, 1 if cascade == 0 else 0)
    if n and weights[0, state[0]] == -np.inf:
        raise TenfoldError(f"no sum of {length} digits in base {base} has a cascade of {cascade}")
    digits = np.zeros((n, 2, length), dtype=np.uint8)
    for column in range(length):
        to = state_after[:, state]  # (3, N)
        ways = ahead(column)[:, state]
        share = np.exp(ways - ways.max(0)).cumsum(0)
        share /= share[-1]
        kind = (rng.random(n) >= share).sum(0)
        for k in (DECIDES_NOT, RUNS_ON, STARTS):
            rows = np.flatnonzero(kind == k)
            if len(rows):
                digits[rows, :, column] = pairs[column][k][
                    rng.integers(0, len(pairs[column][k]), len(rows))
                ]
        state = to[kind, np.arange(n)]
    return digits


def _pairs(base: int, least: int) -> list[np.ndarray]:
    """The digit pairs of each class, digits from `least`."""
    grid = np.stack(np.meshgrid(np.arange(least, base), np.arange(least, base)), -1).reshape(-1, 2)
    kind = classes(grid[:, :, None].astype(np.uint8), base)[:, 0]
    return [grid[kind == k].astype(np.uint8) for k in (DECIDES_NOT, RUNS_ON, STARTS)]
