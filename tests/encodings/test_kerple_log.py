import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.encodings import KerpleLog

P = [0.3, 1.0, 1.7, 5.0]
A = [0.02, 0.5, 1.0, 30.0]


@pytest.fixture
def pe(axis):
    return lively(KerpleLog(heads=4, axis=axis), P, A)


def lively(pe, p, a):
    with torch.no_grad():
        pe.p.copy_(torch.tensor(p))
        pe.a.copy_(torch.tensor(a))
    return pe.double().requires_grad_()


def test_by_loops(pe, places, by_loops):
    p, a = pe.p.tolist(), pe.a.tolist()
    expected = by_loops(lambda h, i, j: -p[h - 1] * math.log(1 + a[h - 1] * abs(i - j)))
    assert_close(pe.bias(*places), expected)


def test_beyond_the_bound_it_is_at_the_bound(line):
    """p and a are at least 0.01, whatever an optimiser does to them."""
    pe = lively(KerpleLog(heads=4), [-1.0, 0.0, 1.0, -20.0], [1.0, -3.0, 0.0, -0.5])
    bounded = zip((0.01, 0.01, 1.0, 0.01), (1.0, 0.01, 0.01, 0.01), strict=True)
    expected = [-p * math.log(1 + a * 7) for p, a in bounded]
    assert_close(pe.bias(line(9), line(2)).flatten(), torch.tensor(expected, dtype=torch.float64))


def test_beyond_the_bound_it_can_come_back(line):
    """The gradient is that at the bound: -ln(1 + a n) for p, -p n / (1 + a n) for a."""
    pe = lively(KerpleLog(heads=2), [-1.0, 2.0], [1.0, -1.0])
    pe.bias(line(5), line(0)).sum().backward()
    for actual, expected in (
        (pe.p.grad, [-math.log(1 + 1.0 * 5), -math.log(1 + 0.01 * 5)]),
        (pe.a.grad, [-0.01 * 5 / (1 + 1.0 * 5), -2.0 * 5 / (1 + 0.01 * 5)]),
    ):
        assert_close(actual, torch.tensor(expected, dtype=torch.float64))


def test_first_values_are_the_paper_s():
    """p ~ U(0, 2), a ~ U(0, 1)."""
    torch.manual_seed(0)
    pe = KerpleLog(heads=2000)
    for parameter, high in ((pe.p, 2), (pe.a, 1)):
        assert 0 <= parameter.min() < 0.01 * high
        assert 0.99 * high < parameter.max() < high
        assert abs(parameter.mean() - high / 2) < 0.03 * high
