"""Exact distributions against enumeration of every problem, and against drawn ones."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.carries import consecutive_carries, longest_cascade
from tenfold.data.tasks.carry_levels import multiply
from tenfold.features.complexity.complexity import carries, cascades, levels

MEASURES = [(cascades, longest_cascade), (carries, consecutive_carries)]
ALL = [cascades, carries, levels]


def numbers(length, base, full):
    """Every number of at most, or exactly, so many digits, units first."""
    grid = np.array(list(itertools.product(range(base), repeat=length)), dtype=np.uint8)
    return grid[(grid[:, -1] > 0) | (length == 1)] if full else grid


def shares(runs, length):
    counts = np.bincount(runs, minlength=length + 1).tolist()
    return [Fraction(count, len(runs)) for count in counts]


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("base", "length"), [(2, 1), (2, 5), (3, 4), (4, 3), (10, 1), (10, 2)])
@pytest.mark.parametrize(("exactly", "counted"), MEASURES)
def test_every_sum_is_counted(exactly, counted, base, length, full):
    some = numbers(length, base, full)
    first, second = np.repeat(some, len(some), 0), np.tile(some, (len(some), 1))
    runs = counted(np.stack([first, second], 1), base)
    assert exactly(length, base, full=full) == shares(runs, length)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("base", "length"), [(2, 4), (3, 6), (10, 1), (10, 4), (16, 3)])
def test_every_product_is_counted(base, length, full):
    some = numbers(length, base, full)
    multipliers = np.arange(1, base, dtype=np.uint8)
    few = np.repeat(multipliers, len(some))[:, None]
    runs = multiply(few, np.tile(some, (base - 1, 1)), base).levels
    assert levels(length, base, full=full) == shares(runs, length)


@pytest.mark.parametrize(("exactly", "counted"), MEASURES)
@pytest.mark.parametrize("length", [5, 50])
def test_as_drawn(rng, exactly, counted, length):
    operands, _ = samplers.numbers(rng, 50_000, length, 2, 10)
    found = np.bincount(counted(operands), minlength=length + 1)
    for run, share in enumerate(exactly(length)):
        expected = 50_000 * float(share)
        assert abs(found[run] - expected) < 5 * max(expected, 1) ** 0.5


def test_the_published_numbers():
    """Figures 13 and 14: 0.998, about 8.3e-4, 0.998, 1.9e-3."""
    assert round(float(sum(cascades(50)[:5])), 3) == 0.998
    assert cascades(5)[4] == Fraction(855, 10**6)
    assert round(float(sum(levels(20)[:5])), 3) == 0.998
    assert levels(5)[4] == Fraction(19, 10**4)


def test_cascades_by_a_recurrence():
    """No cascade above c in n columns: T(n) = b^2 T(n-1) - b(b-1)/2 b^c T(n-1-c), the last c + 1 being the first of them."""
    base, length = 10, 30
    for most in range(length + 1):
        ways = []
        for n in range(length + 1):
            longer = 45 * base**most * ways[n - 1 - most] if n > most else 0
            ways.append(base**2 * ways[-1] - longer if n else 1)
        assert sum(cascades(length, most=most)) == Fraction(ways[length], base ** (2 * length))


@pytest.mark.parametrize("exactly", ALL)
@pytest.mark.parametrize("full", [False, True])
def test_whole_and_cut_off(exactly, full):
    whole = exactly(9, full=full)
    assert len(whole) == 10
    assert sum(whole) == 1
    assert exactly(9, full=full, most=3) == whole[:4]
    assert exactly(9, full=full, most=0) == whole[:1]
    assert exactly(9, full=full, most=50) == whole


@pytest.mark.parametrize("exactly", ALL)
@pytest.mark.parametrize("full", [False, True])
def test_floats_are_near(exactly, full):
    floats = exactly(12, full=full, exact=False)
    assert floats == pytest.approx([float(share) for share in exactly(12, full=full)], abs=1e-13)
    assert all(isinstance(share, float) for share in floats)


def test_thousands_of_digits():
    told = cascades(2000, most=8, exact=False)
    assert sum(told) == pytest.approx(float(sum(cascades(2000, most=8))), abs=1e-12)
    assert sum(told[:5]) < 0.95  # long cascades come with long sums


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"length": 0}, "length of 0 digits is too short"),
        ({"length": 3, "base": 1}, "base 1; the least is 2"),
        ({"length": 3, "most": -1}, "at most -1; the least is 0"),
    ],
)
@pytest.mark.parametrize("exactly", ALL)
def test_refused(exactly, options, told):
    with pytest.raises(TenfoldError, match=told):
        exactly(**options)
