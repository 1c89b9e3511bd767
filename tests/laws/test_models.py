"""What every model obeys."""

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import LAYOUTS
from tenfold.models import MODELS, trace


@pytest.fixture
def batch(model_name, make_batcher, ragged):
    layout = MODELS[model_name].layout
    return make_batcher(layout, **({"frame": 6} if layout == "in_place" else {}))(ragged)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_logits_for_every_answer_token(model_name, norm, batch, make_model, task):
    model = make_model(model_name, "rotary", norm=norm)
    assert MODELS[model_name].layout in LAYOUTS
    logits, answer = model(batch), model.answer(batch)
    assert logits.shape == (*batch.target.shape, len(task.vocabulary))
    assert logits.isfinite().all()
    assert answer.shape == batch.target.shape


def test_the_answer_does_not_look_at_the_answer(model_name, batch, make_model, task):
    model = make_model(model_name, "rotary")
    assert torch.equal(model.answer(batch), model.answer(batch.asked(task.vocabulary.pad)))


def test_attention_is_a_distribution_that_sees_no_padding(model_name, batch, make_model):
    model = make_model(model_name, "rotary")
    with trace(model) as seen:
        model(batch)
    weights = {k: v[0] for k, v in seen.items() if k.endswith("attention.weights")}
    assert len(weights) == (4 if batch.source is not None else 2) - (model_name == "seq2seq")
    for name, each in weights.items():
        assert_close(each.sum(-1), torch.ones(each.shape[:-1], dtype=torch.float64))
        of = batch.source if name.startswith("encoder.") else batch.sequence
        if of.valid is not None:
            real, pads = of.valid[:, -each.shape[2] :], ~of.valid
            both = real[:, None, :, None] & pads[:, None, None, :]
            assert each.masked_select(both).abs().sum() == 0


def test_same_weights_same_logits(model_name, batch, make_model):
    model = make_model(model_name, "rotary", dropout=0.5)
    assert torch.equal(model(batch), model(batch))  # no dropout where it is not training
    model.train()
    assert not torch.equal(model(batch), model(batch))


def test_heads_that_do_not_divide_the_width(model_name, make_model):
    with pytest.raises(TenfoldError, match="width of 16 does not divide into 3 heads"):
        make_model(model_name, heads=3)


def test_parameter_count(model_name, make_model):
    model = make_model(model_name)
    assert model.parameter_count() == sum(t.numel() for t in model.state_dict().values())
    assert model.device.type == "cpu"
