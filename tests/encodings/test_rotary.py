import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Rotary


def turned_by_loops(x, places, turned, base, frequencies=None):
    """Each pair (c, c + turned / 2) as a complex number, times e^(i angle); `frequencies` of them, if given."""
    out = x.clone()
    for b, h, t in [
        (b, h, t) for b in range(len(x)) for h in range(x.shape[1]) for t in range(x.shape[2])
    ]:
        for c in range(turned // 2 if frequencies is None else frequencies):
            angle = max(int(places[b, t]), 0) / base ** (2 * c / turned)
            number = complex(x[b, h, t, c], x[b, h, t, c + turned // 2])
            number *= complex(math.cos(angle), math.sin(angle))
            out[b, h, t, c], out[b, h, t, c + turned // 2] = number.real, number.imag
    return out


@pytest.mark.parametrize(("share", "turned"), [(1.0, 6), (0.5, 2), (0.7, 4)])
def test_by_loops(normal, share, turned):
    pe = Rotary(head_size=6, base=50.0, share=share)
    q, k = normal(2, 3, 4, 6), normal(2, 3, 5, 6)
    q_at = torch.tensor([[0, 3, 8, 1], [-1, -1, 5, 1_000_000]])
    k_at = torch.tensor([[0, 1, 2, 3, 4], [7, -1, 7, 0, 100]])
    new_q, new_k = pe.rotate(q, k, Places(index=q_at), Places(index=k_at))
    assert_close(new_q, turned_by_loops(q, q_at, turned, 50.0))
    assert_close(new_k, turned_by_loops(k, k_at, turned, 50.0))


def test_float32_is_exact_at_long_range(normal, line):
    """Angles are made in float64: a million places away they are as right as here."""
    q, at = normal(1, 1, 1, 8), line(1_000_000)
    wide, _ = Rotary(head_size=8).rotate(q, q, at, at)
    narrow, _ = Rotary(head_size=8).rotate(q.float(), q.float(), at, at)
    assert narrow.dtype == torch.float32
    assert_close(narrow.double(), wide, rtol=0, atol=1e-6)


def test_only_differences_matter(normal, line):
    q, k, pe = normal(1, 1, 1, 8), normal(1, 1, 1, 8), Rotary(head_size=8)
    products = []
    for move in (0, 5, 1000):
        a, b = pe.rotate(q, k, line(3 + move), line(1 + move))
        products.append((a * b).sum())
    assert_close(products[0], products[1])
    assert_close(products[0], products[2])
    a, b = pe.rotate(q, k, line(4), line(1))
    assert (products[0] - (a * b).sum()).abs() > 1e-3


@pytest.mark.parametrize(("p", "frequencies"), [(0.75, 3), (0.5, 2), (0.3, 1), (1.0, 4)])
def test_p_rope_leaves_the_lowest_frequencies(normal, p, frequencies):
    pe = Rotary(head_size=8, base=50.0, p=p)
    q, k = normal(2, 3, 4, 8), normal(2, 3, 2, 8)
    q_at = torch.tensor([[0, 3, 8, 1], [-1, 5, 5, 1_000_000]])
    k_at = torch.tensor([[0, 1], [7, -1]])
    new_q, new_k = pe.rotate(q, k, Places(index=q_at), Places(index=k_at))
    assert_close(new_q, turned_by_loops(q, q_at, 8, 50.0, frequencies))
    assert_close(new_k, turned_by_loops(k, k_at, 8, 50.0, frequencies))


@pytest.mark.parametrize("p", [0.0, 0.2, -0.5, 1.5])
def test_no_frequency_turns(p):
    with pytest.raises(TenfoldError, match=f"p is {p}, the share of 4 frequencies"):
        Rotary(head_size=8, p=p)


@pytest.mark.parametrize("trained", [10, 60, 500, 100_000])
def test_hope_turns_what_completes_a_turn_in_training(normal, trained):
    pe = Rotary(head_size=8, base=500.0, trained=trained)
    turning = [c for c in range(4) if 2 * math.pi * 500.0 ** (2 * c / 8) <= trained]
    assert len(turning) == {10: 1, 60: 2, 500: 3, 100_000: 4}[trained]
    q, k = normal(2, 3, 4, 8), normal(2, 3, 2, 8)
    q_at = torch.tensor([[0, 3, 8, 1], [-1, 5, 5, 1_000_000]])
    k_at = torch.tensor([[0, 1], [7, -1]])
    new_q, new_k = pe.rotate(q, k, Places(index=q_at), Places(index=k_at))
    assert_close(new_q, turned_by_loops(q, q_at, 8, 500.0, len(turning)))
    assert_close(new_k, turned_by_loops(k, k_at, 8, 500.0, len(turning)))


def test_hope_meets_no_new_angle_on_longer_inputs():
    """Of every pair that turns, differences within the trained length have already met all angles."""
    rates = Rotary(head_size=16, trained=64).rates(torch.device("cpu"))
    assert 0 < (rates > 0).sum() < 8
    assert (rates[rates > 0] * 64 >= 2 * math.pi).all()


def test_hope_without_a_frequency():
    with pytest.raises(TenfoldError, match="rotary with trained 6: no frequency completes a turn"):
        Rotary(head_size=8, trained=6)


@pytest.mark.parametrize("share", [0.0, 0.1, -1.0, 1.5])
def test_no_share(share):
    with pytest.raises(TenfoldError, match=f"share of {share}"):
        Rotary(head_size=8, share=share)
