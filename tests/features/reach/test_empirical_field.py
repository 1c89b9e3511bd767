"""Receptive fields of models whose attention is known."""

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, Batch, Tokens
from tenfold.data.places import Places
from tenfold.encodings import ALiBi, Window
from tenfold.evals.distance_sums import quantile
from tenfold.features.reach import empirical_field as receptive
from tenfold.features.reach.empirical_field import fields
from tenfold.features.reach.receptive_field import reach


def text(count, rows=3):
    tokens = torch.randint(0, 10, (rows, count), generator=torch.Generator().manual_seed(1))
    at = Places(index=torch.arange(count)[None])
    return Batch(Tokens(tokens, at), torch.roll(tokens, -1, 1), given=1)


def deaf(model):
    """Queries that ask nothing: attention is what positions alone make it."""
    with torch.no_grad():
        for block in model.stack.blocks:
            block.attention.query.weight.zero_()
            block.attention.query.bias.zero_()
    return model


def test_without_content_it_is_the_theory(make_model):
    model = deaf(make_model("decoder", "alibi", heads=2))
    found = fields(model, text(64))
    weights = ALiBi(heads=2).series().log_b(torch.arange(64, dtype=torch.float64)).exp()
    expected = torch.zeros_like(weights)  # averaged over queries 56..63, each with the keys it has
    for query in range(56, 64):
        own = weights[:, : query + 1]
        expected[:, : query + 1] += own / own.sum(1, keepdim=True) / 8
    for layer in (0, 1):
        torch.testing.assert_close(found.shares[layer], expected)
    theory = torch.tensor([head.low for head in reach(ALiBi(heads=2).series(), 0.05, 64)])
    assert ((found.attention - theory).abs() <= 4).all()
    assert found.tokens == 64


def test_a_window_is_never_left(make_model):
    found = fields(
        make_model("decoder", {"name": "window", "behind": 3, "ahead": 0}), text(40), 1e-9
    )
    assert found.attention.max() <= 4
    assert found.head_gradient.max() <= 4
    assert found.layer_gradient.tolist() == [7, 4]  # 2 layers of 3 behind, and the token itself
    assert found.gradient == 7


def test_gradient_against_differences(make_model):
    """The gradient at the input, by moving one input vector a little."""
    model, batch = make_model("decoder", "alibi"), text(12, rows=1)
    moved = receptive._looked(model, batch)[2][0]  # by distance from the last token
    seen = []

    def nudge(_module, given, position, step, component):
        x = given[0].clone()
        x[0, position, component] += step
        return (x, *given[1:])

    for position in range(12):
        slopes = []
        for component in range(16):
            ends = []
            for step in (1e-6, -1e-6):
                hook = model.stack.blocks[0].register_forward_pre_hook(
                    lambda m, g, p=position, s=step, c=component: nudge(m, g, p, s, c)
                )
                with torch.no_grad():
                    ends.append(model(batch)[0, -1].max())
                hook.remove()
            slopes.append(float(ends[0] - ends[1]) / 2e-6)
        seen.append(torch.tensor(slopes).norm())
    torch.testing.assert_close(moved, torch.stack(seen).flip(0).double(), rtol=1e-4, atol=1e-6)


def test_rows_at_a_time_are_all_rows(make_model, monkeypatch):
    model, batch = make_model("decoder", "alibi"), text(20, rows=5)
    whole = fields(model, batch)
    monkeypatch.setattr(receptive, "MEMORY", 3 * 4 * 2 * 2 * 20**2 * 2)  # two rows
    parts = fields(model, batch)
    torch.testing.assert_close(whole.shares, parts.shares)
    assert torch.equal(whole.layer_gradient, parts.layer_gradient)
    monkeypatch.setattr(receptive, "MEMORY", 100)
    with pytest.raises(TenfoldError, match=r"20 tokens a row would take .* at most"):
        fields(model, batch)


@pytest.mark.parametrize(
    ("kind", "layout"), [("encoder", "in_place"), ("seq2seq", "seq2seq"), ("decoder", "causal")]
)
def test_every_architecture(make_model, make_batcher, ragged, kind, layout):
    """Padded rows too: pads are seen by nobody."""
    batcher = make_batcher(layout, **({"frame": 8} if layout == "in_place" else {}))
    model, batch = make_model(kind, "alibi"), batcher(ragged)
    was = {name: p.clone() for name, p in model.named_parameters()}
    found = fields(model, batch, 0.1)
    assert found.attention.shape == found.head_gradient.shape == (2, 2)
    for each in (found.attention, found.head_gradient, found.layer_gradient):
        assert (each >= 1).all()
        assert (each <= found.tokens).all()
    assert all(torch.equal(p, was[name]) for name, p in model.named_parameters())
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize(("kind", "layout"), [("seq2seq", "seq2seq"), ("decoder", "causal")])
def test_padded_rows_are_the_rows_alone(make_model, make_batcher, ragged, kind, layout):
    """Queries beyond a row's own answer answer nothing and do not count."""
    model, batcher = make_model(kind, "alibi"), make_batcher(layout)
    whole = receptive._looked(model, batcher(ragged))[0]
    alone = torch.zeros_like(whole)
    for row in range(len(ragged)):
        found = receptive._looked(model, batcher(ragged.rows(slice(row, row + 1))))[0]
        alone[..., : found.shape[-1]] += found
    torch.testing.assert_close(whole, alone)


def test_the_last_graded_queries_count():
    target = torch.tensor([list(range(16)), [3] * 5 + [IGNORED] * 11])
    batch = Batch(text(20, rows=2).sequence, target, given=4)
    late = receptive._late(batch, 20)
    assert [row.nonzero().flatten().tolist() for row in late] == [[18, 19], [8]]


def test_quantile():
    assert quantile(torch.tensor([[1.0, 0, 0], [1, 1, 1], [0, 0, 1]]), 0.5).tolist() == [1, 2, 3]


def test_no_share(make_model):
    with pytest.raises(TenfoldError, match="above 0 and below 1"):
        fields(make_model("decoder", "alibi"), text(8), 1.0)


def test_reach_of_windows_agrees(make_model):
    model = deaf(make_model("decoder", {"name": "window", "behind": 3, "ahead": 0}))
    found = fields(model, text(40))
    assert set(found.attention.flatten().tolist()) == {reach(Window(behind=3).series())[0].low}
