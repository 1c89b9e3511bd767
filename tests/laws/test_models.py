"""What every model obeys, with every mixer, in float64."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import safetensors.torch
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import LAYOUTS, Batch, Tokens
from tenfold.data.tasks import samplers
from tenfold.models import MIXERS, MODELS, AttentionModel, trace
from tenfold.models.layers import Attention

BUILT_OF_BLOCKS = [name for name in MODELS.names() if issubclass(MODELS[name], AttentionModel)]
CASES = {name: (name, "attention") for name in MODELS.names()} | {
    f"{name}-{mixer}": (name, mixer)
    for mixer in MIXERS.names()
    for name in BUILT_OF_BLOCKS
    if mixer != "attention"
    if MIXERS[mixer].two_way or MODELS[name].layout != "in_place"
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def make(case, make_model):
    """`make(dropout=0.5)`: the model, with an encoding that turns queries and keys where there are any."""
    name, mixer = case
    attends = name in BUILT_OF_BLOCKS and MIXERS[mixer].attends
    options = {"mixer": Spec(name=mixer)} if name in BUILT_OF_BLOCKS else {}
    if not MIXERS[mixer].two_way and MODELS[name].layout == "seq2seq":
        options["encoder_layers"] = 0  # what reads one way cannot encode

    def made(**more):
        return make_model(name, "rotary" if attends else "none", **{**options, **more})

    return made


@pytest.fixture
def model(make):
    return make()


@pytest.fixture
def written(model):
    if model.layout == "in_place":
        pytest.skip("the answer is read in place")


def options_of(layout, frame=6):
    return {"frame": frame} if layout == "in_place" else {}


@pytest.fixture
def batch(model, make_batcher, ragged):
    return make_batcher(model.layout, **options_of(model.layout))(ragged)


def read_logits(model, batch):
    """The logits at places within each row's answer budget; those beyond it are nobody's."""
    logits, valid = model(batch), batch.sequence.valid
    return logits if valid is None else logits[valid[:, -batch.read :]]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_logits_for_every_answer_token(make, norm, batch, task):
    model = make(norm=norm)
    assert model.layout in LAYOUTS
    logits, answer = model(batch), model.answer(batch)
    assert logits.shape == (*batch.target.shape, len(task.vocabulary))
    assert logits.isfinite().all()
    assert answer.shape == batch.target.shape


def test_the_answer_does_not_look_at_the_answer(model, batch, task):
    assert torch.equal(model.answer(batch), model.answer(batch.without_answer(task.vocabulary.pad)))


@pytest.mark.usefixtures("written")
def test_no_logit_depends_on_a_later_token(model, batch):
    logits = model(batch)
    for place in range(batch.read - 1):
        tokens = batch.sequence.tokens.clone()
        tokens[:, batch.given + place :] = (tokens[:, batch.given + place :] + 3) % 10
        changed = model(replace(batch, sequence=replace(batch.sequence, tokens=tokens)))
        assert_close(changed[:, : place + 1], logits[:, : place + 1])
        assert not torch.allclose(changed[:, place + 1 :], logits[:, place + 1 :])


@pytest.mark.usefixtures("written")
def test_cached_decoding_equals_uncached(model, batch, task):
    sequence, expected, logits = batch.sequence, torch.zeros_like(batch.target), []
    for place in range(batch.read):  # all from the start, for every answer token
        tokens = torch.cat([sequence.tokens[:, : batch.given], expected[:, :place]], 1)
        count = tokens.shape[1]
        valid = None if sequence.valid is None else sequence.valid[:, :count]
        so_far = Tokens(tokens, sequence.places.slice(0, count), valid)
        so_far = Batch(so_far, batch.target[:, : place + 1], batch.given, batch.source)
        logits.append(model(so_far)[:, -1])
        expected[:, place] = logits[place].argmax(-1)
    with trace(model, "head") as seen:
        answer = model.answer(batch)
    steps = len(seen["head"])  # decoding stops when every row has ended
    for cached, uncached in zip(seen["head"], logits, strict=False):
        assert_close(cached, uncached)
    for row in range(len(batch)):
        for place in range(steps):
            ended = (expected[row, :place] == task.vocabulary.end).any()
            beyond = sequence.valid is not None and not sequence.valid[row, batch.given - 1 + place]
            if not ended and not beyond:
                assert answer[row, place] == expected[row, place]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_parts_are_the_whole(model, batch, size):
    assert_close(torch.cat(list(model.in_parts(batch, size)), 1), model(batch))


def test_a_row_alone_is_the_row_in_a_ragged_batch(model, batch, make_batcher, ragged):
    batcher = make_batcher(model.layout, **options_of(model.layout))
    together, answers = model(batch), model.answer(batch)
    for row in range(len(ragged)):
        alone = batcher(ragged.rows(slice(row, row + 1)))
        logits = model(alone)[0]
        assert_close(together[row, : len(logits)], logits)
        assert answers[row, : len(logits)].tolist() == model.answer(alone)[0].tolist()


def test_padding_is_never_read(model, batch):
    """What stands in a pad's place changes no logit that is read."""
    changed = batch
    if batch.sequence.valid is not None:
        tokens = batch.sequence.tokens.masked_fill(~batch.sequence.valid, 3)
        changed = replace(changed, sequence=replace(batch.sequence, tokens=tokens))
    if batch.source is not None:
        tokens = batch.source.tokens.masked_fill(~batch.source.valid, 3)
        changed = replace(changed, source=replace(batch.source, tokens=tokens))
    assert torch.equal(read_logits(model, changed), read_logits(model, batch))


def test_every_question_token_matters(model, batch, task):
    """The first digit of a question changes the logits: nothing that a mixer should carry is lost."""
    side = batch.sequence if batch.source is None else batch.source
    valid = torch.ones_like(side.tokens, dtype=torch.bool) if side.valid is None else side.valid
    first = valid.byte().argmax(1)
    tokens, rows = side.tokens.clone(), torch.arange(len(batch))
    tokens[rows, first] = (tokens[rows, first] + 3) % len(task.vocabulary)
    key = "sequence" if batch.source is None else "source"
    changed = model(replace(batch, **{key: replace(side, tokens=tokens)}))
    assert (changed - model(batch)).abs().amax((1, 2)).min() > 1e-9


def test_gradient_reaches_every_parameter(model, batch):
    model(batch).pow(3).sum().backward()
    unreached = [
        name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0
    ]
    assert unreached == []


def test_saved_and_reloaded_answers_alike(model, make, batch):
    data = safetensors.torch.save(model.state_dict())
    other = make(lively=False)
    assert not torch.equal(other(batch), model(batch))
    other.load_state_dict(safetensors.torch.load(data))
    assert torch.equal(other(batch), model(batch))
    assert torch.equal(copy.deepcopy(other)(batch), model(batch))


def test_runs_on_the_meta_device(make, batch, task):
    with torch.device("meta"):
        hollow = make()
    logits = hollow(batch.to("meta"))
    assert logits.is_meta
    assert logits.shape == (*batch.target.shape, len(task.vocabulary))


def test_made_on_meta_and_filled_later(model, make, batch):
    with torch.device("meta"):
        hollow = make()
    hollow.to_empty(device="cpu").load_state_dict(model.state_dict())
    assert torch.equal(hollow(batch), model(batch))


def test_ten_times_the_length_is_finite(model, make_batcher, task):
    long = task.sample(2, 50, np.random.default_rng(7), samplers.exact)
    assert model(make_batcher(model.layout, **options_of(model.layout, 50))(long)).isfinite().all()


def test_attention_is_a_distribution_that_sees_no_padding(case, model, batch):
    if case[1] != "attention" and batch.source is not None:
        pytest.skip("it attends to its source alone")
    if not any(isinstance(module, Attention) for module in model.modules()):
        with pytest.raises(TenfoldError, match="needs attention"):
            with trace(model):
                pass
        return
    with trace(model) as seen:
        model(batch)
    weights = {k: v[0] for k, v in seen.items() if k.endswith("attention.weights")}
    assert len(weights) == (4 if batch.source is not None else 2) - (model.name == "seq2seq")
    for name, each in weights.items():
        assert_close(each.sum(-1), torch.ones(each.shape[:-1], dtype=torch.float64))
        of = batch.source if name.startswith("encoder.") else batch.sequence
        if of.valid is not None:
            real, pads = of.valid[:, -each.shape[2] :], ~of.valid
            both = real[:, None, :, None] & pads[:, None, None, :]
            assert each.masked_select(both).abs().sum() == 0


def test_same_weights_same_logits(make, batch):
    model = make(dropout=0.5)
    assert torch.equal(model(batch), model(batch))  # no dropout where it is not training
    model.train()
    assert not torch.equal(model(batch), model(batch))


@pytest.mark.parametrize("name", BUILT_OF_BLOCKS)
def test_heads_that_do_not_divide_the_width(name, make_model):
    with pytest.raises(TenfoldError, match="width of 16 does not divide into 3 heads"):
        make_model(name, heads=3)


def test_parameter_count(model):
    assert model.parameter_count() == sum(t.numel() for t in model.state_dict().values())
    assert model.device.type == "cpu"
