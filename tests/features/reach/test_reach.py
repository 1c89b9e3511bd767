"""Receptive fields against sums made term by term."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.encodings import (
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
from tenfold.encodings.decay_series import GEOMETRIC, POWER, TYPE_1, Series
from tenfold.features.reach.distance_profile import profile
from tenfold.features.reach.partial_sums import EXACT, growth, partial
from tenfold.features.reach.receptive_field import Reach, over_heads, reach, reaches
from tenfold.features.reach.stated_series import stated_series


def column(*values):
    return torch.tensor(values, dtype=torch.float64)[:, None]


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


@given(st.floats(-20, 0), st.floats(1e-6, 0.9))
def test_summed_and_closed_agree(log_slope, eps):
    """The closed form of a geometric series, and the same by terms, an integral and its remainder."""
    slope = column(2.0**log_slope)
    (closed,) = reach(Series(GEOMETRIC, (slope,)), eps)
    (summed,) = reach(Series(replace(GEOMETRIC, closed=None), (slope,)), eps)
    assert closed.low == closed.high == math.ceil(-math.log(eps) / float(slope))
    assert summed.low <= closed.low <= summed.high
    assert summed.high - summed.low <= 1 + 1e-3 / eps / float(slope) * 2e-7  # rounding alone


@given(st.floats(0.3, 4), st.floats(-7, 0), st.floats(0.001, 0.9))
def test_powers_by_loop(power, log_slope, eps):
    k = 2.0**log_slope
    terms = []
    while not terms or (terms[-1] > 1e-13 and len(terms) < 400_000):
        terms.append(math.exp(-((k * len(terms)) ** power)))
    if len(terms) == 400_000:
        return  # the loop cannot say
    (found,) = reach(Series(POWER, (column(k), column(power), column(1.0))), eps)
    expected = by_loop(terms.__getitem__, eps, math.fsum(terms))
    assert found.low <= expected <= found.high
    assert found.high - found.low <= 1


@pytest.mark.parametrize("start", [3, 50, 2000])
@pytest.mark.parametrize(
    "series",
    [
        Series(GEOMETRIC, (column(0.01),)),
        Series(TYPE_1, (column(0.01),)),  # from 3 and 50 on, it still bends both ways
        Series(POWER, (column(0.01), column(2.0), column(1.0))),
        Series(POWER, (column(0.01), column(0.5), column(2.0))),
    ],
)
def test_the_rest_lies_between_its_bounds(series, start):
    far = 1_000_000
    terms = series.log_b(torch.arange(start, far, dtype=torch.float64)).exp()
    rest = math.fsum(terms[0].tolist()) + float(series.tail(torch.tensor([far - 0.5]))[0, 0])
    low, high = (float(side) for side in series.rest(torch.tensor([float(start)]).double()))
    assert low <= rest <= high
    assert high - low <= 0.05 * rest


@pytest.mark.parametrize("start", [1.0, 40.0, 90.0, 300.0])
@pytest.mark.parametrize(
    "series",
    [
        Series(GEOMETRIC, (column(0.01),)),
        Series(TYPE_1, (column(0.01),)),
        Type2(heads=8).series(),
        Series(POWER, (column(0.01), column(4.0), column(1.0))),
        Series(POWER, (column(0.01), column(1.25), column(2.0))),
        Series(POWER, (column(0.01), column(0.5), column(2.0))),
    ],
)
def test_bends_are_the_variation_of_the_slope(series, start):
    """The integral of |b''|, summed in small steps."""
    x = torch.cat([torch.linspace(start, 20_000, 400_001), torch.logspace(4.31, 9, 100_000)])
    x = x.double().unique()
    b = series.log_b(x).exp()
    slope = b.diff(dim=1) / x.diff()
    variation = slope.diff(dim=1).abs().sum(1)
    bend = series.decay.bend(torch.tensor([start], dtype=torch.float64), *series.parameters)[:, 0]
    torch.testing.assert_close(bend, variation, rtol=0.03, atol=1e-12)


def test_many_shares_at_once_are_each_alone():
    shares = [0.5, 0.05, 1e-3, 1e-5]
    for series in (Type1(heads=8).series(), ALiBi(heads=3).series(), Power(heads=2).series()):
        assert reaches(series, shares) == [reach(series, eps) for eps in shares]
        assert reaches(series, shares, 100) == [reach(series, eps, 100) for eps in shares]


def test_slopes_down_to_a_millionth():
    slopes = column(*(2.0**-i for i in range(21)))
    found = reaches(Series(TYPE_1, (slopes,)), [0.05, 0.01])
    flattest = found[0][-1]  # 1 - (2/pi) atan(k j) = eps in the limit of small slopes
    expected = math.tan(math.pi / 2 * 0.95) * 2**20
    assert flattest.high - flattest.low <= 1
    assert abs(flattest.low - expected) < 100  # half a term of the sum, ten tokens and more here


def test_the_model_is_its_heads():
    fields = [Reach(9, 9), None, Reach(3, 3), Reach(5, 6)]
    assert over_heads(fields) == (Reach(3, 3), Reach(5, 6), None)


def test_within_a_billion_tokens():
    """Sums of 1/(1 + n/2) are harmonic numbers: 2 (H(N + 1) - 1) + ..., ln N + Euler's constant."""
    series = Inverse(heads=8).series()  # head 1: slope 1/2
    sums = partial(series, 10**9)
    euler = 0.5772156649015329
    harmonic = math.log(10**9 + 1) + euler + 0.5 / (10**9 + 1)
    expected = 2 * (harmonic - 1)  # the sum of 2 / (m + 1), m = 1..N
    assert float(sums.low[0, -1]) <= expected <= float(sums.high[0, -1])
    assert float(sums.high[0, -1] / sums.low[0, -1]) < 1.0001
    (field, *_) = reach(series, 0.5, within=10**9)
    middle = math.exp((expected / 2 / 2 + 1) - euler)  # where half of it is reached
    assert field.low <= middle <= field.high
    assert field.high / field.low < 1.001


def test_blocks_continue_terms():
    series = Type1(heads=8).series()
    whole = partial(series, 3 * EXACT)
    terms = series.log_b(torch.arange(3 * EXACT, dtype=torch.float64)).exp().sum(1)
    assert (whole.low[:, -1] <= terms * (1 + 1e-12)).all()
    assert (terms <= whole.high[:, -1] * (1 + 1e-12)).all()


def test_what_a_longer_text_adds():
    (flat,) = growth(NoPE().series(), 100, 250)
    assert flat == 1.5
    falls = growth(ALiBi(heads=8).series(), 512, 9216)
    assert falls[-1] == pytest.approx((1 - math.exp(-9216 / 256)) / (1 - math.exp(-512 / 256)) - 1)
    with pytest.raises(TenfoldError, match="from 9 to 8 tokens"):
        growth(NoPE().series(), 9, 8)


def test_wavy_and_too_long_is_one_line():
    with pytest.raises(TenfoldError, match="at most 4,194,304: a wavy bias is summed term by term"):
        reach(Sandwich(heads=2).series(), within=10**12)


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
        series = stated_series(pe)
        if series is not None:
            summed = series.log_b(torch.arange(64, dtype=torch.float64))
            summed = (summed - summed[:, :1]).expand(4, -1)
            drawn = profile(pe, heads=4, head_size=8, furthest=63).double()
            torch.testing.assert_close(summed, drawn, atol=1e-3, rtol=1e-4)
