"""Count by residues how often dropping the high digits of two numbers changes nothing modulo p, at any length.

Let a = A b^n + a0 with base b. The truncated function sees only a0. Let p' = p / gcd(p, b^n). Modulo p,

    a + b  =  a0 + b0    where p' divides A + B
    a * b  =  a0 * b0    where p' divides A b + B a0

Without a modulus, these expressions must be 0.

The N possible values of A are consecutive. Every residue occurs q = N // p' times, and an arc of N mod p' residues occurs
once more. So a share is c0 + c1/N + c2/N^2, and its three coefficients follow from N mod p' alone. A million digits cost
as much as five.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError

Ints = NDArray[np.int64]

LONG = 1000  # digits of the dropped part above which c1/N and c2/N^2 vanish in float precision
MOST = 1000  # the largest p' of a product; counting takes p'^3 steps
READ = 20  # digits of the longest number that is displayed in full


@dataclass(frozen=True)
class Dropped:
    """The possible dropped parts: all numbers of `digits` digits, or of at most `digits` digits if `zeros` may lead."""

    digits: int
    zeros: bool = False
    base: int = 10

    @property
    def count(self) -> int:
        return self.base**self.digits - self._first

    @property
    def _first(self) -> int:
        return 0 if self.zeros else self.base ** (self.digits - 1)

    def arc(self, p: int) -> tuple[int, int]:
        """The first residue modulo p, and the number of residues from it on that occur once more than the others.

        >>> Dropped(1).arc(7)  # 1 2 3 4 5 6 7 8 9: all once, 1 and 2 twice
        (1, 2)
        """
        first = 0 if self.zeros else pow(self.base, self.digits - 1, p)
        return first % p, (pow(self.base, self.digits, p) - first) % p


@dataclass(frozen=True)
class Share:
    """The share c0 + c1/N + c2/N^2, where N is the number of possible dropped parts."""

    limit: Fraction
    once: Fraction = Fraction(0)
    twice: Fraction = Fraction(0)
    dropped: Dropped | None = None

    @property
    def exact(self) -> Fraction:
        if self.dropped is None:
            return self.limit
        count = self.dropped.count
        return self.limit + self.once / count + self.twice / count**2

    @property
    def long(self) -> bool:
        """Whether the share equals its limit c0 up to float precision."""
        return self.dropped is not None and self.dropped.digits > LONG


def of_whole(product: bool, digits: int, dropped: Dropped) -> Share:
    """The share without a modulus: correct where only zeros are dropped, or where a factor is 0.

    >>> of_whole(
    ...     True, 1, Dropped(1, zeros=True)
    ... ).exact  # 100 pairs of one digit, 90 times two with a 0
    Fraction(7, 250)
    """
    if not dropped.zeros:
        return Share(Fraction(0))
    zero = Fraction(
        2 * product, dropped.base**digits
    )  # 0 times a number of more digits, and the reverse
    return Share(Fraction(0), zero, 1 - zero, dropped)


def remaining(modulus: int, base: int, digits: int) -> int:
    """p' = p / gcd(p, b^n).

    >>> remaining(51, 10, 4), remaining(150, 10, 4), remaining(50, 10, 4)
    (51, 3, 1)
    """
    return modulus // gcd(modulus, pow(base, digits, modulus))


def sized(number: int) -> str:
    """The number as text; for a long number, its order of magnitude.

    >>> sized(1009), sized(10**400 + 1)
    ('1009', '~10^400')
    """
    return str(number) if number < 10**READ else f"~10^{round(log10(number))}"


def of_sums(modulus: int, digits: int, dropped: Dropped) -> Share:
    """The share of pairs with p' | A + B.

    >>> of_sums(7, 2, Dropped(1)).exact  # 11 of 81
    Fraction(11, 81)
    >>> of_sums(101, 2, Dropped(1)).exact  # A + B is 18 at the most
    Fraction(0, 1)
    """
    p = remaining(modulus, dropped.base, digits)
    first, more = dropped.arc(p)
    both = sum(_pairs(total, more) for total in (-2 * first % p, -2 * first % p + p))
    return Share(Fraction(1, p), Fraction(0), both - Fraction(more * more, p), dropped)


def _pairs(total: int, below: int) -> int:
    """The number of pairs of numbers below `below` with this sum."""
    return max(0, min(total, below - 1) - max(0, total - below + 1) + 1)


def of_products(modulus: int, digits: int, dropped: Dropped) -> Share:
    """The share of problems with p' | A b + B a0, over A, B and the kept digits.

    >>> round(float(of_products(51, 3, Dropped(6)).exact), 4)
    0.0253
    """
    base = dropped.base
    p = remaining(modulus, base, digits)
    if p > MOST:
        raise TenfoldError(
            f"products modulo {sized(modulus)}: {sized(p)} residues are left of it, and counting takes their number to the "
            f"third; at most {MOST}, or numbers so short that all pairs can be tried"
        )
    first, more = dropped.arc(p)
    arc = (first + np.arange(more)) % p
    kept = base**digits
    whole, some, both = (_summed(part, arc) for part in _solutions(p, base, digits))
    of = [kept // p * (kept // p * g + e) + f for g, e, f in zip(whole, some, both, strict=True)]
    every, row, corner = (Fraction(each, kept**2) for each in of)
    limit = every / p**2
    once = 2 * (row / p - more * limit)
    return Share(limit, once, more * more * limit - 2 * more * row / p + corner, dropped)


class Solutions(NamedTuple):
    """The number of pairs (a0, b0) with p' | A b + B a0, by the residues of A and B: q^2 whole + q some + both.

    With q = b^n // p', every residue occurs q times among the kept digits, and the first b^n mod p' residues once more.
    """

    whole: Ints
    some: Ints
    both: Ints


@functools.lru_cache(4)
def _solutions(p: int, base: int, digits: int) -> Solutions:
    shift, more = pow(base, digits, p), base**digits % p
    residues = np.arange(p, dtype=np.int64)
    own = np.gcd(residues, p)  # gcd(A, p'), p' for A = 0
    shared = np.gcd(own[:, None], own)
    # A y = c - B x has gcd(A, p') solutions y where this gcd divides B x, which holds for x at regular intervals
    once = own[:, None] * -(-more // (own[:, None] // shared))
    both = np.zeros((p, p), dtype=np.int64)
    negative = -residues[:, None] * residues % p
    for a in range(p):
        counts = np.bincount(a * residues[:more] % p, minlength=p)  # A b0, over the arc of b0
        both[a] = counts[negative[(a * shift + residues[:more]) % p]].sum(0)
    return Solutions(shared * p, once + once.T, both)


def _summed(part: Ints, arc: Ints) -> tuple[int, int, int]:
    """Sums over all residues A and B, over A in the arc, and over both in the arc."""
    rows = part[arc]
    return int(part.sum()), int(rows.sum()), int(rows[:, arc].sum())
