"""Attention of models, the drop-in and PyTorch with our mask against a plain reference, for every encoding."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.places import Places
from tenfold.encodings import (
    ENCODINGS,
    SIZES,
    ALiBi,
    Attends,
    Compose,
    CoPE,
    NoPE,
    Pairwise,
    Window,
)
from tenfold.encodings.attend import additive_mask, attend
from tenfold.models.layers import Attention, Seen
from tenfold.models.stack import visibility


@pytest.fixture
def attention():
    torch.manual_seed(0)
    return Attention(width=16, heads=2).double()


def made(spec):
    torch.manual_seed(1)
    pe = ENCODINGS.factory(Spec.model_validate(spec), SIZES)(width=16, heads=2, head_size=8)
    with torch.no_grad():
        for parameter in pe.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return pe.double()


CASES = {
    f"{name}-{number}-{kind}": ({"name": name, **options}, kind)
    for name in ENCODINGS.names()
    for number, options in enumerate(ENCODINGS[name].examples(64))
    for kind in (Attends.CAUSAL, Attends.TWO_WAY)
    if kind in made({"name": name, **options}).kinds
}


LEAVES_A_REST = {"stick-breaking"}  # whose weights may add up to less than 1


def facts(rows):
    """Nine tokens of `12+345=75`, the last two of the second row padding."""
    axes = {
        "role": [3, 3, 1, 4, 4, 4, 1, 2, 2],
        "significance": [1, 0, -1, 2, 1, 0, -1, 0, 1],
        "column": [1, 0, -1, 2, 1, 0, 0, 1, 2],
        "index": range(9),
    }
    at = {axis: torch.tensor([list(places)] * rows) for axis, places in axes.items()}
    if rows > 1:
        for places in at.values():
            places[1, -2:] = -1
    return Places(**at)


def split(x):
    return x.view(*x.shape[:2], 2, 8).transpose(1, 2)


def reference(pe, x, q, k, v, q_at, at, seen):
    """Attention in the plainest steps: logits, everything that is added, weights, everything that is mixed."""
    turned, k = pe.rotate(q, k, q_at, at)
    logits = (turned @ k.mT + _or_zero(pe.scores(q, k, q_at, at))) / math.sqrt(8)
    logits = logits + _or_zero(pe.bias(q_at, at))
    if pe.features:
        logits = logits + _or_zero(pe.state_bias(pe.state(x, at), q, k, q_at, at))
    itself = torch.arange(9) == torch.arange(9 - q.shape[2], 9)[:, None]
    window = pe.visible(q_at, at)
    seen = seen if window is None else seen & (window | itself)
    weights = pe.normalise(logits.masked_fill(~seen, -math.inf), seen)
    return weights @ v + _or_zero(pe.values(weights, q_at, at))


def _or_zero(x):
    return 0 if x is None else x


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("queries", [9, 3])
@pytest.mark.parametrize(("spec", "kind"), CASES.values(), ids=CASES)
def test_models_and_drop_in_are_the_plain_reference(spec, kind, queries, rows, attention, normal):
    pe, at = made(spec), facts(rows)
    pe.serve(kind)
    x, q_at = normal(rows, 9, 16), at.last(queries)
    valid = at["index"] >= 0
    q = split(attention.query(x[:, -queries:]))
    k, v = map(split, attention.key_value(x).split(16, -1))
    allowed = visibility(queries, 9, valid, kind is Attends.CAUSAL, x.device)
    mixed = reference(pe, x, q, k, v, q_at, at, allowed)
    expected = attention.out(mixed.transpose(1, 2).flatten(2))
    assert_close(attention(x[:, -queries:], x, Seen(pe, q_at, at, allowed)), expected)

    state, padding = pe.state(x, at), valid[:, None, None]
    ours, weights = attend(pe, q, k, v, q_at, at, kind, padding, state=state)
    assert_close(ours, mixed)
    whole = weights.sum(-1)
    assert (whole <= 1 + 1e-9).all()
    if spec["name"] not in LEAVES_A_REST:
        assert_close(whole, torch.ones_like(whole))

    turned_q, turned_k = pe.rotate(q, k, q_at, at)
    if pe.ways & {"values", "normalise"}:
        with pytest.raises(TenfoldError, match=r"also (adds to the values|replaces the softmax)"):
            additive_mask(pe, q, turned_k, q_at, at, kind, state=state)
        return
    mask = additive_mask(pe, q, turned_k, q_at, at, kind, padding, state)
    scale = 1 / math.sqrt(8)  # of the head, also where turned vectors are longer
    theirs = scaled_dot_product_attention(turned_q, turned_k, v, attn_mask=mask, scale=scale)
    assert_close(theirs, mixed)


def test_by_loops(normal, line):
    """ALiBi and a window under a causal mask, with the third key left out, and two queries of a cache."""
    pe = Compose([ALiBi(heads=2), Window(behind=3)])
    at, q = line(*range(6)), normal(1, 2, 2, 8)
    allowed = torch.tensor([True, True, False, True, True, True])[None, None, None]
    mask = additive_mask(pe, q, normal(1, 2, 6, 8), at.last(2), at, allowed=allowed)
    for h, slope in enumerate([2**-4, 2**-8]):
        for t, i in enumerate([4, 5]):
            for j in range(6):
                seen = 0 <= i - j <= 3 and j != 2
                assert mask[0, h, t, j] == (-slope * (i - j) if seen else -math.inf)


def test_scores_are_divided(normal, line):
    pe, at = Pairwise(head_size=8).double(), line(0, 1, 2)
    q = normal(1, 2, 3, 8)
    mask = additive_mask(pe, q, q, at, at, Attends.TWO_WAY)
    assert_close(mask, pe.scores(q, q, at, at) / math.sqrt(8))


def test_nothing_to_add(normal, line):
    q = normal(1, 2, 3, 8)
    assert additive_mask(NoPE(), q, q, line(0, 1, 2), line(0, 1, 2), Attends.TWO_WAY) is None


def test_cross_attention_has_no_self(normal, line):
    q, k = normal(1, 1, 2, 8), normal(1, 1, 3, 8)
    pe = Window(behind=0)
    mask = additive_mask(pe, q, k, line(0, 7), line(0, 1, 2), Attends.CROSS)
    assert mask[0, 0].tolist() == [[0.0, -math.inf, -math.inf], [-math.inf] * 3]


def test_an_encoding_learns_through_the_mask(normal, line):
    """The gradient of T5's table through PyTorch's attention is that through plain steps."""
    pe, at = made("t5"), line(*range(6))
    q, k, v = normal(3, 2, 2, 6, 8)
    mask = additive_mask(pe, q, k, at, at)
    scaled_dot_product_attention(q, k, v, attn_mask=mask).square().sum().backward()
    by_mask, pe.table.grad = pe.table.grad, None
    attend(pe, q, k, v, at, at)[0].square().sum().backward()
    assert by_mask.abs().max() > 0.01
    assert_close(by_mask, pe.table.grad)


def test_dropout_takes_weights_away(normal, line):
    q, at = normal(1, 2, 6, 8), line(*range(6))
    torch.manual_seed(0)
    _, weights = attend(NoPE(), q, q, q, at, at, Attends.TWO_WAY, dropout=0.5)
    assert 0 < (weights == 0).sum() < weights.numel()


def test_what_it_is_not_made_for(normal, line):
    q, at = normal(1, 2, 3, 8), line(0, 1, 2)
    with pytest.raises(TenfoldError, match='"cope" is not made for two-way attention'):
        additive_mask(CoPE(head_size=8), q, q, at, at, Attends.TWO_WAY)
    with pytest.raises(TenfoldError, match="reach 1, the input spans 2"):
        additive_mask(Pairwise(head_size=8, relation={"reach": 1}), q, q, at, at)


def test_attend_who_sees_nothing_takes_nothing(normal, line):
    q, k, v = normal(1, 2, 2, 8), normal(1, 2, 3, 8), normal(1, 2, 3, 8)
    mixed, weights = attend(Window(behind=0), q, k, v, line(0, 9), line(0, 1, 2), Attends.CROSS)
    assert_close(mixed[:, :, 0], v[:, :, 0])
    assert (weights[:, :, 1] == 0).all()
    assert (mixed[:, :, 1] == 0).all()


def test_attend_checks_too(normal, line):
    q, at = normal(1, 2, 4, 8), line(0, 1, 2, 3)
    with pytest.raises(TenfoldError, match="not made for two-way"):
        attend(CoPE(head_size=8), q, q, q, at, at, Attends.TWO_WAY)
    with pytest.raises(TenfoldError, match="the input spans 3"):
        attend(Pairwise(head_size=8, relation={"reach": 1}, values=True), q, q, q, at, at)


def test_heads_that_do_not_fit(normal, line):
    q = normal(1, 2, 3, 8)
    with pytest.raises(TenfoldError, match='"alibi" is for 8 heads, the queries have 2'):
        additive_mask(ALiBi(heads=8), q, q, line(0, 1, 2), line(0, 1, 2))
