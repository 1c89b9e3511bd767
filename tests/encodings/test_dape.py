import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import DAPE, ALiBi, Attends, Compose
from tenfold.encodings import dape as module
from tenfold.encodings.attend import attend


@pytest.fixture
def pe():
    torch.manual_seed(0)
    pe = DAPE(heads=4, of="alibi", hidden=5).double()
    with torch.no_grad():
        for parameter in pe.parameters():
            parameter.normal_()
    return pe


def linear(layer, x):
    weight, bias = layer.weight.tolist(), layer.bias.tolist()
    return [sum(w * each for w, each in zip(row, x, strict=True)) + b for row, b in zip(weight, bias, strict=True)]  # fmt: skip


def by_loops(pe, q, k, i, j):
    """The logits of all heads for one pair; q and k are (H, K)."""
    z = [float(q[h] @ k[h]) / math.sqrt(q.shape[-1]) for h in range(4)]
    b = [-slope * abs(i - j) if min(i, j) >= 0 else 0.0 for slope in ALiBi(4).slopes.tolist()]
    hidden = [max(x, 0.01 * x) for x in linear(pe.expand, [*z, *b])]
    return [sum(three) for three in zip(z, b, linear(pe.contract, hidden), strict=True)]


def test_by_loops(pe, normal):
    q, k = normal(2, 4, 3, 6), normal(2, 4, 5, 6)
    q_at, k_at = torch.tensor([[0, 3, 8], [-1, 5, 9000]]), torch.tensor([[2, 1, 0, 9, 3], [7, -1, 5, 0, 8999]])  # fmt: skip
    added = pe.scores(q, k, Places(index=q_at), Places(index=k_at)) / math.sqrt(6)
    logits = q @ k.mT / math.sqrt(6) + added
    for b, t, s in torch.cartesian_prod(*map(torch.arange, (2, 3, 5))).tolist():
        expected = by_loops(pe, q[b, :, t], k[b, :, s], int(q_at[b, t]), int(k_at[b, s]))
        assert_close(logits[b, :, t, s], torch.tensor(expected, dtype=torch.float64))


def test_drop_in_by_loops(pe, normal, line):
    at = line(*range(5))
    q, k, v = normal(3, 1, 4, 5, 6)
    out, _ = attend(pe, q, k, v, at, at)
    for i in range(5):
        rows = [by_loops(pe, q[0, :, i], k[0, :, j], i, j) for j in range(i + 1)]
        weights = torch.tensor(rows, dtype=torch.float64).softmax(0)  # (S, H)
        for h in range(4):
            assert_close(out[0, h, i], weights[:, h] @ v[0, h, : i + 1])


def test_a_silent_network_is_the_bias_alone(normal, line):
    pe, at = DAPE(heads=4, of="alibi").double(), line(0, 2, 7)
    torch.nn.init.zeros_(pe.contract.weight)
    torch.nn.init.zeros_(pe.contract.bias)
    q = normal(1, 4, 3, 4)
    assert_close(pe.scores(q, q, at, at) / 2, ALiBi(4).bias(at, at).double())


def test_in_slices(pe, normal, line, monkeypatch):
    """Long inputs go through the network a few queries at a time."""
    q, at = normal(2, 4, 9, 6), line(*range(9))
    whole = pe.scores(q, q, at, at)
    monkeypatch.setattr(module, "ROOM", 200)
    assert_close(pe.scores(q, q, at, at), whole)


def test_it_declares_what_its_bias_does():
    fire = DAPE(heads=2, of="fire")
    assert (fire.invariant, fire.axes) == (frozenset(), {"index"})
    assert DAPE(heads=2, of={"name": "alibi", "axis": "column"}).invariant == {"column"}
    assert DAPE(heads=2).kinds == frozenset(Attends)


def test_rotated_keys_are_no_longer_seen_by_differences():
    assert Compose([DAPE(heads=2), "window"]).invariant == {"index"}
    assert Compose([DAPE(heads=2), "rotary"], head_size=4).invariant == frozenset()


@pytest.mark.parametrize("of", ["rotary", "fox", "none", {"name": "window", "behind": 2}])
def test_only_of_a_bias(of):
    with pytest.raises(
        TenfoldError, match=r'dape of ".*", which does not add a bias alone; "alibi"'
    ):
        DAPE(heads=2, of=of, width=8, head_size=4)
