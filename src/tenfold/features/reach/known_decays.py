"""Recognise formulas whose sums are bounded by known integrals, so that their reach has proved bounds.

    -k*n                        geometric           -(k*n)**p, -c*n**p     a power
    -p*log(1 + a*n)             Kerple-log          -log(1 + (k*n)**2)     Type 1
    -log(3 + k*n)**2            Type 2              a number               no decay

A formula is rewritten as a sum of products of powers, so its notation does not matter. An additive constant of the bias
is left out, because the softmax cancels it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tenfold.encodings.decay_series import (
    CONSTANT,
    GEOMETRIC,
    KERPLE_LOG,
    POWER,
    TYPE_1,
    TYPE_2,
    Decay,
)
from tenfold.features.reach.asymptotics import NEAR
from tenfold.features.reach.bias_formula import Formula

Number = Fraction | float
Factors = tuple[tuple[str, Number], ...]  # bases by name and their exponents: n^2, log 0


MOST, BITS = 50, 1024  # terms of a sum, and bits of a number; larger ones are not recognised


class _Other(Exception):
    """The formula has none of the known forms."""


@dataclass(frozen=True)
class _Sum:
    """Terms by their factors; the term without factors is a plain number."""

    terms: tuple[tuple[Factors, Number], ...]

    @property
    def number(self) -> Number | None:
        by_factors = dict(self.terms)
        return by_factors.get((), Fraction(0)) if set(by_factors) <= {()} else None


def recognised(formula: Formula) -> tuple[Decay, tuple[float, ...]] | None:
    """The known decay that the formula equals, and its parameters; None if there is none.

    >>> decay, parameters = recognised(Formula.read("-log(1 + (k*n)**2)", {"k": 0.25}))
    >>> decay.text, parameters
    ('-ln(1 + (k n)^2)', (0.25,))
    """
    algebra = _Sums()
    try:
        terms = dict(formula.within(algebra).terms)
        terms.pop((), None)
        if not terms:
            return CONSTANT, (0.0,)
        ((factors, c),) = terms.items()
        ((base, exponent),) = factors
        result = _power(c, exponent) if base == "n" else _log(algebra.inside[base], exponent, c)
    except (_Other, ValueError, KeyError, OverflowError, ZeroDivisionError):
        return None
    return result if result is not None and all(0 < x < math.inf for x in result[1]) else None


def _power(c: Number, p: Number) -> tuple[Decay, tuple[float, ...]] | None:
    if c >= 0 or p <= 0:
        return None
    return (GEOMETRIC, (float(-c),)) if p == 1 else (POWER, (1.0, float(p), float(-c)))


def _log(inside: _Sum, exponent: Number, c: Number) -> tuple[Decay, tuple[float, ...]] | None:
    """c ln(first + slope n^power)^exponent"""
    by_factors = dict(inside.terms)
    first = by_factors.pop((), Fraction(0))
    ((((base, power),), slope),) = by_factors.items()
    if base != "n" or first <= 0 or slope <= 0 or c >= 0:
        return None
    rate = float(slope) / float(first)
    if (exponent, power) == (1, 1):
        if (float(c) == -1) != (c == -1) or (isinstance(c, float) and abs(c + 1) <= NEAR):
            return None  # floats cannot decide whether p is above 1
        return KERPLE_LOG, (float(-c), rate)
    if (exponent, power, c) == (1, 2, -1):
        return TYPE_1, (math.sqrt(rate),)
    if (exponent, power, c, first) == (2, 1, -1, 3):
        return TYPE_2, (float(slope),)
    return None


class _Sums:
    """The algebra of sums of products of powers. Logarithms are named bases."""

    def __init__(self) -> None:
        self.inside: dict[str, _Sum] = {}

    def number(self, value: Number) -> _Sum:
        return _Sum((((), value),))

    def distance(self) -> _Sum:
        return _Sum((((("n", Fraction(1)),), Fraction(1)),))

    def apply(self, operation: str, *given: _Sum) -> _Sum:
        known: dict[str, Callable[..., _Sum]] = {
            "+": self._plus,
            "-": lambda x, y: self._plus(x, self._times(self.number(Fraction(-1)), y)),
            "*": self._times,
            "/": lambda x, y: self._times(x, self._raised(y, self.number(Fraction(-1)))),
            "**": self._raised,
            "sqrt": lambda x: self._raised(x, self.number(Fraction(1, 2))),
            "log": self._log,
        }
        if operation not in known:
            raise _Other
        return known[operation](*given)

    def _plus(self, x: _Sum, y: _Sum) -> _Sum:
        terms = dict(x.terms)
        for factors, c in y.terms:
            total = terms.get(factors, Fraction(0)) + c
            if isinstance(total, float) and abs(total) <= NEAR * abs(float(c)):
                raise _Other  # a sum that nearly cancels may be zero
            terms[factors] = total
        if len(terms) > MOST:
            raise _Other
        return _Sum(tuple(sorted((f, c) for f, c in terms.items() if c != 0)))

    def _times(self, x: _Sum, y: _Sum) -> _Sum:
        result = _Sum(())
        for f, a in x.terms:
            for g, b in y.terms:
                powers = dict(f)
                for base, exponent in g:
                    powers[base] = powers.get(base, Fraction(0)) + exponent
                factors = tuple(sorted((base, e) for base, e in powers.items() if e != 0))
                result = self._plus(result, _Sum(((factors, a * b),)))
        return result

    def _raised(self, x: _Sum, y: _Sum) -> _Sum:
        p = y.number
        if p is None or len(x.terms) != 1:
            raise _Other
        ((factors, c),) = x.terms
        if c < 0 or abs(float(p)) > 100:
            raise _Other
        whole = isinstance(p, Fraction) and p.denominator == 1
        if isinstance(c, Fraction) and max(map(int.bit_length, c.as_integer_ratio())) > BITS:
            raise _Other
        raised = c ** int(p) if whole else float(c) ** float(p)
        return _Sum(((tuple((base, exponent * p) for base, exponent in factors), raised),))

    def _log(self, x: _Sum) -> _Sum:
        if x.number is not None:
            return self.number(math.log(float(x.number)))
        name = next((name for name, by_factors in self.inside.items() if by_factors == x), "")
        name = name or f"log {len(self.inside)}"
        self.inside[name] = x
        return _Sum((((((name, Fraction(1)),), Fraction(1))),))
