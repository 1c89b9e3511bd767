"""Domains: sets of problems by the lengths of their numbers, with exact sizes and exactly uniform sampling.

    D4        Domain([4])              the longest number has 4 digits
    D45       Domain([4, 5])           ... 4 or 5
    D<4       Domain.below(4)          every number is shorter
    D>4, <=9  Domain.above(4, 9)       at least one is longer than 4 digits, none than 9
    D_ab,4    Domain([4], every=True)  every number has 4 digits

In a union, nearly all problems have the largest length (D45: 99 in 100). With `equal`, every length has the same
probability, and problems are uniform within a length.

Holes: `digits="6789"` excludes all other digits at every place (`principled` paper, on the coverage of training data).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import DIGITS, Digits, Ints

BITS = 62  # bits of a random number


@dataclass(frozen=True)
class Domain:
    """Problems whose longest number, or `every` one, has one of these lengths.

    >>> Domain([2]).size(), Domain([1, 2]).size(), Domain([2], every=True).size()
    (9900, 10000, 8100)
    >>> Domain([3], digits="6789").size()  # 84 numbers of up to 3 digits, 20 of up to 2
    6656
    """

    lengths: Sequence[int]
    every: bool = False
    digits: str | None = None  # the digits that occur; default: all
    equal: bool = False  # lengths have equal probability, not in proportion to their sizes

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 1 or len({*self.lengths}) < len(self.lengths):
            raise TenfoldError(
                f"a domain of the lengths {list(self.lengths)}; one or more, each at least 1 and there once"
            )
        if self.digits is not None and (
            not self.digits or len({*self.digits}) < len(self.digits) or {*self.digits} - {*DIGITS}
        ):
            raise TenfoldError(f'a domain of the digits "{self.digits}"; such as "6789", each once')

    @classmethod
    def below(cls, length: int, digits: str | None = None) -> Domain:
        """Every number is shorter."""
        return cls(range(1, length), digits=digits)

    @classmethod
    def above(cls, length: int, longest: int, digits: str | None = None) -> Domain:
        """At least one number is longer, none longer than `longest`."""
        return cls(range(length + 1, longest + 1), digits=digits)

    def size(self, terms: int = 2, base: int = 10) -> int:
        """The number of problems."""
        return sum(self._sizes(terms, base))

    def draw(
        self, rng: np.random.Generator, n: int, terms: int = 2, base: int = 10
    ) -> tuple[Digits, Ints]:
        """Draw `n` problems (N, M, W) uniformly (but see `equal`), with the lengths of their numbers (N, M)."""
        sizes = self._sizes(terms, base)
        if self.equal:
            sizes = [min(size, 1) for size in sizes]
        if not sum(sizes):
            raise TenfoldError(f'no number of {list(self.lengths)} digits has only "{self.digits}"')
        longest = np.array(self.lengths, dtype=np.int64)[exactly(rng, sizes, n)]
        operands = np.zeros((n, terms, max(self.lengths)), dtype=np.uint8)
        lengths = np.zeros((n, terms), dtype=np.int64)
        for length in np.unique(longest).tolist():
            rows = np.flatnonzero(longest == length)
            while len(rows):  # rejection until the longest has this length keeps uniformity
                drawn = self._lengths(rng, len(rows), length, terms, base)
                right = drawn.max(1) == length
                lengths[rows[right]] = drawn[right]
                rows = rows[~right]
        symbols = np.array(self._symbols(base), dtype=np.uint8)
        leading = symbols[symbols > 0]
        operands[:] = symbols[rng.integers(0, len(symbols), operands.shape)]
        operands[np.arange(operands.shape[2]) >= lengths[..., None]] = 0
        if len(leading):
            first = leading[rng.integers(0, len(leading), lengths.shape)]
            alone = operands[..., 0]  # a single digit may be 0
            first = np.where(lengths > 1, first, alone)
            np.put_along_axis(operands, lengths[..., None] - 1, first[..., None], -1)
        return operands, lengths

    def _symbols(self, base: int) -> list[int]:
        values = [DIGITS.index(digit) for digit in self.digits or DIGITS[:base]]
        if max(values) >= base:
            raise TenfoldError(f'the digits "{self.digits}" in base {base}; 0 to {base - 1}')
        return values

    def _counts(self, length: int, base: int) -> list[int]:
        """The number of numbers with exactly 1, 2, ..., `length` digits."""
        symbols = self._symbols(base)
        leading = len(symbols) - (0 in symbols)
        longer = [leading * len(symbols) ** (place - 1) for place in range(2, length + 1)]
        return [len(symbols), *longer]

    def _sizes(self, terms: int, base: int) -> list[int]:
        """The number of problems of each length."""
        counts = self._counts(max(self.lengths), base)
        if self.every:
            return [counts[length - 1] ** terms for length in self.lengths]
        up_to = [0, *accumulate(counts)]
        return [up_to[length] ** terms - up_to[length - 1] ** terms for length in self.lengths]

    def _lengths(
        self, rng: np.random.Generator, n: int, length: int, terms: int, base: int
    ) -> Ints:
        """The lengths of uniform numbers of up to `length` digits, or of exactly `length` with `every`: (N, M)."""
        if self.every:
            return np.full((n, terms), length, dtype=np.int64)
        return 1 + exactly(rng, self._counts(length, base), n * terms).reshape(n, terms)


def domain(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    lengths: list[int] | None = None,
    every: bool = False,
    digits: str | None = None,
    equal: bool = False,
) -> tuple[Digits, Ints]:
    """Uniform problems whose longest number (or `every` number) has one of these lengths; default: `length`.

    `lengths: [4, 5]` is D45. With `equal`, 4 and 5 digits have the same probability. `digits: "6789"` uses only these
    digits, so that training data has holes.
    """
    chosen = Domain(lengths or [length], every, digits, equal)
    if max(chosen.lengths) > length:
        raise TenfoldError(
            f"a domain of the lengths {list(chosen.lengths)} where {length} digits are requested; none may be longer"
        )
    return chosen.draw(rng, n, terms, base)


def exactly(rng: np.random.Generator, weights: Sequence[int], n: int, bits: int = BITS) -> Ints:
    """Random indices 0, 1, ... with exactly these weights, which may be larger than any float: (N,).

    A random number of `bits` bits is a cell of [0, 1). If a boundary between two weights lies inside the cell, the choice
    is repeated among the parts of the cell.
    """
    total, edges = sum(weights), list(accumulate(weights))
    below = np.array([(edge << bits) // total for edge in edges[:-1]], dtype=np.int64)
    cell = rng.integers(0, 1 << bits, n, dtype=np.int64)
    chosen = np.searchsorted(below, cell, side="right")
    for row in np.flatnonzero(np.isin(cell, below)).tolist():
        low, high = int(cell[row]) * total, (int(cell[row]) + 1) * total
        ends = [min(max(edge << bits, low), high) for edge in [0, *edges]]
        parts = [end - start for start, end in pairwise(ends)]
        chosen[row] = exactly(rng, parts, 1, bits)[0]
    return chosen.astype(np.int64)
