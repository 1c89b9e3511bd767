"""Decays against plain mathematics: their formulas, their integrals, and which of them sum."""

import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.encodings import (
    BAM,
    T5,
    ALiBi,
    HardALiBi,
    Inverse,
    InverseLog,
    KerpleLog,
    KerplePower,
    NoPE,
    Power,
    Sandwich,
    Type1,
    Type2,
    Window,
)
from tenfold.encodings import decay_series as series
from tenfold.encodings.decay_series import Series, slopes

FORMULAS = {  # b(n) itself, with its parameters in the order of the decay
    "CONSTANT": lambda n, zero: 1.0,
    "GEOMETRIC": lambda n, k: math.exp(-k * n),
    "TYPE_1": lambda n, k: 1 / (1 + (k * n) ** 2),
    "TYPE_2": lambda n, k: math.exp(-(math.log(3 + k * n) ** 2)),
    "INVERSE": lambda n, k: 1 / (1 + k * n),
    "INVERSE_LOG": lambda n, k: 1 / ((3 + k * n) * math.log(3 + k * n)),
    "POWER": lambda n, k, p, c: math.exp(-c * (k * n) ** p),
    "KERPLE_LOG": lambda n, p, a: (1 + a * n) ** -p,
    "WINDOW": lambda n, w: float(n <= w),
    "BAM_PRIOR": lambda n, k, p: math.exp(-k * (n + 1e-5) ** p),
}
CONVERGENT = [
    ("GEOMETRIC", (1.0,)), ("GEOMETRIC", (2**-8,)),
    ("TYPE_1", (1.0,)), ("TYPE_1", (2**-8,)),
    ("TYPE_2", (1.0,)), ("TYPE_2", (2**-8,)),
    ("POWER", (0.5, 2.0, 1.0)), ("POWER", (2**-8, 0.5, 1.0)), ("POWER", (0.5, 1.25, 1.0)),
    ("POWER", (0.25, 0.75, 0.5)), ("POWER", (2**-4, 4.0, 1.0)), ("POWER", (1.0, 0.3, 0.02)),
    ("KERPLE_LOG", (1.5, 0.5)), ("KERPLE_LOG", (4.0, 0.01)),
    ("BAM_PRIOR", (1.0, 1.0)), ("BAM_PRIOR", (0.02, 0.6)), ("BAM_PRIOR", (0.001, 2.5)),
]  # fmt: skip
DIVERGENT = [
    ("CONSTANT", (0.0,)), ("INVERSE", (1.0,)), ("INVERSE", (2**-8,)),
    ("INVERSE_LOG", (1.0,)), ("INVERSE_LOG", (2**-8,)),
    ("KERPLE_LOG", (1.0, 0.5)), ("KERPLE_LOG", (0.01, 1.0)), ("WINDOW", (math.inf,)),
    ("BAM_PRIOR", (1.0, 0.0)),
]  # fmt: skip
WINDOWS = [("WINDOW", (0.0,)), ("WINDOW", (16.0,))]
PLACES = [0, 1, 2, 3, 10, 15, 16, 17, 100, 1000, 100_000]


def series_of(name, parameters):
    columns = (torch.tensor([[p]], dtype=torch.float64) for p in parameters)
    return Series(getattr(series, name), tuple(columns))


def distances(*n):
    return torch.tensor(n, dtype=torch.float64)


def integral(b, start, step=1 / 32, reach=4.7):
    """Of b from `start` on: a trapezoid in t, x = start + exp(pi/2 sinh t), whose ends fall off twice exponentially."""
    total = 0.0
    for m in range(-round(reach / step), round(reach / step) + 1):
        t = m * step
        x = math.exp(math.pi / 2 * math.sinh(t))
        total += step * b(start + x) * x * math.pi / 2 * math.cosh(t)
    return total


@pytest.mark.parametrize(("name", "parameters"), CONVERGENT + DIVERGENT + WINDOWS)
def test_formula(name, parameters):
    actual = series_of(name, parameters).log_b(distances(*PLACES)).double().exp()[0]
    expected = [FORMULAS[name](n, *parameters) for n in PLACES]
    assert_close(actual, distances(*expected))


@pytest.mark.parametrize(("name", "parameters"), CONVERGENT)
@pytest.mark.parametrize("start", [0, 1, 7.5, 300])
def test_tail_is_the_integral(name, parameters, start):
    expected = integral(lambda x: FORMULAS[name](x, *parameters), start)
    actual = float(series_of(name, parameters).tail(distances(start)))
    assert math.isclose(actual, expected, rel_tol=1e-9, abs_tol=1e-200)


@pytest.mark.parametrize(("name", "parameters"), CONVERGENT + WINDOWS)
def test_tail_falls_by_at_most_a_term_and_at_least_the_next(name, parameters):
    """The integral test, from which the bounds on sums follow: b(n + 1) <= tail(n) - tail(n + 1) <= b(n)."""
    one, n = series_of(name, parameters), torch.arange(200, dtype=torch.float64)
    b, tail = one.log_b(n).double().exp(), one.tail(n)
    fall, room = tail[:, :-1] - tail[:, 1:], 1e-12 * float(tail[0, 0])
    assert (b[:, 1:] <= fall + room).all()
    assert (fall <= b[:, :-1] + room).all()


@pytest.mark.parametrize(("name", "parameters"), CONVERGENT + DIVERGENT + WINDOWS)
def test_never_grows(name, parameters):
    one = series_of(name, parameters)
    log_b = one.log_b(torch.cat([torch.arange(500.0), 10 ** torch.arange(3.0, 9.0, 0.5)]).double())
    assert not one.decay.wavy
    assert (log_b[:, 1:] <= log_b[:, :-1]).all()


@pytest.mark.parametrize(("name", "parameters"), CONVERGENT + DIVERGENT + WINDOWS)
def test_converges(name, parameters):
    one = series_of(name, parameters)
    expected = (name, parameters) not in DIVERGENT
    assert one.converges == [expected]
    assert one.tail(distances(0, 50)).isfinite().all() == expected
    assert name == "WINDOW" or ("converges" if expected else "diverges") in one.decay.why


@pytest.mark.parametrize(("name", "parameters"), DIVERGENT[:7])
def test_divergent_sums_do_grow(name, parameters):
    """From 10^a to 10^(2a) the integral of 1/(n ln n), the slowest of them, still gains about ln 2."""
    b = FORMULAS[name]
    for low, high in ((8, 16), (16, 32)):
        step = (high - low) * math.log(10) / 1000
        logs = [low * math.log(10) + (m + 0.5) * step for m in range(1000)]
        gain = sum(step * math.exp(x) * b(math.exp(x), *parameters) for x in logs)
        assert gain > 0.6


def test_slow_powers_converge_too():
    """Kerple's lowest values, p = a = 0.01."""
    assert series_of("POWER", (1.0, 0.01, 0.01)).converges == [True]


def test_heads_have_their_own_parameters():
    two = Series(series.KERPLE_LOG, (distances(2, 0.5)[:, None], distances(1, 3)[:, None]))
    assert two.heads == 2
    assert two.converges == [True, False]
    assert_close(two.log_b(distances(0, 4)).exp(), torch.tensor([[1, 1 / 25], [1, 13**-0.5]]).double(), rtol=1e-6, atol=0)  # fmt: skip
    each = distances(4, 1)[:, None]  # distances of each head's own
    assert_close(two.log_b(each), torch.stack([two.log_b(distances(4))[0], two.log_b(distances(1))[1]]))  # fmt: skip


@pytest.mark.parametrize("heads", [1, 2, 4, 8, 16, 32])
def test_slopes_of_a_power_of_two(heads):
    expected = [2 ** (-8 * h / heads) for h in range(1, heads + 1)]
    assert_close(slopes(heads), torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("heads", [3, 5, 6, 7, 12, 20])
def test_slopes_of_other_numbers(heads):
    """Those of the power of two below, then the first, third, ... of the power of two above."""
    below = 2 ** int(math.log2(heads))
    expected = slopes(below).tolist() + slopes(2 * below).tolist()[::2][: heads - below]
    assert slopes(heads).tolist() == expected


FAR = [0, 1, 2, 5, 17, 300, 1_000_000]
BIASES = [
    ALiBi(4), Type1(4), Type2(4), Inverse(4), InverseLog(4), Power(4), Power(4, 2.0, 0.5),
    KerpleLog(4), KerplePower(4), Sandwich(4), T5(4), T5(4, ahead=False), BAM(4),
]  # fmt: skip


@pytest.mark.parametrize("pe", BIASES, ids=lambda pe: type(pe).__name__)
def test_an_encoding_adds_its_series(pe, line):
    """Also in single precision and a million places away."""
    log_b = pe.series().log_b(distances(*FAR))  # (H, N)
    bias = pe.bias(line(FAR[-1]), line(*(FAR[-1] - n for n in FAR)))[0, :, 0]
    assert bias.dtype == torch.float32
    assert bias.isfinite().all()
    assert_close(bias.double(), log_b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pe", [Window(16), Window(3, 0), HardALiBi(4)], ids=repr)
def test_a_window_shows_its_series(pe, line):
    log_b = pe.series().log_b(distances(*FAR))
    seen = pe.visible(line(FAR[-1]), line(*(FAR[-1] - n for n in FAR)))[0, :, 0]
    assert torch.equal(seen, log_b == 0)
    assert (log_b[~seen] == -math.inf).all()


def test_which_encodings_converge():
    """The table of the `extrapolation` paper."""
    actual = {
        type(pe): set(pe.series().converges) for pe in BIASES if not isinstance(pe, KerpleLog)
    }
    sums = {ALiBi, Type1, Type2, Power, KerplePower}
    assert actual == {kind: {kind in sums} for kind in actual}
    assert HardALiBi(4).series().converges == [True, True, False, False]
    assert Window(3).series().converges == [True]
    assert NoPE().series().converges == [False]


def test_wavy_decays_do_rise():
    """Of a decay that may rise, nothing is bounded by an integral."""
    n = torch.arange(500, dtype=torch.float64)
    for pe in (Sandwich(2, waves=2), T5(2)):
        assert pe.series().decay.wavy
        assert (pe.series().log_b(n).diff() > 0).any()
        assert not any(pe.series().converges)
