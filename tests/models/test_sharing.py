"""Which layers own which parts of an encoding, and that sharing outlives copies, casts and files."""

import copy

import pytest
import safetensors.torch
import torch
from torch.testing import assert_close

from tenfold.encodings import T5, Learned, NoPE, Pairwise

PAIRS = {"name": "pairwise", "relation": {"reach": 400}}
PARTS = {"name": "compose", "parts": ["t5", PAIRS, {"name": "learned", "limit": 400}]}
NESTED = {
    "name": "compose",
    "parts": [
        {"name": "per-head", "parts": ["t5", PAIRS]},
        {"name": "compose", "parts": [{"name": "learned", "limit": 400}]},
    ],
}


@pytest.fixture(params=[PARTS, NESTED], ids=["flat", "nested"])
def decoder(request, make_model):
    return make_model("decoder", request.param, layers=3)


@pytest.fixture
def batch(make_batcher, ragged):
    return make_batcher("causal")(ragged)


def tables(module, kind):
    return [part.table for part in module.modules() if isinstance(part, kind)]


def read(encoding, kind):
    """The tables of this kind that a layer's encoding uses, its own and borrowed ones."""
    parts = getattr(encoding, "parts", None)
    if parts is None:
        return [encoding.table] if isinstance(encoding, kind) else []
    return [table for part in parts for table in read(part, kind)]


def assert_shared(model):
    """One T5, one learned table, and pairwise vectors for each layer; every layer uses the one T5."""
    (t5,), (_,), pairs = (tables(model, kind) for kind in (T5, Learned, Pairwise))
    assert len(set(map(id, pairs))) == 3
    for layer, own in enumerate(pairs):
        (used,), (vectors,) = (read(model.stack.encodings[layer], kind) for kind in (T5, Pairwise))
        assert used is t5
        assert vectors is own


def test_later_layers_borrow_what_is_shared(decoder):
    assert_shared(decoder)
    state = decoder.state_dict()
    assert sum(name.endswith("table") for name in state) == 1 + 1 + 3
    assert len({tensor.data_ptr() for tensor in state.values()}) == len(state)
    assert len(list(decoder.parameters())) == len(state)


def test_all_layers_feel_a_shared_part(decoder, batch):
    """What is shared has the gradients of all layers; what is not, of its own."""
    (t5,), pairs = tables(decoder, T5), tables(decoder, Pairwise)
    wanted = [read(decoder.stack.encodings[layer], T5)[0] for layer in range(3)]
    decoder(batch).pow(2).sum().backward()
    assert all(table.grad is t5.grad for table in wanted)
    assert all(table.grad.abs().sum() > 0 for table in (t5, *pairs))


@pytest.mark.parametrize("change", [copy.deepcopy, torch.nn.Module.double, torch.nn.Module.float])
def test_copies_and_casts_keep_it(decoder, batch, change):
    before = decoder(batch)
    changed = change(decoder)
    assert_shared(changed)
    assert_close(changed(batch).double(), before, rtol=1e-2, atol=1e-2)
    with torch.no_grad():
        tables(changed, T5)[0].normal_()
    assert not torch.allclose(changed(batch).double(), before, rtol=1e-1, atol=1e-1)
    if change is copy.deepcopy:
        assert torch.equal(decoder(batch), before)


def test_saved_and_loaded(decoder, batch, tmp_path):
    """safetensors refuses tensors that share memory."""
    safetensors.torch.save_file(decoder.state_dict(), tmp_path / "model.safetensors")
    expected, other = decoder(batch), copy.deepcopy(decoder)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    other.load_state_dict(safetensors.torch.load_file(tmp_path / "model.safetensors"))
    assert_shared(other)
    assert torch.equal(other(batch), expected)


@pytest.mark.parametrize("pe", [PARTS, NESTED], ids=["flat", "nested"])
def test_cross_attention_has_no_part_that_only_embeds(make_model, make_batcher, ragged, pe):
    model = make_model("seq2seq", pe, layers=3)
    stack = model.stack
    assert len(tables(stack.encodings, Learned)) == len(tables(model.encoder, Learned)) == 1
    assert tables(stack.cross_encodings, Learned) == []
    assert len(tables(stack.cross_encodings, T5)) == 1
    assert len(tables(stack.cross_encodings, Pairwise)) == 3
    own = {id(table) for table in tables(stack.encodings, (T5, Pairwise))}
    assert own.isdisjoint(id(table) for table in tables(stack.cross_encodings, (T5, Pairwise)))
    model(make_batcher("seq2seq")(ragged)).pow(2).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_what_only_embeds_has_no_part_in_cross_attention(make_model):
    assert isinstance(make_model("seq2seq", "learned").stack.cross_encodings[0], NoPE)


def test_without_layers_only_what_embeds_is_left(make_model):
    encoder = make_model("seq2seq", PARTS, encoder_layers=0).encoder
    assert len(tables(encoder, Learned)) == 1
    assert tables(encoder, (T5, Pairwise)) == []
