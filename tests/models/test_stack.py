"""The trunk: what is read, which layers have which encoding, named activations, dropout."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.models import activations, trace
from tenfold.models.layers import Dropout, set_generator


@pytest.fixture
def sequence(make_batcher, ragged):
    return make_batcher("causal")(ragged).sequence


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("read", [1, 3])
def test_reading_the_last_positions_is_reading_all_and_cutting(norm, read, sequence, make_model):
    stack = make_model("decoder", "rotary", norm=norm).stack
    assert_close(stack(sequence, read=read), stack(sequence)[:, -read:])


def test_norms_differ(sequence, make_model):
    pre, post = (make_model("decoder", norm=norm).stack for norm in ("pre", "post"))
    post.load_state_dict({k: v for k, v in pre.state_dict().items() if not k.startswith("norm")})
    assert not torch.allclose(pre(sequence), post(sequence))


@pytest.mark.parametrize(("pe", "tables"), [("learned", 1), ("pairwise", 3), ("none", 0)])
def test_an_encoding_for_each_layer_unless_shared(pe, tables, make_model):
    model = make_model("decoder", pe, layers=3)
    assert sum(name.endswith("table") for name in model.state_dict()) == tables


def test_layers_use_their_own_table(sequence, make_model):
    model = make_model("decoder", "pairwise")
    before = model.stack(sequence)
    for layer in (0, 1):
        with torch.no_grad():
            model.stack.encodings[layer].table.neg_()
        after = model.stack(sequence)
        assert not torch.allclose(before, after)
        before = after


def test_source_without_an_encoder(make_model, make_batcher, ragged):
    model, batch = (
        make_model("seq2seq", "rotary", encoder_layers=0),
        make_batcher("seq2seq")(ragged),
    )
    assert model(batch).isfinite().all()
    memory = model.encode(batch)
    assert_close(memory.x, model.encoder.norm(model.encoder.embedding(batch.source.tokens)))


def test_the_decoder_reads_its_source(make_model, make_batcher, ragged):
    model, batch = make_model("seq2seq", "rotary"), make_batcher("seq2seq")(ragged)
    other = batch.source.tokens.clone()
    other[:, -1] = (other[:, -1] + 1) % 10
    changed = replace(batch, source=replace(batch.source, tokens=other))
    assert (model(batch) - model(changed)).abs().amax((1, 2)).min() > 1e-3


def test_trace_by_name(sequence, make_model):
    model = make_model("decoder")
    names = activations(model)
    assert "stack.blocks.1.attention.weights" in names
    with trace(model, "stack.blocks.0.attention.logits", "stack.blocks.0") as seen:
        model.stack(sequence)
        model.stack(sequence)
    logits, out = seen["stack.blocks.0.attention.logits"], seen["stack.blocks.0"]
    assert len(logits) == len(out) == 2
    count = sequence.tokens.shape[1]
    assert logits[0].shape == (5, 2, count, count)
    model.stack(sequence)
    assert len(logits) == 2  # the hooks are gone


def test_trace_of_an_unknown_name(make_model):
    with pytest.raises(
        TenfoldError, match=r'unknown activation "stack\.blocks\.0\.attention\.weight"'
    ):
        with trace(make_model("decoder"), "stack.blocks.0.attention.weight"):
            pass


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_drops_this_share_and_keeps_the_mean(p):
    dropout = Dropout(p).train()
    dropout.generator = torch.Generator().manual_seed(0)
    out = dropout(torch.ones(400_001, dtype=torch.float64))
    assert abs((out == 0).double().mean() - p) < 0.004
    assert_close(out[out != 0].unique(), torch.tensor([1 / (1 - p)]).double(), rtol=1e-4, atol=0)
    assert len(out) == 400_001


def test_dropout_draws_from_the_generator_it_is_handed(make_model, sequence):
    model = make_model("decoder", dropout=0.3).train()
    generator = torch.Generator()
    set_generator(model, generator)
    state = torch.random.get_rng_state()
    outputs = []
    for seed in (1, 1, 2):
        generator.manual_seed(seed)
        outputs.append(model.stack(sequence))
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])
    assert torch.equal(torch.random.get_rng_state(), state)


def test_no_dropout_where_it_is_not_wanted(normal):
    x = normal(10)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x


@pytest.mark.parametrize(("shape", "expected"), [({}, 0.1), ({"embedding_dropout": 0.0}, 0.0)])
def test_dropout_of_the_embedded_tokens_may_differ(make_model, shape, expected):
    model = make_model("encoder", dropout=0.1, **shape)
    assert model.stack.dropout.p == expected
    assert model.stack.blocks[0].dropout.p == 0.1
