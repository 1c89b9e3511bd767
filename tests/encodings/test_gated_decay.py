import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Attends, Compose, FoX, GatedDecay
from tenfold.encodings.attend import attend


@pytest.fixture
def pe():
    torch.manual_seed(0)
    pe = GatedDecay(width=6, heads=3, head_size=4).double()
    with torch.no_grad():
        for parameter in pe.parameters():
            parameter.normal_()
    return pe


def gate(pe, h, c, x):
    row = h * 4 + c
    return 1 / (1 + math.exp(-(pe.gate.weight[row] @ x + pe.gate.bias[row]).item()))


def logit(pe, h, q, k, x, between):
    """Channel by channel, the key times the gates of the tokens after it."""
    channels = [
        float(q[c] * k[c]) * math.prod(gate(pe, h, c, x[token]) for token in between)
        for c in range(4)
    ]
    return sum(channels) / 2


def logits_of(pe, q, k, x, q_at, k_at):
    return q @ k.mT / 2 + pe.state_bias(pe.state(x, k_at), q, k, q_at, k_at)


def test_by_loops(pe, normal, line):
    x, at = normal(2, 6, 6), line(*range(6))
    q, k = normal(2, 2, 3, 6, 4)
    actual = logits_of(pe, q, k, x, at, at)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 3, 6))).tolist():
        for j in range(i + 1):
            expected = logit(pe, h, q[b, h, i], k[b, h, j], x[b], range(j + 1, i + 1))
            assert_close(actual[b, h, i, j], torch.tensor(expected, dtype=torch.float64))


def test_what_has_no_place_is_neither_counted_nor_related(pe, normal):
    places = torch.tensor([[0, -1, 5, 6], [-1, -1, 2, 900]])
    x, at = normal(2, 4, 6), Places(index=places)
    q, k = normal(2, 2, 3, 4, 4)
    actual = logits_of(pe, q, k, x, at, at)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 3, 4))).tolist():
        for j in range(i + 1):
            related = places[b, i] >= 0 and places[b, j] >= 0
            between = [t for t in range(j + 1, i + 1) if places[b, t] >= 0] if related else []
            expected = logit(pe, h, q[b, h, i], k[b, h, j], x[b], between)
            assert_close(actual[b, h, i, j], torch.tensor(expected, dtype=torch.float64))


def test_the_last_queries_alone(pe, normal, line):
    """As in decoding with a cache."""
    x, at = normal(1, 6, 6), line(*range(6))
    q, k = normal(2, 1, 3, 6, 4)
    whole = logits_of(pe, q, k, x, at, at)
    assert_close(logits_of(pe, q[:, :, 4:], k, x, at.last(2), at), whole[:, :, 4:])


def test_drop_in_by_loops(pe, normal, line):
    x, at = normal(1, 5, 6), line(*range(5))
    q, k, v = normal(3, 1, 3, 5, 4)
    out, _ = attend(pe, q, k, v, at, at, state=pe.state(x, at))
    for h in range(3):
        for i in range(5):
            rows = [logit(pe, h, q[0, h, i], k[0, h, j], x[0], range(j + 1, i + 1)) for j in range(i + 1)]  # fmt: skip
            weights = torch.tensor(rows, dtype=torch.float64).softmax(0)
            assert_close(out[0, h, i], weights @ v[0, h, : i + 1])


def test_equal_gates_of_all_channels_multiply_the_logit(normal, line):
    """With FoX's gate in every channel the logit is multiplied by what FoX adds the logarithm of."""
    pe, fox = GatedDecay(width=6, heads=2, head_size=4).double(), FoX(width=6, heads=2).double()
    with torch.no_grad():
        pe.gate.weight.copy_(fox.gate.weight.repeat_interleave(4, 0))
        pe.gate.bias.copy_(fox.gate.bias.repeat_interleave(4, 0))
    x, at = normal(1, 7, 6), line(*range(7))
    q, k = normal(2, 1, 2, 7, 4)
    kept = fox.state_bias(fox.state(x, at), q, k, at, at).exp()
    below = torch.ones(7, 7).tril().bool()
    expected = q @ k.mT / 2 * kept
    assert_close(logits_of(pe, q, k, x, at, at)[..., below], expected[..., below])


def test_gates_start_open(normal, line):
    pe, at = GatedDecay(width=6, heads=3, head_size=4).double(), line(*range(9))
    q, k = normal(2, 1, 3, 9, 4)
    assert pe.state_bias(pe.state(normal(1, 9, 6), at), q, k, at, at).abs().max() < 0.01


def test_a_thousand_steps_in_half_precision(line):
    """Sums are made in single precision; a key that has faded adds nothing and is no overflow."""
    pe, at = GatedDecay(width=6, heads=3, head_size=4, open=0.0).to(torch.bfloat16), line(*range(1001))  # fmt: skip
    q = torch.ones(1, 3, 1001, 4, dtype=torch.bfloat16)
    state = pe.state(torch.zeros(1, 1001, 6, dtype=torch.bfloat16), at)
    bias = pe.state_bias(state, q[:, :, :1], q, at.last(1), at)
    assert bias[0, 0, 0, 0] == -2
    assert bias.isfinite().all()


def test_causal_attention_only_and_nothing_rotates(build):
    with pytest.raises(TenfoldError, match='"gated-decay" is not made for two-way attention, only for causal'):  # fmt: skip
        build("gated-decay").serve(Attends.TWO_WAY)
    assert Compose(["gated-decay", "rotary"], width=8, heads=2, head_size=4).invariant == frozenset()  # fmt: skip


@pytest.mark.parametrize("queries", [1, 4, 11])
def test_many_tokens_by_halves_equal_pair_by_pair(pe, normal, line, queries, monkeypatch):
    """Gates near 0, too: no factor of a product may be too large."""
    x, at = normal(2, 11, 6) * 10, line(*range(11))
    q, k = normal(2, 2, 3, 11, 4)
    whole = pe.state_bias(pe.state(x, at), q, k, at, at)
    monkeypatch.setattr("tenfold.encodings.gated_decay.FEW", 2)
    some = pe.state_bias(pe.state(x, at), q[:, :, -queries:], k, at.last(queries), at)
    assert_close(some.tril(11 - queries), whole[:, :, -queries:].tril(11 - queries))
