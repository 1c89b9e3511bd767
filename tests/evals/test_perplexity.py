"""Perplexity against length: the same tokens at every length, each once, within the memory that is allowed."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import running_text
from tenfold.data.schemes import SCHEMES
from tenfold.encodings import ENCODINGS, SIZES
from tenfold.evals.perplexity import Reader, TextMemory, by_position, interval
from tenfold.models import MODELS, Shape

VOCABULARY = 13
COMPOSED = ("calibrated", "compose", "per-head")  # of others, which are here
ENCODED = [name for name in ENCODINGS.names() if name not in COMPOSED]


def made(pe="alibi", **size):
    """A decoder in float64 whose every parameter matters."""
    shape = Shape(**{"layers": 2, "width": 16, "heads": 2, **size})
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        factory = ENCODINGS.factory(Spec.of(pe), SIZES)
        model = MODELS["decoder"](vocabulary=VOCABULARY, end=0, shape=shape, pe=factory)
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.3)
    return model.double().eval()


@pytest.fixture
def text(rng):
    return rng.integers(0, VOCABULARY, 400).astype(np.uint8)


def slow_loss(model, tokens):
    """Of the last of these tokens, given all before it: one forward pass for it alone."""
    batch = running_text(torch.from_numpy(np.asarray(tokens, dtype=np.int64))[None])
    with torch.no_grad():
        return F.cross_entropy(model(batch)[0, -1:], batch.target[0, -1:]).item()


def test_blocks_predict_every_token_once_given_its_block(text):
    model, span = made(), text[:31].astype(np.int64)
    (result,) = Reader(text).blocks(model, span[None], 8)
    expected = [slow_loss(model, span[n // 8 * 8 : n + 2]) for n in range(30)]
    np.testing.assert_allclose(result, expected, rtol=1e-9)


def test_sliding_predicts_every_token_once_with_three_quarters_in_sight(text):
    model, span = made(), text[:31].astype(np.int64)
    (result,) = Reader(text).sliding(model, span[None], 8)
    starts = [0] * 8 + [2 * (n // 2 - 3) for n in range(8, 30)]
    expected = [slow_loss(model, span[start : n + 2]) for n, start in enumerate(starts)]
    np.testing.assert_allclose(result, expected, rtol=1e-9)


def test_at_the_length_of_the_text_both_are_one_block(text):
    model, reader, span = made(), Reader(text), text[None, :21].astype(np.int64)
    np.testing.assert_allclose(reader.sliding(model, span, 20), reader.blocks(model, span, 20))


@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize("part", [1, 7])
def test_part_by_part_is_the_same_as_at_once(name, part, rng):
    pe = {"name": name, **ENCODINGS[name].examples(64)[0]}
    model = made(pe)
    tokens = torch.from_numpy(rng.integers(0, VOCABULARY, (3, 18)))
    facts = torch.zeros(1, 17, dtype=torch.int64)
    batch = running_text(tokens)
    for axis in model.stack.encodings[0].axes - set(batch.sequence.places):
        batch.sequence.places._axes[axis] = facts  # whatever it reads, to be there
    with torch.no_grad():
        parts = torch.cat(list(model.in_parts(batch, part)), 1)
        torch.testing.assert_close(parts, model(batch), rtol=1e-9, atol=1e-9)


def test_the_same_tokens_at_every_length(text):
    reader = Reader(text, passage=50)
    rows = reader.rows(made(), [4, 16, 50], ["uniform", "sliding"], n=200)
    assert {row.n for row in rows} == {200}
    assert np.array_equal(reader.passages(200, 4), reader.passages(200, 50))
    alone = reader.rows(made(), [4], ["uniform"], n=200)
    assert alone == [row for row in rows if row.length == 4 and row.slice == "uniform"]


def test_passages_are_spread_over_the_text_and_do_not_overlap():
    text = np.arange(250, dtype=np.uint8)
    for seed in (0, 1, 2):
        result = Reader(text, passage=20, seed=seed).passages(100, 10)
        assert result.shape == (5, 21)
        assert (np.diff(result, axis=1) == 1).all()
        assert (np.diff(result[:, 0]) == 49).all()
        assert result.max() < 250
        assert (result[0, 0] == 0) == (seed == 0)


def test_a_longer_length_than_a_passage_makes_longer_passages(text):
    assert Reader(text, passage=20).passages(100, 60).shape == (1, 61)
    assert Reader(text, passage=20).passages(100, 10).shape == (5, 21)


def test_rows_agree_with_each_other(text):
    widths = np.full(VOCABULARY, 2)
    rows = {r.metric: r for r in Reader(text, widths).rows(made(), [8], n=100)}
    assert rows["perplexity"].value == pytest.approx(math.exp(rows["loss"].value))
    assert rows["bits-per-byte"].value == pytest.approx(rows["loss"].value / math.log(2) / 2)
    for row in rows.values():
        assert row.low < row.value < row.high
    assert rows["perplexity"].low == pytest.approx(math.exp(rows["loss"].low))


def test_without_widths_there_are_no_bits_per_byte(text):
    assert {r.metric for r in Reader(text).rows(made(), [8], n=100)} == {"loss", "perplexity"}


def test_a_model_that_knows_nothing_has_the_perplexity_of_chance(text):
    model = made()
    with torch.no_grad():
        model.head.weight.zero_()
        model.head.bias.zero_()
    for row in Reader(text).rows(model, [5, 60], ["uniform", "sliding"], n=120):
        expected = VOCABULARY if row.metric == "perplexity" else math.log(VOCABULARY)
        assert row.value == pytest.approx(expected)


def test_positions_are_the_blocks_by_place(text):
    reader, model = Reader(text), made()
    rows = reader.rows(model, [8], ["uniform", "positions"], n=96)
    (mean,) = (row.value for row in rows if row.slice == "uniform" and row.metric == "loss")
    places = [row for row in rows if row.slice.startswith("position")]
    assert [row.slice for row in places] == [
        "position-1",
        "position-2",
        "position-3-4",
        "position-5-8",
    ]
    assert sum(row.n for row in places) == 96
    assert sum(row.value * row.n for row in places) / 96 == pytest.approx(mean)


def test_positions_of_a_length_that_is_no_power_of_two():
    result = by_position(np.arange(12.0).reshape(1, 12), 6)
    assert [(row.slice, row.n) for row in result][-1] == ("position-5-6", 4)
    assert sum(row.n for row in result) == 12


def test_the_interval_is_over_passages_not_tokens(rng):
    """Tokens of a passage go together: 40 levels and no noise tell as little as 40 numbers do."""
    levels = rng.normal(size=40)
    low, high = interval(np.repeat(levels[:, None], 100, axis=1))
    assert high - low == pytest.approx(2 * 1.96 * levels.std() / math.sqrt(40), rel=0.15)


def test_another_seed_reads_elsewhere_and_the_same_seed_the_same(text):
    result = [Reader(text, seed=seed).passages(50, 10) for seed in (0, 3, 3, 4)]
    assert np.array_equal(result[0][0], text[:11])
    assert np.array_equal(result[1], result[2])
    assert not np.array_equal(result[1], result[3])


def test_fewer_tokens_than_asked_for_are_told(text):
    assert {row.n for row in Reader(text).rows(made(), [8], n=10_000)} == {392}  # 49 passages of 8


def test_schemes_add_their_axes(text):
    reader = Reader(text, schemes=[SCHEMES.bind({"name": "randomized", "limit": 64})])
    model = made({"name": "learned", "axis": "randomized", "limit": 64})
    assert len(reader.rows(model, [8], n=40)) == 2


@pytest.mark.parametrize("length", [64, 512, 2304, 9216, 100_000])
def test_the_plan_stays_within_memory(length):
    memory = TextMemory(heads=8, width=512, layers=6, vocabulary=50_257)
    blocks, part = memory.plan(length)
    keys = 8 * memory.layers * memory.width * length
    assert blocks >= 1
    assert 1 <= part <= length
    assert blocks == 1 or blocks * (part * memory.query(length) + keys) <= memory.bytes
    assert part == 1 or part * memory.query(length) <= memory.bytes


def test_little_memory_changes_nothing_but_the_parts(text):
    model = made()
    wide = Reader(text).rows(model, [64], n=128)
    narrow = Reader(text, memory=TextMemory(2, 16, 2, VOCABULARY, bytes=40_000)).rows(
        model, [64], n=128
    )
    assert TextMemory(2, 16, 2, VOCABULARY, bytes=40_000).plan(64)[1] < 64
    assert [row.value for row in narrow] == pytest.approx([row.value for row in wide], rel=1e-9)


@pytest.mark.parametrize(
    ("lengths", "slices", "n", "message"),
    [
        ([401], ["uniform"], 1000, "at the most the 399 tokens"),
        ([50], ["uniform"], 40, "at the most the 40 tokens"),
        ([8], ["nines"], 40, 'unknown slice of a text "nines"'),
    ],
)
def test_what_is_refused(text, lengths, slices, n, message):
    with pytest.raises(TenfoldError, match=message):
        Reader(text).rows(made(), lengths, slices, n)


def test_a_length_beyond_memory_is_one_line():
    with pytest.raises(
        TenfoldError, match=r"a length of 1,000,000,000 tokens needs about .* GiB"
    ) as caught:
        TextMemory().plan(10**9)
    assert "\n" not in str(caught.value)
