"""Calibrated lines beside learned biases: counted by hand, chance by enumeration, biases by plain loops."""

import itertools

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.features.calibration.calibration import Accuracy, Calibration
from tenfold.features.calibration.line_selection import Rules, find
from tenfold.features.calibration.mean_attention import Average, Track, biases
from tenfold.features.calibration.shared_lines import expected_least, in_common

LINES = tuple(Track("operand 1", "anti-diagonal", "column", offset) for offset in range(3))
OPERATOR = Track("operator", "vertical")


def averages(*layers, tracks=LINES, attention="cross"):
    """One a layer, from the means of each head along each line: [[5, 0, 0], [5, 5, 0]]."""
    return [
        Average(attention, n + 1, tracks, torch.tensor(means).double()[:, None].expand(-1, 4, -1))
        for n, means in enumerate(layers)
    ]


def calibration(given):
    heads, _ = find(given, Rules())
    right = Accuracy(value=1.0, n=10, low=0.7, high=1.0)
    return Calibration(
        run="made", kind="seq2seq", layers=1, heads_a_layer=2, samples=1, rules=Rules(), accuracy=right, interpolates=True,
        heads=tuple(heads),
    )  # fmt: skip


@pytest.fixture
def kept():
    """Two heads keep the own column, one of them also the one before: three lines."""
    return calibration(averages([[5.0, 0.0, 0.0], [5.0, 5.0, 0.0]]))


def test_lines_count_as_often_as_heads_have_them(kept):
    """The three largest: own column of both heads, 2 back of the first; 9 added to a whole head means nothing."""
    found = in_common(kept, averages([[6.0, 0.0, 3.0], [9 + 6.0, 9.0, 9.0]]))
    (kind,) = found.kinds
    assert dict(kind.kept) == {LINES[0]: 2, LINES[1]: 1}
    assert dict(kind.largest) == {LINES[0]: 2, LINES[2]: 1}
    assert (found.lines, found.share) == (3, pytest.approx(2 / 3))


def test_other_layers_and_heads_are_the_same_lines(kept):
    found = in_common(kept, averages([[3.0, 0.0, 0.0]], [[6.0, 4.0, 0.0]]))
    assert found.share == 1.0


def test_chance_is_what_all_choices_give(kept):
    found = in_common(kept, averages([[6.0, 0.0, 3.0], [6.0, 0.0, 0.0]]))
    entries = [line for _ in range(2) for line in range(3)]
    choices = list(itertools.combinations(entries, 3))
    common = [min(2, c.count(0)) + min(1, c.count(1)) for c in choices]
    assert found.by_chance == pytest.approx(sum(common) / len(choices) / 3)


def test_expected_least_by_enumeration():
    choices = list(itertools.combinations([1, 1, 1, 0, 0, 0, 0], 4))
    for most in range(5):
        exact = sum(min(most, sum(c)) for c in choices) / len(choices)
        assert expected_least(most, every=7, marked=3, picked=4) == pytest.approx(exact)


def test_upright_lines_and_short_ones_are_not_compared():
    given = averages([[5.0, 0.0, 0.0, 9.0]], tracks=(*LINES, OPERATOR))
    cells = given[0].cells.clone()
    cells[:, 1:, 2] = torch.nan  # a corner: one answer token of four
    found = in_common(
        calibration([Average("cross", 1, given[0].tracks, cells)]), averages([[1.0, 0.0, 7.0]])
    )
    assert found.kinds[0].lines == LINES[:2]
    assert found.share == 1.0


def test_self_and_cross_attention_have_as_many_each():
    own = tuple(Track("answer", "diagonal", "column", offset) for offset in range(3))
    both = [
        *averages([[5.0, 0.0, 0.0]], tracks=own, attention="causal"),
        *averages([[0.0, 5.0, 0.0]]),
    ]
    learned = [
        *averages([[0.2, 0.1, 0.0]], tracks=own, attention="causal"),
        *averages([[90.0, 50.0, 0.0]]),
    ]
    found = in_common(calibration(both), learned)
    assert [(kind.group, kind.common, kind.count) for kind in found.kinds] == [
        (("causal", "self"), 1, 1),
        (("cross", "cross"), 0, 1),
    ]


def test_where_nothing_is_kept_nothing_is_in_common():
    found = in_common(calibration(averages([[1.0, 1.0, 1.0]])), averages([[6.0, 0.0, 0.0]]))
    assert (found.lines, found.share, found.by_chance) == (0, 0.0, 0.0)


@pytest.mark.parametrize(
    "learned", [averages([[0.0, 0.0, 0.0]]), averages([[6.0, 0.0, 0.0]], attention="causal")]
)
def test_a_model_without_such_biases_is_one_clear_error(kept, learned):
    with pytest.raises(TenfoldError, match="adds no bias along lines of cross-attention"):
        in_common(kept, learned)


@pytest.mark.parametrize("kind", ["seq2seq", "decoder"])
def test_biases_by_plain_loops(kind, make_model, make_batcher, ragged):
    model = make_model(kind, {"name": "scalar", "relation": {"name": "joint", "reach": 16}})
    batch = make_batcher("seq2seq" if kind == "seq2seq" else "causal")(ragged)
    found = {(each.attention, each.layer): each for each in biases(model, [batch])}
    attention, keys = ("cross", batch.source) if kind == "seq2seq" else ("causal", batch.sequence)
    each = found[attention, 2]
    held = model.stack.cross_encodings if kind == "seq2seq" else model.stack.encodings
    q_at = batch.sequence.places.last(batch.read)
    bias = held[1].bias(q_at, keys.places)
    role, column = (keys.places[axis].expand_as(keys.tokens) for axis in ("role", "column"))
    asks = q_at["column"].expand(len(batch), -1)
    for offset in (0, 1):
        rows = []  # the mean along a line is that of its answer tokens' means
        for t in range(batch.read):
            pairs = [
                bias[b, :, t, s]
                for b in range(len(batch))
                for s in range(keys.tokens.shape[1])
                if batch.target[b, t] != -100 and role[b, s] == 3 and asks[b, t] - column[b, s] == offset
            ]  # fmt: skip
            if pairs:
                rows.append(torch.stack(pairs).mean(0))
        place = each.tracks.index(Track("operand 1", "anti-diagonal", "column", offset))
        torch.testing.assert_close(each.means[:, place], torch.stack(rows).mean(0))


def test_encodings_without_a_bias_add_nothing(make_model, make_batcher, ragged):
    found = biases(make_model("seq2seq", "rotary"), [make_batcher("seq2seq")(ragged)])
    assert {float(each.means.abs().max()) for each in found} == {0.0}
