"""The radii of adjoints: anywhere in a ball, no step of the backward pass leaves its radius.

Each kind of movement is tried alone, so that a term that is left out is missed.
"""

import math

import pytest
import torch
from torch import nn

from tenfold.encodings.steady import Steady
from tenfold.features.proofs.adjoint_bound import Layered
from tenfold.features.proofs.adjoint_steps import Heads, Mixing, Norm
from tenfold.features.proofs.rounding import FLOAT32, Arithmetic
from tenfold.models.layers import Attention, Block

NO_ROUNDING = Arithmetic(2.0**-110, 2.0**-1022)
DRAWN = 400
ONE = torch.tensor([0])


def drawn(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def within(seed, centre, radius):
    """Vectors on the sphere around the centre, (DRAWN, ...); the last dimension is that of a vector."""
    off = drawn(seed, DRAWN, *centre.shape)
    return centre + radius * off / off.norm(dim=-1, keepdim=True)


def norm_of(seed, radius):
    torch.manual_seed(seed)
    layer = nn.LayerNorm(6).double()
    with torch.no_grad():
        layer.weight.copy_(1 + drawn(seed, 6) / 4)
        layer.bias.copy_(drawn(seed + 1, 6))
    x = drawn(seed + 2, 1, 6)
    with torch.no_grad():
        return layer, x, Norm(layer, x, torch.full((1,), radius, dtype=torch.float64), NO_ROUNDING)


def pulled(f, x, a):
    """The adjoint of the input of a function, from that of its result."""
    x = x.clone().requires_grad_()
    return torch.autograd.grad((f(x) * a).sum(), x)[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("moves", "apart"), [(0.2, 0.0), (0.0, 0.2), (0.1, 0.1)])
def test_of_a_norm(seed, moves, apart):
    layer, x, norm = norm_of(seed, moves)
    a = drawn(seed + 3, 1, 1, 6)
    ra = torch.full((1, 1), apart, dtype=torch.float64)
    centre, radius, _ = norm.back(a, ra, ONE)
    off = pulled(layer, within(seed + 4, x[0], moves), within(seed + 5, a[0, 0], apart)) - centre[0]
    most = off.norm(dim=-1).max().item()
    assert 0.1 * radius.item() < most <= radius.item()


def test_a_norm_multiplies_what_was_lost_below_the_smallest_number():
    """(x - mean) / s of such numbers may be 0 instead, before it is multiplied by a large gain."""
    layer, x = nn.LayerNorm(4).double(), torch.tensor([[3.0, -1.0, 2.0, 5.0]], dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([2.0, 2.0**90, 2.0**100, 1.0]))
        still = torch.zeros(1, dtype=torch.float64)
        norm = Norm(layer, 2.0**-150 * x, still, FLOAT32)
    assert (norm.rho[0] >= 2 * FLOAT32.tiny * layer.weight.abs()).all()


def attend(q, k, v):
    """(..., K), (..., S, K), (..., S, K) -> (..., K)"""
    weights = ((k @ q.unsqueeze(-1))[..., 0] / math.sqrt(q.shape[-1])).softmax(-1)
    return (weights.unsqueeze(-2) @ v)[..., 0, :]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("who", ["query", "keys", "values", "adjoint", "all"])
@pytest.mark.parametrize("kind", ["plain", "keys alike", "a faint key"])
def test_of_attention(seed, who, kind):
    """The adjoints of queries, keys and values, and the mixture itself.

    Alike keys leave nothing but what queries and keys do at once. A faint key with a value of its own moves the mixture by
    much less than its own adjoint.
    """
    size, count = 4, 3
    q, k, v, a = drawn(seed, size), drawn(seed + 10, count, size), drawn(seed + 20, count, size), drawn(seed + 30, size)  # fmt: skip
    if kind == "keys alike":
        k = k[:1].expand(count, size)
    elif kind == "a faint key":
        k[:2], k[2], v[1], v[2] = q, -3 * q / q.norm() ** 2, v[0], v[0] + 3 * v[2]
    far = {name: 0.1 if who in (name, "all") else 0.0 for name in ("query", "keys", "values", "adjoint")}  # fmt: skip
    whole = torch.ones(1, count, 1, dtype=torch.float64)
    heads = Heads(
        q.view(1, 1, size), far["query"] * whole[:, 0], k.view(1, count, 1, size), far["keys"] * whole,
        v.view(1, count, 1, size), far["values"] * whole, whole.bool(), None, None, None,
    )  # fmt: skip
    mixing = Mixing(heads, Steady(), NO_ROUNDING)
    got = mixing.back(a.view(1, 1, 1, size), far["adjoint"] * whole[:, :1], ONE)
    some = [
        within(seed + 40 + i, centre, far[name]).requires_grad_()
        for i, (name, centre) in enumerate((("query", q), ("keys", k), ("values", v)))
    ]
    mixed = attend(*some)
    parts = torch.autograd.grad((mixed * within(seed + 50, a, far["adjoint"])).sum(), some)
    centres = (got.q[0, 0, 0], got.k[0, 0, :, 0], got.v[0, 0, :, 0])
    radii = (got.rq[0, 0, 0], got.rk[0, 0, :, 0], got.rv[0, 0, :, 0])
    for part, centre, radius in zip(parts, centres, radii, strict=True):
        off = (part - centre).norm(dim=-1).amax(0)
        assert (off <= radius).all()
        assert (off > 0.002 * radius).any() or (radius < 1e-9).all()
    moved = (mixed - attend(q, k, v)).norm(dim=-1).max().item()
    assert moved <= mixing.moves.item()
    assert moved > 0.01 * mixing.moves.item() or mixing.moves < 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("times", [0.5, 3.0])
@pytest.mark.parametrize(("moves", "apart"), [(0.02, 0.0), (0.0, 0.2), (0.02, 0.2)])
def test_of_norm_and_feed_forward(seed, times, moves, apart):
    """The adjoint of what enters both with the residual sum, and how far the result moves."""
    block = Block(Attention(6, 2), 6, 2, 8, 0.0, "pre").double().eval()
    with torch.no_grad():
        for number, (name, p) in enumerate(sorted(block.named_parameters())):
            p.copy_((1.0 if "norm" in name else times) * drawn(100 * seed + number, *p.shape))
    x, a = drawn(seed + 90, 1, 6), drawn(seed + 91, 1, 1, 6)
    level = Layered.__new__(Layered)
    level.block, level.by, level.middle = block, NO_ROUNDING, x
    level.middle_radius = torch.full((1,), moves, dtype=torch.float64)
    with torch.no_grad():
        level._feed()
        centre, radius, _ = level.back_feed(a, torch.full((1, 1), apart, dtype=torch.float64), ONE)

    def fed(x):
        hidden = nn.functional.gelu(block.expand(block.feedforward_norm(x)))
        return x + block.contract(hidden)

    some = within(seed + 92, x[0], moves)
    off = pulled(fed, some, within(seed + 93, a[0, 0], apart)) - centre[0]
    most = off.norm(dim=-1).max().item()
    assert 0.01 * radius.item() < most <= radius.item()
    moved = (fed(some) - fed(x)).norm(dim=-1).max().item()
    assert moved <= level.radius.item() + 1e-12  # of the test itself, in float64
    assert moved > 0.01 * level.radius.item() or not moves
