"""Predict the accuracy on f, by length, of a model that has learned f(a mod b^n, b mod b^n).

Trained on numbers of n digits with absolute positions, a converged model computes the truncated function, says the
`principled` paper. So its accuracy on longer numbers is the share of problems in which the dropped digits change nothing:

    modulo 51, n = 4:   12345+67890   51 does not divide 10^4 (1 + 6): wrong
    modulo 50, n = 4:   12345+67890   50 divides 10^4: right, whatever is dropped

Sums and products, whole or modulo a number, are counted exactly at any length; any other function by trying all pairs.
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

Parts = tuple[tuple[Fraction, Share], ...]  # weights and what they weigh
Shares = Callable[[Dropped], Share]

SHOWN = 60  # characters of a fraction that a person would read


@dataclass(frozen=True)
class Predicted:
    """Accuracy at a length, as a float and, on demand, as the exact fraction; and why."""

    length: int
    why: str
    parts: Parts

    @property
    def long(self) -> bool:
        """Whether the limit for long numbers is all that a float can hold."""
        return any(share.long for _, share in self.parts)

    @property
    def accuracy(self) -> float:
        if self.long:
            return float(sum(weight * share.limit for weight, share in self.parts))
        return float(self.exact)

    @property
    def exact(self) -> Fraction:
        """Of numbers of a million digits a fraction of as many: ask for it where it is wanted."""
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
    """Accuracy of what a model learns from numbers of `digits` digits, at each length.

    `slice`: both numbers uniform over those of exactly this length (`full`), or as evaluation draws them, the longer one of
    this length (`uniform`). A task has its own base. A function takes two whole numbers; it is quicker if it takes arrays of
    them too. Problems whose last digits are no problem, as 210-15 of one digit, count as wrong.

    >>> result = predict(operation("mod-add", 7), digits=2, lengths=[2, 3, 9])
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
    """`add` and `mul`; with a modulus `mod-add` and `mod-mul`."""
    if name not in OPERATIONS:
        raise unknown("operation", name, OPERATIONS)
    product, modular = OPERATIONS[name]
    if modular and modulus is None:
        raise TenfoldError(f'"{name}" needs a modulus, such as 51')
    if not modular and modulus is not None:
        raise TenfoldError(f'"{name}" has no modulus, and {modulus} was given; "mod-{name}" has')
    return Operation(product, modulus)


OPERATIONS = {  # (a product, modulo a number)
    "add": (False, False),
    "mul": (True, False),
    "mod-add": (False, True),
    "mod-mul": (True, True),
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
    """Why none is right, if none is: told by integers, as a share may be too small for a float."""
    if what.product:
        return "A*b + B*a0 is never" if not result.long and result.exact == 0 else None
    if dropped > p.bit_length():  # then A and B come to more than p, in any base
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
    """Up to this length, without those up to one digit less."""
    longer = shares(Dropped(dropped, True, base))
    shorter = shares(Dropped(dropped - 1, True, base)) if dropped > 1 else Share(Fraction(1))
    pairs = base**2
    return (Fraction(pairs, pairs - 1), longer), (Fraction(-1, pairs - 1), shorter)


SLICES: dict[str, Callable[[Shares, int, int], Parts]] = {"full": _full, "uniform": _uniform}


def _tried(right: Right, digits: int, length: int, slice: str, base: int) -> Predicted:
    count, of = tried(right, length, base, every=slice == "full")
    why = f"{count:,} of {of:,} pairs are the same without their digits above the {digits} lowest"
    return Predicted(length, why, ((Fraction(1), Share(Fraction(count, of))),))
