import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Attends, Selective
from tenfold.encodings.attend import additive_mask, attend


@pytest.fixture
def pe():
    torch.manual_seed(0)
    pe = Selective(width=6, size=3).double()
    with torch.no_grad():
        pe.select.weight.normal_()
    return pe


def selects(pe, x, other):
    """How much a token x tells later ones to ignore a token before it."""
    a, b = pe.select.weight[:3] @ x, pe.select.weight[3:] @ other
    return max(0.0, (a @ b).item() / math.sqrt(3))


def bias_of(pe, x, q_at, k_at):
    q = torch.zeros(len(x), 2, q_at.count, 2, dtype=x.dtype)
    return pe.state_bias(pe.state(x, k_at), q, q, q_at, k_at)


def by_loops(pe, x, places, i, j):
    placed = [t for t in range(len(x)) if places[t] >= 0]
    if j not in placed or j == placed[0]:
        return 0.0
    return -sum(selects(pe, x[t], x[j]) for t in placed if j < t < i)


def test_by_loops(pe, normal, line):
    x, at = normal(2, 7, 6), line(*range(7))
    bias = bias_of(pe, x, at, at)
    assert bias.shape == (2, 1, 7, 7)
    assert (bias < -0.1).any()
    for b, i in torch.cartesian_prod(*map(torch.arange, (2, 7))).tolist():
        for j in range(i + 1):
            expected = by_loops(pe, x[b], range(7), i, j)
            assert_close(bias[b, 0, i, j], torch.tensor(expected, dtype=torch.float64))


def test_what_has_no_place_neither_selects_nor_is_selected(pe, normal):
    places = torch.tensor([[0, -1, 5, 6, 9], [-1, -1, 2, 900, 3]])
    x, at = normal(2, 5, 6), Places(index=places)
    bias = bias_of(pe, x, at, at)
    for b, i in torch.cartesian_prod(*map(torch.arange, (2, 5))).tolist():
        for j in range(i + 1):
            expected = by_loops(pe, x[b], places[b].tolist(), i, j)
            assert_close(bias[b, 0, i, j], torch.tensor(expected, dtype=torch.float64))


def test_never_the_first_never_itself_and_only_later_tokens(pe, normal, line):
    bias = bias_of(pe, normal(1, 6, 6), line(*range(6)), line(*range(6)))[0, 0]
    assert (bias[:, 0] == 0).all()
    assert (bias.diagonal() == 0).all()
    assert (bias.diagonal(-1) == 0).all()  # the next token has not been told yet
    assert (bias[1:] <= bias[:-1])[:, :4].all()  # what is ignored stays so


def test_the_last_queries_alone(pe, normal, line):
    """As in decoding with a cache."""
    x, at = normal(1, 6, 6), line(*range(6))
    assert_close(bias_of(pe, x, at.last(2), at), bias_of(pe, x, at, at)[:, :, 4:])


def test_left_padding_changes_nothing(pe, normal):
    x = normal(1, 5, 6)
    padded = torch.cat([100 * normal(1, 3, 6), x], 1)
    at = Places(index=torch.tensor([[-1, -1, -1, 0, 1, 2, 3, 4]]))
    alone = at.last(5)
    assert_close(bias_of(pe, padded, at, at)[..., 3:, 3:], bias_of(pe, x, alone, alone))


def test_drop_in_by_loops(pe, normal, line):
    x, at = normal(1, 5, 6), line(*range(5))
    q, k, v = normal(3, 1, 2, 5, 4)
    state = pe.state(x, at)
    out, _ = attend(pe, q, k, v, at, at, state=state)
    for h in range(2):
        for i in range(5):
            logits = [
                float(q[0, h, i] @ k[0, h, j]) / 2 + by_loops(pe, x[0], range(5), i, j)
                for j in range(i + 1)
            ]
            weights = torch.tensor(logits, dtype=torch.float64).softmax(0)
            assert_close(out[0, h, i], weights @ v[0, h, : i + 1])
    mask = additive_mask(pe, q, k, at, at, state=state)
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert_close(mixed, out)


def test_like_the_paper_where_one_head_selects(normal, line):
    """With A and B the query and key weights of a head, it is the paper's: its shifted and summed logits."""
    width, at = 6, line(*range(8))
    query, key = normal(2, width, width)
    pe, x = Selective(width=width, size=width).double(), normal(1, 8, width)
    with torch.no_grad():
        pe.select.weight.copy_(torch.cat([query, key]))
    logits = (x @ query.mT) @ (x @ key.mT).mT / math.sqrt(width)  # of the selecting head, (1, T, S)
    selection = logits.relu().tril(-1)
    selection[..., 0] = 0
    shifted = torch.zeros_like(selection)
    shifted[:, 1:] = selection[:, :-1]
    assert_close(bias_of(pe, x, at, at)[:, 0], -shifted.cumsum(1))


def test_causal_attention_only(build):
    with pytest.raises(TenfoldError, match='"selective" is not made for two-way attention, only for causal'):  # fmt: skip
        build("selective").serve(Attends.TWO_WAY)
