"""Asymptotic expansions: a formula for large n in powers of n, ln n and ln ln n.

    log(3 + n/4)  =  ln n - 1.386... + 12/n + O(1/n^2)

A term is a number and three exponents (a, b, c) for n^a (ln n)^b (ln ln n)^c. Tuples compare in the order of growth. An
expansion keeps its leading terms and the order of the rest. Numbers are exact fractions where possible, because whether p
equals 1 is decisive. For expressions that outgrow every power (exp(n)), only the sign is kept: a `Giant`. Expressions
outside of this scale (ln ln ln n), or that depend on a float that may be zero, are `Undecided`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Number = Fraction | float
Order = tuple[Number, Number, Number]

ZERO = Fraction(0)
ONE: Order = (ZERO, ZERO, ZERO)
N: Order = (Fraction(1), ZERO, ZERO)
LOG: Order = (ZERO, Fraction(1), ZERO)
LOG_LOG: Order = (ZERO, ZERO, Fraction(1))
NOTHING: Order = (Fraction(-1000), ZERO, ZERO)  # smaller than any relevant power
KEPT = 6  # number of leading terms
BITS = 256  # of an exact number; longer ones become floats
SURE = 1e-12  # a float that cancels to less than this relative size may be zero
NEAR = 1e-9  # a float this close to a decisive number may be that number


class Undecided(Exception):
    """The expansion does not decide the question. The message states the reason."""


@dataclass(frozen=True)
class Expansion:
    """Terms from the largest on, and the order of the rest. Without an order there is no rest."""

    terms: tuple[tuple[Order, Number], ...]
    rest: Order | None = None

    @property
    def lead(self) -> tuple[Order, Number]:
        if not self.terms or (self.rest is not None and self.terms[0][0] <= self.rest):
            raise Undecided("its leading term cancels")
        return self.terms[0]

    @property
    def constant(self) -> Number | None:
        """The value if it does not depend on n, otherwise None."""
        if self.rest is not None or any(order != ONE for order, _ in self.terms):
            return None
        return self.terms[0][1] if self.terms else ZERO


@dataclass(frozen=True)
class Giant(Expansion):
    """An expression whose size exceeds every power of n from some n on. Only its sign is known."""

    terms: tuple[tuple[Order, Number], ...] = ()
    sign: int = 1


def kept(terms: dict[Order, Number], rest: Order | None) -> Expansion:
    """Keep the leading terms. Terms that are dropped, or smaller than the rest, count as rest."""
    ordered = sorted(((o, c) for o, c in terms.items() if c != 0), reverse=True)
    if rest is not None:
        ordered = [(order, c) for order, c in ordered if order > rest]
    if len(ordered) > KEPT:
        rest = max(ordered[KEPT][0], rest) if rest is not None else ordered[KEPT][0]
    return Expansion(tuple(ordered[:KEPT]), rest)


class Expansions:
    """The algebra in which a formula becomes an expansion.

    >>> from tenfold.features.reach.bias_formula import Formula
    >>> value = Formula.read("-2*log(1 + n)").within(Expansions())
    >>> [(tuple(map(float, order)), float(c)) for order, c in value.terms][:2]  # -2 ln n - 2/n
    [((0.0, 1.0, 0.0), -2.0), ((-1.0, 0.0, 0.0), -2.0)]
    """

    def number(self, value: Number) -> Expansion:
        return Expansion(((ONE, value),) if value != 0 else ())

    def distance(self) -> Expansion:
        return Expansion(((N, Fraction(1)),))

    def apply(self, operation: str, *given: Expansion) -> Expansion:
        return (GIANTS if any(isinstance(x, Giant) for x in given) else OPERATIONS)[operation](
            *given
        )


def plus(x: Expansion, y: Expansion) -> Expansion:
    terms = dict(x.terms)
    for order, c in y.terms:
        terms[order] = _sum(terms.get(order, ZERO), c)
    return kept(terms, _larger(x.rest, y.rest))


def minus(x: Expansion, y: Expansion) -> Expansion:
    return plus(x, times(Expansion(((ONE, Fraction(-1)),)), y))


def times(x: Expansion, y: Expansion) -> Expansion:
    terms: dict[Order, Number] = {}
    for p, a in x.terms:
        for q, b in y.terms:
            order = _shifted(p, q)
            terms[order] = _sum(terms.get(order, ZERO), _product(a, b))
    rest = None
    for one, other in ((x, y), (y, x)):
        if other.rest is not None:
            largest = [order for order, _ in one.terms[:1]]
            largest += [one.rest] if one.rest is not None else []
            for order in largest:
                rest = _larger(rest, _shifted(order, other.rest))
    return kept(terms, rest)


def divided(x: Expansion, y: Expansion) -> Expansion:
    return times(x, to_number(y, Fraction(-1)))


def power(x: Expansion, y: Expansion) -> Expansion:
    exponent = y.constant
    return exponential(times(y, logarithm(x))) if exponent is None else to_number(x, exponent)


def to_number(x: Expansion, r: Number) -> Expansion:
    """x^r = lead^r (1 + u)^r, by the binomial series."""
    if r == 0:
        return Expansion(((ONE, Fraction(1)),))
    if not x.terms and x.rest is None:  # 0^r
        if r < 0:
            raise Undecided("it divides by zero")
        return x
    order, c = x.lead
    lead = Expansion(((_scaled(order, r), _power(c, r)),))
    weights: list[Number] = [Fraction(1)]
    for k in range(KEPT):
        weights.append(_short(weights[-1] * (r - k) / (k + 1)))
    return times(lead, _series(_ratio(x), weights))


def logarithm(x: Expansion) -> Expansion:
    """ln(lead) + ln(1 + u)."""
    (a, b, c), factor = x.lead
    if factor < 0:
        raise Undecided("it takes the logarithm of a negative number")
    if c != 0:
        raise Undecided("it holds ln ln ln n")
    terms: dict[Order, Number] = {LOG: a, LOG_LOG: b}
    if factor != 1:
        terms[ONE] = _checked(math.log, factor)
    signs = [ZERO, *(Fraction((-1) ** (k + 1), k) for k in range(1, KEPT + 1))]
    return plus(kept(terms, None), _series(_ratio(x), signs))


def exponential(x: Expansion) -> Expansion:
    """e^(c ln n + d ln ln n + constant + u). Faster decay than any power gives only a rest; faster growth gives a giant."""
    for order, _ in x.terms:
        apart(order)
    if x.terms and x.lead[0] > LOG:
        return Giant() if x.lead[1] > 0 else NEGLIGIBLE
    if x.rest is not None and x.rest >= ONE:
        raise Undecided("an exponent is not known well enough")
    if any(order > ONE and order not in (LOG, LOG_LOG) for order, _ in x.terms):
        raise Undecided("it grows like no power of n and its logarithm")
    by_order = dict(x.terms)
    factor = by_order.get(ONE, ZERO)
    scale: Order = (by_order.get(LOG, ZERO), by_order.get(LOG_LOG, ZERO), ZERO)
    lead = Expansion(((scale, Fraction(1) if factor == 0 else _checked(math.exp, factor)),))
    small = kept({order: c for order, c in x.terms if order < ONE}, x.rest)
    return times(lead, _series(small, [Fraction(1, math.factorial(k)) for k in range(KEPT + 1)]))


def size(x: Expansion) -> Expansion:
    if not x.terms and x.rest is None:
        return x
    return x if x.lead[1] > 0 else times(Expansion(((ONE, Fraction(-1)),)), x)


def chosen(sign: int) -> Callable[[Expansion, Expansion], Expansion]:
    """max (sign 1) or min (sign -1), evaluated for large n."""

    def choose(x: Expansion, y: Expansion) -> Expansion:
        apart = minus(x, y)
        if not apart.terms and apart.rest is None:
            return x
        return x if sign * apart.lead[1] > 0 else y

    return choose


OPERATIONS: dict[str, Callable[..., Expansion]] = {
    "+": plus, "-": minus, "*": times, "/": divided, "**": power, "log": logarithm, "exp": exponential,
    "sqrt": lambda x: to_number(x, Fraction(1, 2)), "abs": size, "min": chosen(-1), "max": chosen(1),
}  # fmt: skip


def apart(order: Order) -> None:
    """Raise `Undecided` if a float exponent is too close to a decisive value."""
    if any(isinstance(power, float) for power in order):
        for known in (ONE, LOG, LOG_LOG):
            if all(abs(float(a - b)) <= NEAR for a, b in zip(order, known, strict=True)):
                raise Undecided("an exponent that decides is not known exactly")


NEGLIGIBLE = Expansion((), NOTHING)


def _sign(x: Expansion) -> int:
    return x.sign if isinstance(x, Giant) else 1 if x.lead[1] > 0 else -1


def _giant_plus(x: Expansion, y: Expansion) -> Expansion:
    if isinstance(x, Giant) and isinstance(y, Giant) and x.sign != y.sign:
        raise Undecided("what outgrows every power cancels")
    return x if isinstance(x, Giant) else y


def _giant_times(x: Expansion, y: Expansion) -> Expansion:
    if any(each.constant == 0 for each in (x, y) if not isinstance(each, Giant)):
        return Expansion(())
    return Giant(sign=_sign(x) * _sign(y))


def _giant_divided(x: Expansion, y: Expansion) -> Expansion:
    if not isinstance(y, Giant):
        return _giant_times(x, to_number(y, Fraction(-1)))
    if isinstance(x, Giant):
        raise Undecided("it divides what outgrows every power by another such")
    return NEGLIGIBLE


def _giant_power(x: Expansion, y: Expansion) -> Expansion:
    exponent = None if isinstance(y, Giant) else y.constant
    if exponent is None:
        raise Undecided("an exponent depends on n")
    if exponent == 0:
        return Expansion(((ONE, Fraction(1)),))
    if exponent < 0:
        return NEGLIGIBLE
    if _sign(x) < 0 and not (isinstance(exponent, Fraction) and exponent.denominator == 1):
        raise Undecided("it takes a root of a negative number")
    return Giant(sign=_sign(x) ** int(exponent) if _sign(x) < 0 else 1)


def _giant_logarithm(_x: Expansion) -> Expansion:
    raise Undecided("it takes the logarithm of what outgrows every power")


def _giant_chosen(sign: int) -> Callable[[Expansion, Expansion], Expansion]:
    """A positive giant is the larger one. Two giants of the same sign cannot be compared, but their sign is known."""

    def choose(x: Expansion, y: Expansion) -> Expansion:
        first, second = (x, y) if isinstance(x, Giant) else (y, x)
        return first if sign * _sign(first) > 0 else second

    return choose


GIANTS: dict[str, Callable[..., Expansion]] = {
    "+": _giant_plus, "-": lambda x, y: _giant_plus(x, _negated(y)), "*": _giant_times, "/": _giant_divided,
    "**": _giant_power, "log": _giant_logarithm, "exp": lambda x: x if x.sign > 0 else NEGLIGIBLE,
    "sqrt": lambda x: _giant_power(x, Expansion(((ONE, Fraction(1, 2)),))), "abs": lambda _: Giant(),
    "min": _giant_chosen(-1), "max": _giant_chosen(1),
}  # fmt: skip


def _negated(x: Expansion) -> Expansion:
    return Giant(sign=-x.sign) if isinstance(x, Giant) else minus(Expansion(()), x)


def _ratio(x: Expansion) -> Expansion:
    """u, where x = lead (1 + u): smaller than 1."""
    order, c = x.lead
    inverse = Expansion(((_scaled(order, -1), _short(1 / c)),))
    return times(inverse, Expansion(x.terms[1:], x.rest))


def _series(u: Expansion, weights: Sequence[Number]) -> Expansion:
    """The sum of weights[k] u^k, with the order of the first omitted power."""
    total = Expansion(((ONE, weights[0]),) if weights[0] != 0 else ())
    if not u.terms and u.rest is None:
        return total
    largest = u.terms[0][0] if u.terms else u.rest
    assert largest is not None
    if largest >= ONE:
        raise Undecided("an expansion does not get smaller")
    raised = Expansion(((ONE, Fraction(1)),))
    for weight in weights[1:]:
        raised = times(raised, u)
        if weight != 0:
            total = plus(total, times(Expansion(((ONE, weight),)), raised))
    return kept(dict(total.terms), _larger(total.rest, _scaled(largest, len(weights))))


def _sum(a: Number, b: Number) -> Number:
    total = _short(a + b)
    if isinstance(total, float) and a != 0 and b != 0 and abs(total) <= SURE * abs(float(a)):
        raise Undecided("two numbers nearly cancel")
    return total


def _product(a: Number, b: Number) -> Number:
    product = _short(a * b)
    if (
        product == 0 and a != 0 and b != 0
    ):  # of floats: it is not zero, but smaller than any of them
        raise Undecided("a number leaves what floats can hold")
    return product


def _power(c: Number, r: Number) -> Number:
    if isinstance(r, Fraction) and r.denominator == 1 and abs(r) <= 64 and isinstance(c, Fraction):
        return _short(c ** int(r))
    if c < 0 and not (isinstance(r, Fraction) and r.denominator == 1):
        raise Undecided("it takes a root of a negative number")
    value = _checked(lambda x: x ** (int(r) if x < 0 else float(r)), c)
    return Fraction(1) if c == 1 else value


def _checked(function: Callable[[float], float], x: Number) -> float:
    try:
        value = function(float(x))
    except (OverflowError, ZeroDivisionError, ValueError):
        raise Undecided("a number leaves what floats can hold") from None
    if not math.isfinite(value) or value == 0 != x:
        raise Undecided("a number leaves what floats can hold")
    return value


def _short(x: Number) -> Number:
    """The number, exact as long as its representation is short."""
    if isinstance(x, Fraction):
        if x.numerator.bit_length() + x.denominator.bit_length() > BITS:
            return _checked(float, x)
        return x
    return _checked(float, x)


def _shifted(p: Order, q: Order) -> Order:
    return (p[0] + q[0], p[1] + q[1], p[2] + q[2])


def _scaled(p: Order, r: Number) -> Order:
    return (p[0] * r, p[1] * r, p[2] * r)


def _larger(p: Order | None, q: Order | None) -> Order | None:
    return q if p is None else p if q is None else max(p, q)
