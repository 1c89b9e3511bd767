import torch
from torch.testing import assert_close

from tenfold.encodings import KerplePower


def lively(pe, p, a):
    with torch.no_grad():
        pe.p.copy_(torch.tensor(p))
        pe.a.copy_(torch.tensor(a))
    return pe.double().requires_grad_()


def test_by_loops(places, by_loops, axis):
    pe = lively(KerplePower(heads=4, axis=axis), [0.1, 0.5, 1.0, 2.0], [0.02, 3.0, 0.7, 0.01])
    p, a = pe.p.tolist(), pe.a.tolist()
    a[3] = max(a[3], 0.01)  # the nearest single, 0.0099..., is below the bound
    expected = by_loops(lambda h, i, j: -a[h - 1] * abs(i - j) ** p[h - 1])
    assert_close(pe.bias(*places), expected)


def test_beyond_the_bounds_it_is_at_the_bounds(line):
    """0.01 <= p <= 2 and 0.01 <= a, whatever an optimiser does to them."""
    pe = lively(KerplePower(heads=3), [-1.0, 3.0, 1.0], [1.0, 1.0, -4.0])
    expected = [-(7**0.01), -(7.0**2), -0.01 * 7]
    assert_close(pe.bias(line(9), line(2)).flatten(), torch.tensor(expected, dtype=torch.float64))


def test_beyond_the_bounds_it_can_come_back(line):
    """The gradient is that at the bound: -a n^p ln n for p, -n^p for a."""
    pe = lively(KerplePower(heads=3), [-1.0, 3.0, 1.0], [1.0, 1.0, -4.0])
    n, distance = torch.tensor(5.0, dtype=torch.float64), line(5)
    pe.bias(distance, line(0)).sum().backward()
    p = torch.tensor([0.01, 2.0, 1.0], dtype=torch.float64)
    a = torch.tensor([1.0, 1.0, 0.01], dtype=torch.float64)
    assert_close(pe.p.grad, -a * n**p * n.log())
    assert_close(pe.a.grad, -(n**p))


def test_gradient_is_finite_at_no_distance(line):
    pe, at = lively(KerplePower(heads=2), [0.5, 0.0], [1.0, 0.0]), line(0, 1, -1)
    pe.bias(at, at).sum().backward()
    assert pe.p.grad.isfinite().all()
    assert pe.a.grad.isfinite().all()


def test_first_values_are_the_paper_s():
    """p ~ U(0, 2), a ~ U(0, 1)."""
    torch.manual_seed(0)
    pe = KerplePower(heads=2000)
    assert 1.98 < pe.p.max() < 2
    assert 0.99 < pe.a.max() < 1
    assert min(pe.p.min(), pe.a.min()) >= 0
