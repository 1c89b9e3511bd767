import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Attends, Compose, PerHead, PoPE, Rotary
from tenfold.encodings.attend import attend


@pytest.fixture
def pe():
    torch.manual_seed(0)
    pe = PoPE(heads=3, head_size=4, base=50.0).double()
    with torch.no_grad():
        pe.delta.uniform_(-6.0, -0.2)
    return pe


def softplus(x):
    return math.log1p(math.exp(x))


def by_loops(pe, h, q, k, i, j):
    """The paper's sum over components: sizes of the content, a cosine of the position."""
    i, j = max(i, 0), max(j, 0)
    delta = pe.delta[h].tolist()
    return sum(
        softplus(q[c]) * softplus(k[c]) * math.cos((i - j) / 50.0 ** (c / 4) - delta[c])
        for c in range(4)
    )


def test_by_loops(pe, normal):
    q, k = normal(2, 3, 4, 4), normal(2, 3, 5, 4)
    q_at = torch.tensor([[0, 3, 8, 1], [-1, -1, 5, 1_000_000]])
    k_at = torch.tensor([[0, 1, 2, 3, 4], [7, -1, 7, 0, 999_000]])
    new_q, new_k = pe.rotate(q, k, Places(index=q_at), Places(index=k_at))
    logits = new_q @ new_k.mT
    for b, h, t, s in torch.cartesian_prod(*map(torch.arange, (2, 3, 4, 5))).tolist():
        expected = by_loops(pe, h, q[b, h, t].tolist(), k[b, h, s].tolist(), int(q_at[b, t]), int(k_at[b, s]))  # fmt: skip
        assert_close(logits[b, h, t, s], torch.tensor(expected, dtype=torch.float64))


def test_drop_in_by_loops(pe, normal, line):
    """Logits are divided by the root of the head's size, not of the longer vectors'."""
    at = line(*range(5))
    q, k, v = normal(3, 1, 3, 5, 4)
    out, _ = attend(pe, q, k, v, at, at)
    for h in range(3):
        for i in range(5):
            logits = [by_loops(pe, h, q[0, h, i].tolist(), k[0, h, j].tolist(), i, j) / 2 for j in range(i + 1)]  # fmt: skip
            weights = torch.tensor(logits, dtype=torch.float64).softmax(0)
            assert_close(out[0, h, i], weights @ v[0, h, : i + 1])


def test_only_differences_matter(pe, normal, line):
    q, k = normal(1, 3, 1, 4), normal(1, 3, 1, 4)
    products = []
    for query, key in ((3, 1), (8, 6), (1003, 1001), (4, 1)):
        a, b = pe.rotate(q, k, line(query), line(key))
        products.append((a * b).sum())
    assert_close(products[0], products[1])
    assert_close(products[0], products[2])
    assert (products[0] - products[3]).abs() > 1e-3


def test_content_cannot_turn_a_component(pe, normal, line):
    """Sizes are positive: whatever the content, the angle of each component is that of its place."""
    q = normal(1, 3, 6, 4)
    turned, _ = pe.rotate(q, q, line(*range(6)), line(*range(6)))
    cos, sin = turned.split(4, -1)
    place = torch.arange(6, dtype=torch.float64)[:, None]
    angle = place * 50.0 ** (-torch.arange(4, dtype=torch.float64) / 4)
    assert_close(torch.atan2(sin, cos), torch.atan2(angle.sin(), angle.cos()).expand(1, 3, 6, 4))


def test_the_angle_stays_within_its_bounds_and_can_come_back(normal, line):
    pe = PoPE(heads=1, head_size=2).double()
    with torch.no_grad():
        pe.delta.copy_(torch.tensor([[3.0, -9.0]]))
    q = normal(1, 1, 1, 2)
    a, b = pe.rotate(q, q, line(5), line(2))
    other = PoPE(heads=1, head_size=2).double()
    with torch.no_grad():
        other.delta.copy_(torch.tensor([[0.0, -2 * math.pi]]))
    assert_close(b, other.rotate(q, q, line(5), line(2))[1])
    (a * b).sum().backward()
    assert (pe.delta.grad != 0).all()


def test_per_head_beside_shorter_vectors(pe, normal, line):
    """Heads of other parts are filled up with zeros, and read as they are."""
    rotary = Rotary(head_size=4)
    mixed = PerHead([pe, "rotary", "cope"], heads=5, split=[3, 1, 1], head_size=4).double()
    torch.nn.init.normal_(mixed.parts[2].table)
    q, k, v = normal(3, 1, 5, 6, 4)
    at = line(*range(6))
    out, _ = attend(mixed, q, k, v, at, at, Attends.CAUSAL)
    alone = [
        attend(part, q[:, low:high], k[:, low:high], v[:, low:high], at, at, Attends.CAUSAL)[0]
        for part, low, high in ((pe, 0, 3), (rotary, 3, 4), (mixed.parts[2], 4, 5))
    ]
    assert_close(out, torch.cat(alone, 1))


@pytest.mark.parametrize("other", ["rotary", "cope"])
def test_not_composed_with_what_reads_turned_vectors(other):
    for parts in (["pope", other], [other, "pope"]):
        with pytest.raises(TenfoldError, match=f'"pope" makes turned queries and keys longer, which "{other}" would'):  # fmt: skip
            Compose(parts, heads=2, head_size=4)
    assert Compose(["pope", "alibi"], heads=2, head_size=4).ways == {"rotate", "bias"}


def test_another_head_size(pe, normal, line):
    q = normal(1, 3, 2, 6)
    with pytest.raises(TenfoldError, match="pope is for heads of size 4, the queries have 6"):
        pe.rotate(q, q, line(0, 1), line(0, 1))
