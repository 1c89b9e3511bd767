"""Predict the accuracy on f, by length, of a model that has learned f(a mod b^n, b mod b^n).

According to the `principled` paper, a converged model with absolute positions, trained on numbers of n digits, computes
the truncated function. Its accuracy on longer numbers is the share of problems whose dropped digits change nothing:

    modulo 51, n = 4:   12345+67890   51 does not divide 10^4 (1 + 6): wrong
    modulo 50, n = 4:   12345+67890   50 divides 10^4: right, whatever is dropped

Sums and products, with or without a modulus, are counted exactly at any length. Other functions are evaluated on all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.tasks.operation import Operation
from tenfold.data.tasks.task import Task, check_length
from tenfold.features.truncation.pair_enumeration import (
    Function,
    Right,
    by_task,
    by_values,
    can_try,
    tried,
)
from tenfold.features.truncation.residue_counting import (
    MOST,
    Dropped,
    Share,
    of_products,
    of_sums,
    of_whole,
    remaining,
    sized,
)

Parts = tuple[tuple[Fraction, Share], ...]  # weights and the shares that they multiply
Shares = Callable[[Dropped], Share]

SHOWN = 60  # characters of the longest fraction that is displayed


@dataclass(frozen=True)
class Predicted:
    """Predicted accuracy at a length, as a float and on demand as an exact fraction, with the reason."""

    length: int
    why: str
    parts: Parts

    @property
    def long(self) -> bool:
        """Whether the accuracy equals the limit for long numbers up to float precision."""
        return any(share.long for _, share in self.parts)

    @property
    def accuracy(self) -> float:
        if self.long:
            return float(sum(weight * share.limit for weight, share in self.parts))
        return float(self.exact)

    @property
    def exact(self) -> Fraction:
        """The exact fraction. For numbers of a million digits it has as many digits, so it is computed on demand."""
        return sum((weight * share.exact for weight, share in self.parts), Fraction(0))

    @property
    def exact_text(self) -> str | None:
        """The exact fraction, unless it is long: `11/81`."""
        text = str(self.exact) if self.length <= SHOWN else ""
        return text if 0 < len(text) <= SHOWN else None

    def as_json(self) -> dict[str, Any]:
        known = {"length": self.length, "accuracy": self.accuracy}
        return {**known, "exact": self.exact_text, "why": self.why}


def predict(
    what: Operation | Task | Function,
    digits: int,
    lengths: Sequence[int],
    *,
    slice: str = "full",
    base: int = 10,
) -> list[Predicted]:
    """Predict the accuracy at each length of a model that was trained on numbers of `digits` digits.

    `slice`: `full` draws both numbers uniformly with exactly this length; `uniform` draws as evaluation does, where the
    longer number has this length. A task has its own base. A function takes two integers, and is faster if it also accepts
    arrays. Problems whose last digits do not form a problem, such as 210-15 with one digit, count as wrong.

    >>> result = predict(operation("modular-addition", 7), digits=2, lengths=[2, 3, 9])
    >>> [(each.length, round(each.accuracy, 4)) for each in result]
    [(2, 1.0), (3, 0.1358), (9, 0.1429)]
    >>> predict(lambda a, b: a * a + b, digits=1, lengths=[2], base=4)[0].exact
    Fraction(0, 1)
    """
    if digits < 1:
        raise TenfoldError(f"trained on numbers of {digits} digits; at least 1")
    if slice not in SLICES:
        raise unknown("slice of a prediction", slice, SLICES)
    for length in lengths:
        check_length(length)
    if isinstance(what, Task):
        counted, base = what.operation(), what.base
        if counted is None:
            right = by_task(what, digits)
            return [_tried(right, digits, length, slice, base) for length in lengths]
        what = counted
    if isinstance(what, Operation):
        return [_counted(what, digits, length, slice, base) for length in lengths]
    right = by_values(what, base**digits)
    return [_tried(right, digits, length, slice, base) for length in lengths]


def operation(name: str, modulus: int | None = None) -> Operation:
    """What a task computes, by the task's name: a sum or a product, with a modulus for the modular tasks."""
    if name in RENAMED:
        raise TenfoldError(f'"{name}" is now called "{RENAMED[name]}"')
    if name not in OPERATIONS:
        raise unknown("task of a prediction", name, OPERATIONS)
    product, modular = OPERATIONS[name]
    if modular and modulus is None:
        raise TenfoldError(f'"{name}" needs a modulus, such as 51')
    if not modular and modulus is not None:
        other = next(other for other, kind in OPERATIONS.items() if kind == (product, True))
        raise TenfoldError(f'"{name}" has no modulus, and {modulus} was given; "{other}" has')
    return Operation(product, modulus)


OPERATIONS = {  # by the names of the tasks: (a product, modulo a number)
    "addition": (False, False),
    "full-multiplication": (True, False),
    "modular-addition": (False, True),
    "modular-multiplication": (True, True),
}
RENAMED = {  # spellings of version 0.1
    "add": "addition",
    "mul": "full-multiplication",
    "mod-add": "modular-addition",
    "mod-mul": "modular-multiplication",
}


def _counted(what: Operation, digits: int, length: int, slice: str, base: int) -> Predicted:
    if length <= digits:
        why = f"no number has more than {digits} digits, so nothing is dropped"
        return Predicted(length, why, ((Fraction(1), Share(Fraction(1))),))
    if what.modulus is None:
        shares, why = _whole(what, digits)
        return Predicted(length, why, SLICES[slice](shares, length - digits, base))
    p = remaining(what.modulus, base, digits)
    if what.product and p > MOST and can_try(length, base, every=slice == "full"):
        return _tried(by_values(what, base**digits), digits, length, slice, base)
    shares, why = _modular(what, digits, base)
    result = Predicted(length, why, SLICES[slice](shares, length - digits, base))
    if never := _never(what, p, result, length - digits, base):
        return replace(result, why=f"{never} a multiple of {sized(p)}, A and B what is dropped")
    return result


def _never(what: Operation, p: int, result: Predicted, dropped: int, base: int) -> str | None:
    """The reason if no problem is correct. Integers decide this, because a share may be too small for a float."""
    if what.product:
        return "A*b + B*a0 is never" if not result.long and result.exact == 0 else None
    if dropped > p.bit_length():  # then A and B reach more than p, in any base
        return None
    most = 2 * (base**dropped - 1)
    return f"A + B is {sized(most)} at the most, not" if most < p else None


def _whole(what: Operation, digits: int) -> tuple[Shares, str]:
    why = "product, unless that is 0" if what.product else "sum"
    return (
        lambda dropped: of_whole(what.product, digits, dropped),
        f"a dropped digit is missing from the {why}",
    )


def _modular(what: Operation, digits: int, base: int) -> tuple[Shares, str]:
    assert what.modulus is not None
    modulus, count = what.modulus, of_products if what.product else of_sums
    p = remaining(modulus, base, digits)
    if p == 1:
        why = f"{sized(modulus)} divides {base}^{digits}: what is dropped is a multiple of it"
        return lambda dropped: Share(Fraction(1)), why
    modulus_text, left = sized(modulus), sized(p)
    if p != modulus:
        left = f"{left} = {modulus_text}/gcd({modulus_text}, {base}^{digits})"
    when = "A*b + B*a0" if what.product else "A + B"
    limit = "" if what.product else f"; 1/{sized(p)} for long numbers"
    why = f"right where {left} divides {when}, A and B what is dropped{limit}"
    return lambda dropped: count(modulus, digits, dropped), why


def _full(shares: Shares, dropped: int, base: int) -> Parts:
    return ((Fraction(1), shares(Dropped(dropped, base=base))),)


def _uniform(shares: Shares, dropped: int, base: int) -> Parts:
    """Pairs of numbers of up to this length, minus the pairs in which both numbers are shorter."""
    longer = shares(Dropped(dropped, True, base))
    shorter = shares(Dropped(dropped - 1, True, base)) if dropped > 1 else Share(Fraction(1))
    pairs = base**2
    return (Fraction(pairs, pairs - 1), longer), (Fraction(-1, pairs - 1), shorter)


SLICES: dict[str, Callable[[Shares, int, int], Parts]] = {"full": _full, "uniform": _uniform}


def _tried(right: Right, digits: int, length: int, slice: str, base: int) -> Predicted:
    count, of = tried(right, length, base, every=slice == "full")
    why = f"{count:,} of {of:,} pairs are the same without their digits above the {digits} lowest"
    return Predicted(length, why, ((Fraction(1), Share(Fraction(count, of))),))
