import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Attends, FoX
from tenfold.encodings.attend import additive_mask, attend


@pytest.fixture
def pe():
    torch.manual_seed(0)
    pe = FoX(width=6, heads=3).double()
    with torch.no_grad():
        for parameter in pe.parameters():
            parameter.normal_()
    return pe


def log_gate(pe, h, x):
    """log sigmoid(w_h . x + b_h)."""
    return -math.log1p(math.exp(-(pe.gate.weight[h] @ x + pe.gate.bias[h]).item()))


def bias_of(pe, x, q_at, k_at):
    q = torch.zeros(len(x), 3, q_at.count, 2, dtype=x.dtype)
    return pe.state_bias(pe.state(x, k_at), q, q, q_at, k_at)


def test_by_loops(pe, normal, line):
    x, at = normal(2, 7, 6), line(*range(7))
    bias = bias_of(pe, x, at, at)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 3, 7))).tolist():
        for j in range(i + 1):
            expected = sum(log_gate(pe, h, x[b, token]) for token in range(j + 1, i + 1))
            assert_close(bias[b, h, i, j], torch.tensor(expected, dtype=torch.float64))


def test_what_has_no_place_is_neither_counted_nor_related(pe, normal):
    places = torch.tensor([[0, -1, 5, 6], [-1, -1, 2, 900]])
    x, at = normal(2, 4, 6), Places(index=places)
    bias = bias_of(pe, x, at, at)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 3, 4))).tolist():
        for j in range(i + 1):
            between = [t for t in range(j + 1, i + 1) if places[b, t] >= 0]
            related = places[b, i] >= 0 and places[b, j] >= 0
            expected = sum(log_gate(pe, h, x[b, t]) for t in between) if related else 0.0
            assert_close(bias[b, h, i, j], torch.tensor(expected, dtype=torch.float64))


def test_the_last_queries_alone(pe, normal, line):
    """As in decoding with a cache."""
    x, at = normal(1, 6, 6), line(*range(6))
    assert_close(bias_of(pe, x, at.last(2), at), bias_of(pe, x, at, at)[:, :, 4:])


def test_left_padding_changes_nothing(pe, normal):
    x = normal(1, 5, 6)
    padded = torch.cat([100 * normal(1, 3, 6), x], 1)
    at = Places(index=torch.tensor([[-1, -1, -1, 0, 1, 2, 3, 4]]))
    alone = at.last(5)
    assert torch.equal(bias_of(pe, padded, at, at)[..., 3:, 3:], bias_of(pe, x, alone, alone))


def test_open_gates_forget_nothing(normal, line):
    pe, at = FoX(width=6, heads=3).double(), line(*range(9))
    with torch.no_grad():
        pe.gate.bias.fill_(1000.0)
    assert (bias_of(pe, normal(1, 9, 6), at, at) == 0).all()


def test_drop_in_by_loops(pe, normal, line):
    """The whole of attention from plain tensors, and PyTorch's with the mask."""
    x, at = normal(1, 5, 6), line(*range(5))
    q, k, v = normal(3, 1, 3, 5, 4)
    state = pe.state(x, at)
    out, _ = attend(pe, q, k, v, at, at, state=state)
    for h in range(3):
        for i in range(5):
            logits = torch.stack(
                [
                    q[0, h, i] @ k[0, h, j] / 2
                    + sum(log_gate(pe, h, x[0, t]) for t in range(j + 1, i + 1))
                    for j in range(i + 1)
                ]
            )
            assert_close(out[0, h, i], logits.softmax(0) @ v[0, h, : i + 1])
    mask = additive_mask(pe, q, k, at, at, state=state)
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert_close(mixed, out)


def test_without_its_state_is_one_clear_error(pe, normal, line):
    q, at = normal(1, 3, 5, 4), line(*range(5))
    for call in (lambda: attend(pe, q, q, q, at, at), lambda: additive_mask(pe, q, q, at, at)):
        with pytest.raises(TenfoldError, match=r'"fox" needs .* give state=pe.state\(x, k_at\)'):
            call()


def test_a_thousand_steps_in_half_precision(line):
    """Sums are made in single precision: 1000 gates of 1/2 are 1000 log 1/2."""
    pe, at = FoX(width=6, heads=3).to(torch.bfloat16), line(*range(1001))
    bias = bias_of(pe, torch.zeros(1, 1001, 6, dtype=torch.bfloat16), at.last(1), at)
    assert_close(bias[0, 0, 0, 0].item(), 1000 * math.log(0.5), rtol=5e-3, atol=0)


def test_causal_attention_only(build):
    with pytest.raises(TenfoldError, match='"fox" is not made for two-way attention, only for causal'):  # fmt: skip
        build("fox").serve(Attends.TWO_WAY)
