"""What every encoding obeys, in every model, in float64."""

from dataclasses import replace

import numpy as np
import pytest
import safetensors.torch
import torch
from torch.testing import assert_close

from tenfold.batch import Batch, Tokens
from tenfold.errors import TenfoldError
from tenfold.evals.exact import _rows
from tenfold.models import MODELS, trace
from tenfold.pe import PositionalEncoding
from tenfold.places import Places
from tenfold.tasks import samplers

TIGHT = {  # options with a limit below ten times the training length
    "learned": {"limit": 30},
    "pairwise": {"relation": {"name": "relative", "reach": 30}},
}
DECODERS = ("decoder", "seq2seq")


@pytest.fixture
def batch(model_name, make_batcher, ragged):
    options = {"frame": 6} if MODELS[model_name].layout == "in_place" else {}
    return make_batcher(MODELS[model_name].layout, **options)(ragged)


@pytest.fixture
def model(model_name, encoding, make_model):
    return make_model(model_name, encoding)


def moved(sequence, axes, by):
    if sequence is None:
        return None
    places = {name: sequence.places[name] for name in sequence.places}
    for axis in axes:
        places[axis] = torch.where(places[axis] >= 0, places[axis] + by, -1)
    return replace(sequence, places=Places(**places))


def first(sequence, count):
    valid = None if sequence.valid is None else sequence.valid[:, :count]
    return Tokens(sequence.tokens[:, :count], sequence.places.slice(0, count), valid)


def until_end(row, end):
    row = row.tolist()
    return row[: row.index(end) + 1] if end in row else row


def test_prefix_is_read_as_in_the_longer_sequence(encoding, make_model, make_batcher, ragged):
    model, sequence = make_model("decoder", encoding), make_batcher("causal")(ragged).sequence
    whole = model.head(model.stack(sequence))
    for count in range(1, len(sequence.places)):
        assert_close(model.head(model.stack(first(sequence, count))), whole[:, :count])


def read_logits(model, batch):
    """The logits at places within each row's answer budget; those beyond it are nobody's."""
    logits, valid = model(batch), batch.sequence.valid
    return logits if valid is None else logits[valid[:, -batch.read :]]


def test_shift_changes_nothing_exactly_where_declared(model, encoding, batch):
    pe = model.stack.encodings[0]
    relation = getattr(pe, "relation", None)
    declared = pe.shift_invariant or getattr(relation, "shift_invariant", False)
    axes = pe.axes or {"index"}
    further = replace(
        batch, sequence=moved(batch.sequence, axes, 9), source=moved(batch.source, axes, 9)
    )
    difference = (read_logits(model, batch) - read_logits(model, further)).abs().max()
    assert difference < 1e-10 if declared else difference > 1e-3


@pytest.mark.parametrize("room", ["ample", "tight"])
def test_ten_times_the_length_is_finite_or_one_clear_error(
    model_name, encoding, room, make_model, make_batcher, task, rng
):
    layout = MODELS[model_name].layout
    options = {"frame": 50} if layout == "in_place" else {}
    batch = make_batcher(layout, **options)(task.sample(2, 50, rng, samplers.exact))
    if room == "tight":
        encoding = {**encoding, **TIGHT.get(encoding["name"], {})}
    model = make_model(model_name, encoding)
    if room == "tight" and encoding["name"] in TIGHT:
        with pytest.raises(TenfoldError, match=r"(29|30), the input (reaches|spans) \d+"):
            model(batch)
    else:
        assert model(batch).isfinite().all()


def test_gradient_reaches_every_parameter(model, batch):
    model(batch).pow(3).sum().backward()
    unreached = [
        name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0
    ]
    assert unreached == []


def test_saved_and_reloaded_answers_alike(model_name, encoding, model, batch, make_model):
    data = safetensors.torch.save(model.state_dict())
    other = make_model(model_name, encoding, lively=False)
    assert not torch.equal(other(batch), model(batch))
    other.load_state_dict(safetensors.torch.load(data))
    assert torch.equal(other(batch), model(batch))


@pytest.mark.parametrize("model_name", DECODERS, indirect=True)
def test_cached_decoding_equals_uncached(model, batch, task):
    sequence, expected, logits = batch.sequence, torch.zeros_like(batch.target), []
    for place in range(batch.read):  # all from the start, for every answer token
        tokens = torch.cat([sequence.tokens[:, : batch.given], expected[:, :place]], 1)
        so_far = first(replace(sequence, tokens=tokens), tokens.shape[1])
        so_far = Batch(so_far, batch.target[:, : place + 1], batch.given, batch.source)
        logits.append(model(so_far)[:, -1])
        expected[:, place] = logits[place].argmax(-1)
    with trace(model, "head") as seen:
        answer = model.answer(batch)
    steps = len(seen["head"])  # decoding stops when every row has ended
    assert_close(torch.stack(seen["head"]), torch.stack(logits[:steps]))
    assert torch.equal(answer[:, :steps], expected[:, :steps])
    ended = (answer[:, :steps] == task.vocabulary.end).any(1).all()
    assert steps == batch.read or ended


def test_a_row_alone_is_the_row_in_a_ragged_batch(
    model_name, model, batch, make_batcher, ragged, task
):
    options = {"frame": 6} if model.layout == "in_place" else {}
    batcher = make_batcher(model.layout, **options)
    together, answers = model(batch), model.answer(batch)
    for row in range(len(ragged)):
        alone = batcher(_rows(ragged, slice(row, row + 1)))
        logits = model(alone)[0]
        assert_close(together[row, : len(logits)], logits)
        own = until_end(model.answer(alone)[0], task.vocabulary.end)
        assert answers[row].tolist()[: len(own)] == own


def test_padding_is_never_read(model_name, model, batch):
    """What stands in a pad's place changes no logit that is read."""
    changed = batch
    if batch.sequence.valid is not None:
        tokens = batch.sequence.tokens.masked_fill(~batch.sequence.valid, 3)
        changed = replace(changed, sequence=replace(batch.sequence, tokens=tokens))
    if batch.source is not None:
        tokens = batch.source.tokens.masked_fill(~batch.source.valid, 3)
        changed = replace(changed, source=replace(batch.source, tokens=tokens))
    assert torch.equal(read_logits(model, changed), read_logits(model, batch))


def test_runs_on_the_meta_device(model_name, encoding, batch, make_model):
    with torch.device("meta"):
        model = make_model(model_name, encoding)
    logits = model(batch.to("meta"))
    assert logits.is_meta
    assert logits.shape == (*batch.target.shape, 15)


def test_reads_only_the_axes_it_declares(model, batch):
    axes = set().union(*(m.axes for m in model.modules() if isinstance(m, PositionalEncoding)))

    def only(sequence):
        if sequence is None:
            return None
        kept = {axis: sequence.places[axis] for axis in axes or {"index"}}
        return replace(sequence, places=Places(**kept))

    few = replace(batch, sequence=only(batch.sequence), source=only(batch.source))
    assert torch.equal(model(few), model(batch))


def test_large_batches_read_as_small_ones(model, make_batcher, task):
    """Encodings may choose a faster form for many alike rows; it must say the same."""
    options = {"frame": 4} if model.layout == "in_place" else {}
    batcher = make_batcher(model.layout, **options)
    examples = task.sample(12, 4, np.random.default_rng(1), samplers.exact)
    together = model(batcher(examples))
    for row in range(12):
        assert_close(together[row], model(batcher(_rows(examples, slice(row, row + 1))))[0])
