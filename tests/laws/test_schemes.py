"""What every scheme obeys, in every layout."""

import numpy as np
import pytest
import torch

from tenfold.core.registry import Spec
from tenfold.data.schemes import SCHEMES
from tenfold.data.tasks import samplers

FACTS = {"index", "role", "significance", "column"}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def batcher(scheme, layout, make_batcher):
    options = {"frame": 6} if layout == "in_place" else {}
    return make_batcher(layout, SCHEMES.bind(scheme), **options)


def sides(batch):
    return [batch.sequence] if batch.source is None else [batch.sequence, batch.source]


@pytest.mark.parametrize("random", [False, True])
def test_adds_its_axis_and_keeps_the_facts(batcher, scheme, layout, random, ragged, make_batcher):
    options = {"frame": 6} if layout == "in_place" else {}
    plain = make_batcher(layout, **options)(ragged)
    placed = batcher(ragged, generator() if random else None)
    for before, after in zip(sides(plain), sides(placed), strict=True):
        assert set(after.places) == FACTS | {scheme}
        for fact in FACTS:
            assert torch.equal(before.places[fact], after.places[fact])
        axis = after.places[scheme]
        assert axis.dtype == torch.int64
        assert axis.min() >= -1
        pads = before.places["index"] < 0
        assert (axis.expand(len(ragged), -1)[pads.expand(len(ragged), -1)] == -1).all()


def test_without_a_generator_it_is_deterministic(batcher, scheme, ragged):
    torch.manual_seed(0)
    once = batcher(ragged)
    torch.manual_seed(1)
    again = batcher(ragged)
    for a, b in zip(sides(once), sides(again), strict=True):
        assert torch.equal(a.places[scheme], b.places[scheme])


def test_same_generator_same_places(batcher, scheme, ragged):
    once, again = batcher(ragged, generator()), batcher(ragged, generator())
    for a, b in zip(sides(once), sides(again), strict=True):
        assert torch.equal(a.places[scheme], b.places[scheme])


@pytest.mark.parametrize("random", [False, True])
def test_places_do_not_know_the_answer(scheme, layout, random, ragged, make_batcher, task):
    """Other tokens in the answer's place: the same places, for the facts and for the scheme."""
    bound = SCHEMES.bind(scheme)
    options = {"frame": 6} if layout == "in_place" else {}
    batch = make_batcher(layout, **options)(ragged)
    scrambled = batch.without_answer(task.vocabulary.end)
    expected = bound(batch.sequence.tokens, batch.sequence.places, generator() if random else None)
    axes = bound(
        scrambled.sequence.tokens, scrambled.sequence.places, generator() if random else None
    )
    assert torch.equal(axes[scheme], expected[scheme])


def check_rows_alone(batcher, scheme, examples):
    """Each row's places, computed alone, are those it has in the batch; the batch may have a larger budget."""
    assert len(set(examples.lengths.sum(1))) > 1
    together = batcher(examples)
    for row in range(len(examples)):
        alone = batcher(examples.rows(slice(row, row + 1)))
        more = together.read - alone.read
        for many, one in zip(sides(together), sides(alone), strict=True):
            places = many.places[scheme].expand(len(examples), -1)[row]
            end = len(places) - (more if one is alone.sequence else 0)
            assert torch.equal(places[end - len(one.places) : end], one.places[scheme][0])


def test_a_row_alone_has_the_places_it_has_in_a_batch(batcher, scheme, task, rng):
    """Rows of one length, as an evaluation asks them; their questions differ in length."""
    check_rows_alone(batcher, scheme, task.sample(6, 5, rng, samplers.longest))


def test_a_row_alone_has_the_places_it_has_among_longer_ones(
    batcher, scheme, layout, ragged, request
):
    check_rows_alone(batcher, scheme, ragged)


def test_runs_on_the_meta_device(scheme, layout, ragged, make_batcher):
    options = {"frame": 6} if layout == "in_place" else {}
    tokens = make_batcher(layout, **options)(ragged).to("meta").sequence
    places = SCHEMES.bind(scheme)(tokens.tokens, tokens.places, None)
    assert places[scheme].is_meta


def test_reads_no_global_seed(batcher, scheme, ragged):
    state = torch.random.get_rng_state()
    np_state = np.random.get_state()[1].copy()  # noqa: NPY002 (that it is left alone is the point)
    batcher(ragged, generator())
    assert torch.equal(torch.random.get_rng_state(), state)
    assert (np.random.get_state()[1] == np_state).all()  # noqa: NPY002


def test_both_sides_of_an_encoder_decoder_start_alike(scheme, make_batcher, task, rng):
    """With a generator, digits of one significance keep one place on an axis that follows significance."""
    options = {"reach": 50} if scheme in {"coupled", "abacus", "shifted"} else {}
    bound = SCHEMES.bind(Spec(name=scheme, options=options))
    batcher = make_batcher("seq2seq", bound, operands="reversed")
    batch = batcher(task.sample(8, 4, rng, samplers.exact), torch.Generator().manual_seed(3))
    source, answer = (side.places for side in (batch.source, batch.sequence))
    if scheme in {"coupled", "abacus"}:
        units = source[scheme][source["significance"] == 0].view(8, -1)
        own = answer[scheme][answer["significance"] == 0].view(8, 1)
        assert torch.equal(units, own.expand_as(units))
        assert len(own.unique()) > 1
    if scheme == "shifted":
        assert torch.equal(source[scheme][:, 0], answer[scheme][:, 0])


def test_abacus_counts_within_a_number_whose_digits_stand_apart(make_batcher, task):
    batch = make_batcher("causal", SCHEMES.bind("abacus"), format="interleaved")(
        task.parse("12+345")
    )
    assert batch.sequence.places["abacus"][0].tolist() == [-1, 1, 1, 2, 2, 3, 3, -1, 1, 2, 3, 4]
