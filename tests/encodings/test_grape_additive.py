import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import ALiBi, Attends, GrapeAP
from tenfold.encodings.attend import additive_mask, attend


@pytest.fixture
def pe():
    torch.manual_seed(0)
    pe = GrapeAP(width=6, heads=3, size=4).double()
    with torch.no_grad():
        pe.path.weight.normal_()
    return pe


def taken(pe, h, x, place, other, other_place):
    """What token `other` between key and query takes away, by the query's own p."""
    weight = pe.path.weight.view(3, 4, 6)[h]
    p, u = (weight @ x).tolist(), weight @ other
    u = (u / (u.square().mean() + torch.finfo(torch.float64).eps).sqrt()).tolist()
    angle = -other_place
    turned = [0.0] * 4
    for c in range(2):
        number = complex(u[c], u[c + 2]) * complex(math.cos(angle), math.sin(angle))
        turned[c], turned[c + 2] = number.real, number.imag
    product = sum(a * b for a, b in zip(p, turned, strict=True)) / 4
    return -math.log1p(math.exp(-product)) * ALiBi(3).slopes[h].item()


def by_loops(pe, h, x, places, i, j):
    if places[i] < 0 or places[j] < 0:
        return 0.0
    between = [t for t in range(j + 1, i + 1) if places[t] >= 0]
    return sum(taken(pe, h, x[i], places[i], x[t], places[t]) for t in between)


def bias_of(pe, x, q_at, k_at):
    q = torch.zeros(len(x), 3, q_at.count, 2, dtype=x.dtype)
    return pe.state_bias(pe.state(x, k_at), q, q, q_at, k_at)


@pytest.mark.parametrize(
    "places", [[[0, 1, 2, 3, 4, 5]] * 2, [[0, -1, 5, 6, 7, 30], [-1, -1, 2, 900, 3, 4]]], ids=str
)
def test_by_loops(pe, normal, places):
    x, at = normal(2, 6, 6), Places(index=torch.tensor(places))
    bias = bias_of(pe, x, at, at)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 3, 6))).tolist():
        for j in range(i + 1):
            expected = by_loops(pe, h, x[b], places[b], i, j)
            assert_close(bias[b, h, i, j], torch.tensor(expected, dtype=torch.float64))


def test_the_last_queries_alone(pe, normal, line):
    """As in decoding with a cache."""
    x, at = normal(1, 6, 6), line(*range(6))
    assert_close(bias_of(pe, x, at.last(2), at), bias_of(pe, x, at, at)[:, :, 4:])


def test_it_never_rises_with_distance(pe, normal, line):
    bias = bias_of(pe, normal(1, 8, 6), line(*range(8)), line(*range(8)))
    assert (bias.diagonal(dim1=-2, dim2=-1) == 0).all()
    for i in range(8):
        assert (bias[0, :, i, : i + 1].diff() > 0).all()


def test_without_p_it_is_alibi(normal, line):
    """A token between takes ln 2 times the slope, whatever it is."""
    pe, at = GrapeAP(width=6, heads=4).double(), line(*range(6))
    torch.nn.init.zeros_(pe.path.weight)
    q = normal(1, 4, 6, 2)
    bias = pe.state_bias(pe.state(normal(1, 6, 6), at), q, q, at, at)
    below = torch.ones(6, 6).tril().bool()
    expected = math.log(2) * ALiBi(4).bias(at, at).double()
    assert_close(bias[..., below], expected[..., below])


def test_drop_in_by_loops(pe, normal, line):
    x, at = normal(1, 5, 6), line(*range(5))
    q, k, v = normal(3, 1, 3, 5, 4)
    state = pe.state(x, at)
    out, _ = attend(pe, q, k, v, at, at, state=state)
    for h in range(3):
        for i in range(5):
            rows = [float(q[0, h, i] @ k[0, h, j]) / 2 + by_loops(pe, h, x[0], range(5), i, j) for j in range(i + 1)]  # fmt: skip
            weights = torch.tensor(rows, dtype=torch.float64).softmax(0)
            assert_close(out[0, h, i], weights @ v[0, h, : i + 1])
    mask = additive_mask(pe, q, k, at, at, state=state)
    assert_close(torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask), out)


def test_bad_input(build):
    with pytest.raises(TenfoldError, match="grape-ap with a size of 3; an even number"):
        GrapeAP(width=6, heads=2, size=3)
    with pytest.raises(TenfoldError, match='"grape-ap" is not made for two-way attention, only for causal'):  # fmt: skip
        build("grape-ap").serve(Attends.TWO_WAY)
