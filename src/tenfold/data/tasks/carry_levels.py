"""Sums and products level by level: the parallel algorithms of the `symmetry` paper (2406.01895, algorithms 1 and 2).

All columns are computed in parallel: the sums of their digits, or each digit times the whole multiplier. Then, level by
level, every column keeps its units and passes its higher digits on, until each column is one digit. Units first:

    987 + 25   12 10  9  0  ->  2  1 10  0  ->  2  1  0  1             1012 after 2 levels
    98 * 789   882 784 686 0 0  ->  2 12 22 15 6  ->  2 2 3 7 7        77322 after 2 levels

The number of levels is the paper's complexity. For two addends it is the length of the longest cascade
(`tenfold.data.tasks.carries`). For one-digit multipliers it is one more than that of the columns after the first level.
The paper's printed pseudo-code computes something else; `printed_addition` and `printed_multiplication` execute it
literally. Distributions: `tenfold.features.complexity.complexity`. Sampling by levels: the sampler `levels`.

Shapes: N examples, M operands, W columns of an operand, A columns of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import Digits, Ints, significant

TRIES = 10_000_000  # rejected problems in a row before an error
CELLS = 1 << 22  # digits that are drawn at a time

Draw = Callable[[int], tuple[Digits, Ints]]  # number N -> operands (N, M, W), lengths (N, M)
Measure = Callable[[Digits], Ints]  # the levels of operands (N, M, W): (N,)


@dataclass(frozen=True)
class Rippled:
    """Answers, and the number of levels of each."""

    digits: Digits  # (N, A)
    levels: Ints  # (N,)


def add(operands: Digits, base: int = 10) -> Rippled:
    """Algorithm 1 for two or more addends: (N, M, W) -> answers of W + 1 columns, or as many as M addends need.

    >>> add(np.array([[[7, 8, 9], [5, 2, 0]]], dtype=np.uint8))
    Rippled(digits=array([[2, 1, 0, 1]], dtype=uint8), levels=array([2]))
    """
    n, terms, width = operands.shape
    room = next(r for r in range(1, 64) if base**r >= terms)
    columns = np.zeros((n, width + room), dtype=np.int64)
    columns[:, :width] = operands.sum(1, dtype=np.int64)
    return ripple(columns, base)


def multiply(multiplier: Digits, number: Digits, base: int = 10) -> Rippled:
    """Algorithm 2: multipliers (N, K) of a few digits times numbers (N, W) -> answers of W + K columns.

    >>> multiply(np.array([[8, 9]], dtype=np.uint8), np.array([[9, 8, 7]], dtype=np.uint8))
    Rippled(digits=array([[2, 2, 3, 7, 7]], dtype=uint8), levels=array([2]))
    """
    n, few = multiplier.shape
    width = number.shape[1]
    value = (multiplier * base ** np.arange(few, dtype=np.int64)).sum(1, dtype=np.int64)
    columns = np.zeros((n, width + few), dtype=np.int64)
    columns[:, :width] = value[:, None] * number
    return ripple(columns, base)


def ripple(columns: NDArray[Any], base: int = 10) -> Rippled:
    """Apply levels to columns (N, A) until each column is one digit."""
    levels, columns = np.zeros(len(columns), dtype=np.int64), columns.astype(np.int32)
    left = np.arange(len(columns))  # rows that are not finished
    while len(left := left[(columns[left] >= base).any(1)]):
        columns[left] = level(columns[left], base)
        levels[left] += 1
    return Rippled(columns.astype(np.uint8), levels)


def level(columns: NDArray[Any], base: int = 10) -> NDArray[Any]:
    """One level, all columns in parallel: units stay, tens go to the next column, hundreds to the one after it.

    >>> level(np.array([[882, 784, 686, 0, 0]])).tolist()
    [[2, 12, 22, 15, 6]]
    """
    width, after, place = columns.shape[1], np.zeros_like(columns), 0
    while columns.any():
        if columns[:, max(width - place, 0) :].any():
            raise TenfoldError(f"what the columns hold does not fit {width} digits of base {base}")
        tens = columns // base
        after[:, place:] += (columns - tens * base)[:, : width - place]
        columns, place = tens, place + 1
    return after


def counted(operands: Digits, base: int, *, product: bool) -> Ints:
    """The levels of sums (N, M, W), or of products whose first operand is the multiplier: (N,)."""
    if not product:
        return add(operands, base).levels
    few = max(1, int(significant(operands[:, 0]).max(initial=1)))
    return multiply(operands[:, 0, :few], operands[:, 1], base).levels


def of_levels(wanted: Ints, draw: Draw, measure: Measure) -> tuple[Digits, Ints]:
    """Draw problems with these levels by rejection. Within one level, their distribution is that of `draw`."""
    n, left, tried, block = len(wanted), np.arange(len(wanted)), 0, 1024
    first, its_lengths = draw(1)
    operands, lengths = np.repeat(first, n, 0), np.repeat(its_lengths, n, 0)
    while len(left):  # rows without a problem yet
        if tried > TRIES:
            raise TenfoldError(
                f"none of {tried:,} problems of up to {operands.shape[2]} digits has {wanted[left[0]]} levels"
            )
        drawn, their_lengths = draw(block)
        counts, later = measure(drawn), []
        for each in np.unique(wanted[left]):
            rows, fit = left[wanted[left] == each], np.flatnonzero(counts == each)
            now = min(len(rows), len(fit))
            operands[rows[:now]], lengths[rows[:now]] = drawn[fit[:now]], their_lengths[fit[:now]]
            later.append(rows[now:])
            tried = 0 if now else tried
        left, tried = np.concatenate(later), tried + block
        block = max(block, min(2 * block, CELLS // operands.shape[2]))
    return operands, lengths


def common(draw: Draw, measure: Measure) -> list[int]:
    """The levels of at least one in a thousand problems, estimated from a few thousand; 4 for products of 5 digits.

    >>> rng = np.random.default_rng(0)
    >>> common(
    ...     lambda n: (rng.integers(0, 10, (n, 2, 3), np.uint8), np.full((n, 2), 3)),
    ...     lambda drawn: counted(drawn, 10, product=False),
    ... )
    [0, 1, 2, 3]
    """
    width = draw(1)[0].shape[2]
    n = max(1024, min(1 << 15, CELLS // width))
    return np.flatnonzero(np.bincount(measure(draw(n)[0])) * 1000 >= n).tolist()


def printed_addition(
    first: Sequence[int], second: Sequence[int], base: int = 10, *, mended: bool = False
) -> list[int]:
    """Algorithm 1 as printed, for two numbers of equal length, units first. It is wrong: 99+1 -> 000.

    A column that becomes ten by a carry is reduced to 0, and its own carry is lost. The last loop omits the highest
    column, so 5+5 -> 00. With `mended`, that loop covers all columns: 5+5 -> 10, but still 99+1 -> 000.

    >>> printed_addition([9, 9], [1, 0]), printed_addition([5], [5], mended=True)
    ([0, 0, 0], [0, 1])
    """
    size = len(first)
    s = [x + y for x, y in zip(first, second, strict=True)] + [0]
    while any(value >= base for value in s):
        primed = s.copy()
        for j in range(size):
            primed[j + 1] = s[j + 1] + s[j] // base
        for j in range(size + mended):
            s[j] = primed[j] % base
    return s


def printed_multiplication(
    first: Sequence[int], second: Sequence[int], base: int = 10, *, mended: bool = False
) -> list[int]:
    """Algorithm 2 as printed, multiplier first, units first. It is wrong: 4*26 -> 004, 99*89 -> 0811 (correct: 8811).

    It has the errors of algorithm 1, and carries over k = 2, 3 columns overwrite those over fewer. `mended` adds them
    and fills the highest column: 99*89 -> 7711. Then floor(m / 10) contains floor(m / 100) a second time; the remainder
    removes it together with the carries of the column.

    >>> printed_multiplication([4], [6, 2]), printed_multiplication([9, 9], [9, 8])
    ([4, 0, 0], [1, 1, 8, 0])
    >>> printed_multiplication([9, 9], [9, 8], mended=True)
    [1, 1, 7, 7]
    """
    few, size = len(first), len(first) + len(second)
    multiplier = sum(digit * base**k for k, digit in enumerate(first))
    m = [multiplier * digit for digit in second] + [0] * few
    while any(value >= base for value in m):
        primed = m.copy()
        for k in range(1, few + 1):
            for j in range(size - k):
                primed[j + k] = (primed if mended else m)[j + k] + m[j] // base**k
        for j in range(size - 1 + mended):
            m[j] = primed[j] % base
    return m
