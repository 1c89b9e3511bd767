import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import GrapeM, Rotary


@pytest.fixture
def pe():
    torch.manual_seed(0)
    pe = GrapeM(heads=3, head_size=6).double()
    with torch.no_grad():
        pe.log_rates.normal_()
    return pe


def test_by_loops(pe, normal):
    """Each pair as a complex number, turned by the place times the head's own frequency."""
    x, places = normal(2, 3, 4, 6), torch.tensor([[0, 3, 8, 1], [-1, 5, 5, 1_000_000]])
    at = Places(index=places)
    turned, keys = pe.rotate(x, x, at, at)
    assert torch.equal(turned, keys)
    for b, h, t, c in torch.cartesian_prod(*map(torch.arange, (2, 3, 4, 3))).tolist():
        angle = max(int(places[b, t]), 0) * math.exp(pe.log_rates[h, c].item())
        number = complex(x[b, h, t, c], x[b, h, t, c + 3]) * complex(math.cos(angle), math.sin(angle))  # fmt: skip
        assert_close(turned[b, h, t, c].item(), number.real)
        assert_close(turned[b, h, t, c + 3].item(), number.imag)


def test_it_is_the_matrix_exponential_of_a_skew_generator(pe, normal, line):
    """The paper's exp(i L): a sum of planes, each of rank 2, a b' - b a'."""
    x = normal(1, 3, 1, 6)
    turned, _ = pe.rotate(x, x, line(7), line(7))
    for h in range(3):
        generator = torch.zeros(6, 6, dtype=torch.float64)
        for c in range(3):
            a, b = torch.eye(6, dtype=torch.float64)[[c + 3, c]]
            plane = torch.outer(a, b) - torch.outer(b, a)
            generator += math.exp(pe.log_rates[h, c].item()) * plane
        expected = torch.linalg.matrix_exp(7 * generator) @ x[0, h, 0]
        assert_close(turned[0, h, 0].detach(), expected)


@pytest.mark.parametrize("size", [6, 7])
def test_it_starts_as_rotary(normal, size):
    q, at = normal(2, 3, 4, size), Places(index=torch.tensor([[0, 3, 8, 500]]))
    turned, _ = GrapeM(heads=3, head_size=size, base=50.0).double().rotate(q, q, at, at)
    expected, _ = Rotary(head_size=size, base=50.0).rotate(q, q, at, at)
    assert_close(turned, expected, atol=1e-4, rtol=1e-4)  # frequencies start in single precision


def test_only_differences_matter(pe, normal, line):
    q, k = normal(1, 3, 1, 6), normal(1, 3, 1, 6)
    products = []
    for query, key in ((3, 1), (1003, 1001), (4, 1)):
        a, b = pe.rotate(q, k, line(query), line(key))
        products.append((a * b).sum())
    assert_close(products[0], products[1])
    assert (products[0] - products[2]).abs() > 1e-3


def test_frequencies_are_learned_by_each_head(pe, normal, line):
    q, k = normal(1, 3, 1, 6), normal(1, 3, 1, 6)
    a, b = pe.rotate(q, k, line(5), line(2))
    (a * b).sum().backward()
    assert (pe.log_rates.grad != 0).all()


def test_a_head_of_one_component():
    with pytest.raises(
        TenfoldError, match="grape-m in heads of size 1; at least 2 components turn"
    ):
        GrapeM(heads=2, head_size=1)
