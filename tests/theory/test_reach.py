"""Receptive fields against sums made term by term."""

import math

import pytest
import torch

from tenfold.errors import TenfoldError
from tenfold.pe import (
    ENCODINGS,
    SIZES,
    ALiBi,
    HardALiBi,
    Inverse,
    KerpleLog,
    NoPE,
    Power,
    Sandwich,
    Type1,
    Type2,
    Window,
)
from tenfold.registry import Spec
from tenfold.theory import Reach, profile, reach


def by_loop(weight, eps, whole, most=10**6):
    """The smallest j with b(0) + ... + b(j-1) > (1 - eps) B."""
    total = 0.0
    for j in range(most):
        if total > (1 - eps) * whole:
            return j
        total += weight(j)
    raise AssertionError("not within reach of the loop")


@pytest.mark.parametrize("eps", [0.5, 0.05, 1e-3, 1e-6])
@pytest.mark.parametrize("heads", [1, 4, 8, 12])
def test_alibi_has_a_closed_form(eps, heads):
    pe = ALiBi(heads=heads)
    for slope, found in zip(pe.slopes.tolist(), reach(pe.series(), eps), strict=True):
        closed = math.floor(-math.log(eps) / slope) + 1
        assert found in (Reach(closed, closed), Reach(closed - 1, closed - 1))
        assert found.low == math.ceil(-math.log(eps) / slope)


@pytest.mark.parametrize("eps", [0.5, 0.05, 0.01])
@pytest.mark.parametrize(
    ("make", "weight"),
    [
        (Type1, lambda n, k: 1 / (1 + (k * n) ** 2)),
        (Type2, lambda n, k: math.exp(-(math.log(3 + k * n) ** 2))),
        (lambda heads: Power(heads=heads, power=2.0), lambda n, k: math.exp(-((k * n) ** 2))),
        (
            lambda heads: Power(heads=heads, power=0.75, factor=0.5),
            lambda n, k: math.exp(-0.5 * (k * n) ** 0.75),
        ),
    ],
)
def test_by_loop(make, weight, eps):
    pe, far = (
        make(heads=4),
        10**6,
    )  # the rest is bounded by an integral, here taken after a million terms
    rest = pe.series().tail(torch.tensor([float(far)], dtype=torch.float64))[:, 0].tolist()
    heads = zip(pe.slopes.tolist(), rest, reach(pe.series(), eps), strict=True)
    for slope, beyond, found in heads:
        terms = [weight(n, slope) for n in range(far)]
        whole = sum(terms) + beyond
        assert found.low <= by_loop(terms.__getitem__, eps, whole) <= found.high
        assert found.high - found.low <= 1e-4 * found.high


def test_far_beyond_what_can_be_summed():
    """b(n) = (1 + n)^-p: the sum from j on is a zeta function, whose integrals bound it at any j."""
    pe = KerpleLog(heads=2)
    with torch.no_grad():
        pe.p.copy_(torch.tensor([1.5, 1.01]))
        pe.a.fill_(1.0)
    near, far = reach(pe.series(), 1e-4)
    zeta = 2.612375348685488  # of 3/2
    expected = (2 / (1e-4 * zeta)) ** 2  # where the integral 2 / sqrt(1 + j) is eps zeta
    assert near.low <= expected * 1.001
    assert near.high >= expected * 0.999
    assert near.high / near.low < 1.001
    assert far.high is None
    assert str(far).startswith("> ")


@pytest.mark.parametrize("make", [Inverse, Sandwich, lambda heads: NoPE()])
def test_what_diverges_has_no_reach_but_within_a_length(make):
    series = make(heads=4).series()
    assert set(reach(series)) == {None}
    found = reach(series, 0.1, within=50)
    for head, weights in enumerate(series.log_b(torch.arange(50.0).double()).exp().tolist()):
        assert found[head].low == by_loop(lambda n, w=weights: w[n], 0.1, sum(weights), 51)


def test_windows_hold_what_they_hold():
    assert reach(Window(behind=9).series(), 0.05) == [Reach(10, 10)]
    (tie,) = reach(Window(behind=99).series(), 0.1)  # just 90 of 100 are not more than 90%
    assert tie.low <= 91 <= tie.high
    assert reach(HardALiBi(heads=4, windowed=2).series()) == [Reach(1, 1), Reach(2, 2), None, None]


@pytest.mark.parametrize("eps", [0.0, 1.0, -0.1, 2.0])
def test_no_share(eps):
    with pytest.raises(TenfoldError, match="above 0 and below 1"):
        reach(ALiBi(heads=2).series(), eps)


def test_no_tokens():
    with pytest.raises(TenfoldError, match="within 0 tokens; a whole number, at least 1"):
        reach(ALiBi(heads=2).series(), within=0)


@pytest.mark.parametrize("name", ENCODINGS.names())
def test_a_series_is_what_the_bias_adds(name):
    """What theory sums is what attention adds and hides."""
    for options in ENCODINGS[name].examples(64):
        pe = ENCODINGS.factory(Spec(name=name, options=options), SIZES)(
            width=32, heads=4, head_size=8
        )
        series = pe.series()
        if series is not None:
            summed = series.log_b(torch.arange(64, dtype=torch.float64))
            summed = (summed - summed[:, :1]).expand(4, -1)
            drawn = profile(pe, heads=4, head_size=8, furthest=63).double()
            torch.testing.assert_close(summed, drawn, atol=1e-3, rtol=1e-4)
