"""How reach composes over layers, against convolutions made by plain loops and by chance."""

import math

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.encodings import ALiBi, Inverse, Type1, Window
from tenfold.encodings.decay_series import Series
from tenfold.features.reach.bias_tables import tabled
from tenfold.features.reach.receptive_field import reach
from tenfold.features.reach.series_from_formula import written
from tenfold.features.reach.stacked_reach import deep


def by_loop(weights, layers, eps):
    """The distribution of a sum of distances, one layer after another."""
    total = sum(weights)
    shares = [w / total for w in weights]
    spread = [1.0]
    for _ in range(layers):
        longer = [0.0] * (len(spread) + len(shares) - 1)
        for i, a in enumerate(spread):
            for j, b in enumerate(shares):
                longer[i + j] += a * b
        spread = longer
    held = 0.0
    for j, share in enumerate(spread):
        held += share
        if held > 1 - eps:
            return j + 1
    raise AssertionError


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
@pytest.mark.parametrize("make", [ALiBi, Inverse])
def test_by_loop(make, layers):
    series = make(heads=4).series()
    weights = series.log_b(torch.arange(40, dtype=torch.float64)).exp().tolist()
    for found, row in zip(deep(series, layers, 0.1, within=40), weights, strict=True):
        assert found.field.low == found.field.high == by_loop(row, layers, 0.1)


def test_one_layer_is_one_layer():
    for series in (ALiBi(heads=8).series(), Type1(heads=8).series(), Window(behind=9).series()):
        assert [each.field for each in deep(series, 1)] == reach(series)


def test_geometric_steps_are_negative_binomial():
    """Of slopes far too small for single bins: the sum of L geometric distances, in the limit a gamma distribution."""
    (found,) = deep(written("-k*n", {"k": [2**-20]}), 6)
    low, high = 0.0, 100.0
    for _ in range(100):  # where the upper tail e^-x sum x^i / i! is eps
        x = (low + high) / 2
        tail = math.exp(-x) * sum(x**i / math.factorial(i) for i in range(6))
        low, high = (x, high) if tail > 0.05 else (low, x)
    assert found.field.low <= low * 2**20 + 10
    assert low * 2**20 - 10 <= found.field.high
    assert found.field.high / found.field.low < 1.001
    assert found.at_least <= found.field.low <= found.at_most


def test_heavy_tails_outrun_the_rule_of_thumb():
    light, heavy = deep(ALiBi(heads=8).series(), 24)[0], deep(Type1(heads=8).series(), 24)[0]
    assert light.field.high < light.thumb
    assert heavy.field.low > heavy.thumb
    for each in (light, heavy):
        assert each.at_least <= each.field.low <= each.field.high <= each.at_most


def test_no_reach_no_depth():
    assert deep(Inverse(heads=2).series(), 4) == [None, None]
    assert deep(tabled(torch.zeros(1, 9)), 4) == [None]
    alone = Series(ALiBi(heads=1).series().decay, ALiBi(heads=1).series().parameters)
    for layers in (0, 1001):
        with pytest.raises(TenfoldError, match="layers; 1 to 1000"):
            deep(alone, layers)
    with pytest.raises(TenfoldError, match="over layers; at least"):
        deep(alone, 2, 1e-12)
