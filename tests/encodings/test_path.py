import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Attends, Compose, PaTH
from tenfold.encodings.attend import attend


@pytest.fixture
def pe():
    torch.manual_seed(0)
    pe = PaTH(width=6, heads=3, head_size=4, rank=5).double()
    with torch.no_grad():
        for parameter in pe.parameters():
            parameter.normal_()
    return pe


def reflection(pe, h, x):
    """I - g w w' of one token."""
    w = pe.along.weight.view(3, 4, 5)[h] @ (pe.narrow.weight @ x)
    w = w / w.norm()
    g = 2 / (1 + math.exp(-(pe.strength.weight[h] @ x + pe.strength.bias[h]).item()))
    return torch.eye(4, dtype=torch.float64) - g * torch.outer(w, w)


def logit(pe, h, q, k, x, between):
    for token in between:
        k = reflection(pe, h, x[token]) @ k
    return (q @ k / 2).detach()


def logits_of(pe, q, k, x, q_at, k_at):
    return q @ k.mT / 2 + pe.state_bias(pe.state(x, k_at), q, k, q_at, k_at)


@pytest.mark.parametrize(
    "places", [[[0, 1, 2, 3, 4, 5]] * 2, [[0, -1, 5, 6, 7, 30], [-1, -1, 2, 900, 3, 4]]], ids=str
)
def test_by_loops(pe, normal, places):
    x, at = normal(2, 6, 6), Places(index=torch.tensor(places))
    q, k = normal(2, 2, 3, 6, 4)
    actual = logits_of(pe, q, k, x, at, at)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 3, 6))).tolist():
        for j in range(i + 1):
            related = min(places[b][i], places[b][j]) >= 0
            between = [t for t in range(j + 1, i + 1) if places[b][t] >= 0] if related else []
            assert_close(actual[b, h, i, j].detach(), logit(pe, h, q[b, h, i], k[b, h, j], x[b], between))  # fmt: skip


def test_the_last_queries_alone(pe, normal, line):
    """As in decoding with a cache."""
    x, at = normal(1, 6, 6), line(*range(6))
    q, k = normal(2, 1, 3, 6, 4)
    whole = logits_of(pe, q, k, x, at, at)
    for count in (1, 2):
        some = logits_of(pe, q[:, :, -count:], k, x, at.last(count), at)
        assert_close(some, whole[:, :, -count:])


@pytest.mark.parametrize("queries", [1, 4, 6])
def test_by_loops_in_blocks(pe, normal, line, queries, monkeypatch):
    monkeypatch.setattr("tenfold.encodings.path.BLOCK", 4)
    x, at = normal(1, 11, 6), line(*range(11))
    q, k = normal(2, 1, 3, 11, 4)
    actual = logits_of(pe, q[:, :, -queries:], k, x, at.last(queries), at)
    for h, i in torch.cartesian_prod(torch.arange(3), torch.arange(11 - queries, 11)).tolist():
        for j in range(i + 1):
            expected = logit(pe, h, q[0, h, i], k[0, h, j], x[0], range(j + 1, i + 1))
            assert_close(actual[0, h, i - 11, j].detach(), expected)


def test_drop_in_by_loops(pe, normal, line):
    x, at = normal(1, 5, 6), line(*range(5))
    q, k, v = normal(3, 1, 3, 5, 4)
    out, _ = attend(pe, q, k, v, at, at, state=pe.state(x, at))
    for h in range(3):
        for i in range(5):
            rows = [logit(pe, h, q[0, h, i], k[0, h, j], x[0], range(j + 1, i + 1)) for j in range(i + 1)]  # fmt: skip
            assert_close(out[0, h, i], torch.stack(rows).softmax(0) @ v[0, h, : i + 1])


def test_reflected_keys_keep_their_length(normal, line):
    """With g = 2 every step is a reflection, so a key can be read at any distance."""
    pe = PaTH(width=6, heads=1, head_size=4).double()
    torch.nn.init.constant_(pe.strength.bias, 40.0)
    x, at, k = normal(1, 30, 6), line(*range(30)), normal(1, 1, 30, 4)
    first = []
    for unit in torch.eye(4, dtype=torch.float64):  # the first key as the last query reads it
        q = unit.expand(1, 1, 30, 4)
        first.append(2 * logits_of(pe, q, k, x, at, at)[0, 0, 29, 0])
    assert_close(torch.stack(first).norm(), k[0, 0, 0].norm())


def test_without_strength_nothing_changes(normal, line):
    pe, at = PaTH(width=6, heads=3, head_size=4).double(), line(*range(6))
    torch.nn.init.constant_(pe.strength.bias, -800.0)
    q, k = normal(2, 1, 3, 6, 4)
    assert (pe.state_bias(pe.state(normal(1, 6, 6), at), q, k, at, at) == 0).all()


def test_causal_attention_only_and_nothing_rotates(build):
    with pytest.raises(TenfoldError, match='"path" is not made for two-way attention, only for causal'):  # fmt: skip
        build("path").serve(Attends.TWO_WAY)
    assert Compose(["path", "rotary"], width=8, heads=2, head_size=4).invariant == frozenset()
    assert Compose(["path", "fox"], width=8, heads=2, head_size=4).invariant == {"index"}
