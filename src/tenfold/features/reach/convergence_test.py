"""Decide from the growth of L whether the sum of e^L(n) converges, by comparison or by the integral test.

L ~ -c n               geometric         L ~ -p ln n                  a p-series
L ~ -(ln n)^2          faster than any   L ~ -ln n - q ln ln n        the integral test: q > 1
L bounded below        terms do not go to zero
"""

from __future__ import annotations

import math

import numpy as np

from tenfold.encodings.decay_series import SeriesVerdict, beside_one
from tenfold.features.reach.asymptotics import (
    LOG,
    LOG_LOG,
    NEAR,
    ONE,
    Expansion,
    Expansions,
    Giant,
    N,
    Number,
    Order,
    Undecided,
    apart,
)
from tenfold.features.reach.bias_formula import Floats, Formula

SLACK = 1.1  # omitted terms may change the sum beyond by this factor
FALLS = ", though it falls over practical ranges"


def decide(formula: Formula) -> SeriesVerdict:
    """The verdict on a formula with all its parameters given.

    >>> for text in (
    ...     "-2*log(1+n)",
    ...     "-log(1+n)",
    ...     "-sqrt(n)",
    ...     "1/(1+n)",
    ...     "-log(3+n)-2*log(log(3+n))",
    ... ):
    ...     print(decide(Formula.read(text)).why)
    converges: comparison with a p-series, p = 2
    diverges: comparison with a p-series, p = 1, though it falls over practical ranges
    converges: comparison with a p-series, below 1/n^2 from some n on, since log b(n) ~ -n^0.5
    diverges: the terms do not go to zero, log b(n) tends to 0
    converges: by the integral test, b(n) ~ 1/(n (ln n)^2)
    """
    try:
        return _judged(formula.within(Expansions()))
    except Undecided as reason:
        return SeriesVerdict(None, f"undecided: {reason}; no analysis of this form")


def _judged(logarithm: Expansion) -> SeriesVerdict:
    if isinstance(logarithm, Giant):
        if logarithm.sign > 0:
            return SeriesVerdict(False, "diverges: the terms grow, log b(n) above every power of n")
        reason = "comparison with a geometric series, log b(n) falls faster than any power of n"
        return SeriesVerdict(True, f"converges: {reason}")
    for order, _ in logarithm.terms:
        apart(order)
    terms = [(order, c) for order, c in logarithm.terms if order > ONE]
    rest = logarithm.rest
    if not terms:
        _need(rest is None or rest <= ONE)
        limit = dict(logarithm.terms).get(ONE, 0)
        reason = f"tends to {float(limit):.4g}" if rest is None or rest < ONE else "is bounded"
        return SeriesVerdict(False, f"diverges: the terms do not go to zero, log b(n) {reason}")
    order, c = terms[0]
    if c > 0:
        return SeriesVerdict(False, f"diverges: the terms grow, log b(n) ~ {_term(order, c)}")
    if order == N:
        return SeriesVerdict(
            True, f"converges: comparison with a geometric series, {_as(order, c)}"
        )
    if order > LOG:
        below = "comparison with a p-series, below 1/n^2 from some n on, since"
        return SeriesVerdict(True, f"converges: {below} {_as(order, c)}")
    if order < LOG:
        return SeriesVerdict(
            False, f"diverges: it falls more slowly than 1/n, {_as(order, c)}{FALLS}"
        )
    p = -c
    if _exact(p) != 1:
        reason = f"comparison with a p-series, p = {beside_one(p)}"
        return SeriesVerdict(
            p > 1, f"converges: {reason}" if p > 1 else f"diverges: {reason}{FALLS}"
        )
    return _beside_harmonic(terms[1:], rest)


def _beside_harmonic(terms: list[tuple[Order, Number]], rest: Order | None) -> SeriesVerdict:
    """The case L = -ln n + terms. With u = ln n, the integral is that of e^terms, with terms in u and ln u."""
    harmonic = f"diverges: comparison with a p-series, p = 1{FALLS}"
    if not terms:
        _need(rest is None or rest <= ONE)
        return SeriesVerdict(False, harmonic)
    order, c = terms[0]
    if order > LOG_LOG:
        reason = f"by the integral test, log b(n) ~ -ln n {'+' if c > 0 else '-'} {_term(order, c if c > 0 else -c)}"
        return SeriesVerdict(
            c < 0, f"converges: {reason}" if c < 0 else f"diverges: {reason}{FALLS}"
        )
    if order < LOG_LOG or c > 0:
        return SeriesVerdict(False, harmonic)
    q = -c
    if _exact(q) == 1:
        _need(len(terms) == 1 and (rest is None or rest <= ONE))
    reason = f"by the integral test, b(n) ~ 1/(n (ln n){'' if q == 1 else f'^{beside_one(q)}'})"
    return SeriesVerdict(q > 1, f"converges: {reason}" if q > 1 else f"diverges: {reason}{FALLS}")


def beyond(formula: Formula, x: float) -> tuple[float, float]:
    """Bounds of the sum from a large x on, as multiples of x b(x), up to the factor `SLACK`.

    Let u = ln n and L(u) the leading terms. If -L' stays above s > 1, the upper bound is 1 / (s - 1), as for a p-series.
    If (-L' - 1) u stays above r > 1, it is u / (r - 1), as for 1 / (n (ln n)^r). Lower bounds are the same expressions
    with upper bounds of s and r. If neither is known, there is no bound.

    >>> low, high = beyond(Formula.read("-log(3+n)-1.1*log(log(3+n))"), 1e300)  # 10 ln x
    >>> round(low), round(high)
    (6280, 7599)
    """
    try:
        expansion = formula.within(Expansions())
    except Undecided:
        return 0.0, math.inf
    if isinstance(expansion, Giant) or (expansion.rest is not None and expansion.rest >= ONE):
        return 0.0, math.inf
    terms = dict(expansion.terms)
    terms[LOG] = terms.get(LOG, 0) + 1  # of L + u, exactly
    u = np.geomspace(math.log(x), 1e300, 3000)
    with np.errstate(all="ignore"):  # powers of n overflow
        over = -sum(_slope(order, float(c), u) for order, c in terms.items())
        ends = [
            (scale, np.nanmin(each), np.nanmax(each))
            for scale, each in ((1.0, over), (u[0], over * u - 1))
        ]
    least = max(scale / float(high) if high > 0 else 0.0 for scale, _, high in ends)
    most = min(scale / float(low) if low > 0 else math.inf for scale, low, _ in ends)
    return least / SLACK, most * SLACK


def _slope(order: Order, c: float, u: Floats) -> Floats:
    """d/du of c e^(a u) u^b (ln u)^d, u = ln n."""
    a, b, d = map(float, order)
    return c * np.exp(a * u) * u**b * np.log(u) ** d * (a + b / u + d / (u * np.log(u)))


def _need(known: bool) -> None:
    if not known:
        raise Undecided("terms that would decide are not known")


def _exact(x: Number) -> Number:
    """Raise `Undecided` for a float that is too close to 1: it may be 1."""
    if isinstance(x, float) and math.isclose(x, 1, rel_tol=NEAR):
        raise Undecided("a number that decides is too near to 1")
    return x


def _as(order: Order, c: Number) -> str:
    return f"log b(n) ~ {_term(order, c)}"


def _term(order: Order, c: Number) -> str:
    """
    >>> _term((1.0, 0.5, 0.0), -2.0)
    '-2 n (ln n)^0.5'
    """
    names = ("n", "ln n", "ln ln n")
    parts = [
        (f"({name})" if " " in name and power != 1 else name)
        + ("" if power == 1 else f"^{float(power):.6g}")
        for name, power in zip(names, order, strict=True)
        if power != 0
    ]
    factor = f"{float(c):.6g}"
    sign = {"1": [], "-1": ["-"]}.get(factor, [factor])
    text = " ".join([*sign, *parts])
    return text.replace("- ", "-", 1)
