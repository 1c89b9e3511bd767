"""Numbers that sum up positional maps, on tables made by hand; the maps of whole models."""

import math

import pytest
import torch

from tenfold.features.maps.positional_maps import dispersion, layers, led_by, measures, weight_at


def test_who_leads():
    tables = [
        {-1: 5.0, 0: 1.0, 1: 2.0},
        {-1: 0.1, 0: 1.0, 1: 2.0},
        {0: 0.0, 1: 0.5},
        {0: 3.0, 1: 2.0},
    ]
    assert led_by(tables) == 0.5
    assert led_by(tables, -1) == 0.25


def test_dispersion_is_the_entropy_of_squared_lengths():
    assert dispersion({0: 0.0, 1: 7.0}) == 0.0
    assert dispersion(dict.fromkeys(range(8), 0.3)) == pytest.approx(math.log(8))
    assert dispersion({0: 1.0, 1: 2.0}) == pytest.approx(
        -(0.2 * math.log(0.2) + 0.8 * math.log(0.8))
    )


def test_weights_are_squares():
    tables = [{2: 1.0, 3: 2.0, 4: 3.0}, {2: 0.0, 3: 1.0, 4: 5.0}]
    assert weight_at(tables, (2, 3)) == pytest.approx((1 + 4 + 0 + 1) / 4)
    assert weight_at(tables, (4, 5)) == pytest.approx((9 + 25) / 2)


def at_offset(model, layer, offset, vector):
    """Nothing but one vector in a layer of relative keys."""
    encoding = model.stack.encodings[layer]
    with torch.no_grad():
        encoding.table.zero_()
        encoding.table[encoding.relation.reach + 1 + offset, : len(vector)] = torch.tensor(vector)


RELATIVE = {"name": "pairwise", "relation": {"name": "relative", "reach": 30}}


def test_the_previous_column_is_to_the_right(make_model, make_batcher, ragged):
    """Numbers are written most significant digit first: the carry comes from query - key = -1."""
    model, batch = (
        make_model("encoder", RELATIVE, layers=3),
        make_batcher("in_place", frame=6)(ragged),
    )
    for layer, offset in enumerate((1, -1, -1)):
        at_offset(model, layer, offset, [3.0, 4.0])
    found = layers(model, batch)
    assert [layer.name for layer in found] == ["layer 1", "layer 2", "layer 3"]
    assert [layer.back for layer in found] == 3 * [{"index": -1}]
    assert found[1].columns_back()[1] == 5.0
    assert measures(found) == {
        "layers-led-by-previous": pytest.approx(2 / 3), "dispersion": 0.0, "weight-at-2-3": 0.0, "weight-at-4-5": 0.0,
    }  # fmt: skip


def test_only_offsets_of_the_frame_count(make_model, make_batcher, ragged):
    model, batch = make_model("encoder", RELATIVE), make_batcher("in_place", frame=6)(ragged)
    first, last = layers(model, batch)
    assert sorted(first.columns_back()) == list(range(-12, 13))  # 13 tokens
    assert sorted(last.columns_back()) == list(range(-12, 7))  # asked from the last 7 of them alone


def test_noise_beyond_the_frame_changes_nothing(make_model, make_batcher, ragged):
    model, batch = make_model("encoder", RELATIVE), make_batcher("in_place", frame=6)(ragged)
    before = measures(layers(model, batch))
    with torch.no_grad():
        model.stack.encodings[1].table[:10] = 100.0
    assert measures(layers(model, batch)) == before
    with torch.no_grad():
        model.stack.encodings[1].table[31] = 100.0  # offset 0
    assert measures(layers(model, batch)) != before


def test_dispersion_is_of_the_layers_from_the_second_on(make_model, make_batcher, ragged):
    model = make_model("encoder", RELATIVE, layers=3)  # the first layer as it began
    at_offset(model, 1, -1, [1.0])
    at_offset(model, 2, -1, [1.0])
    with torch.no_grad():
        model.stack.encodings[2].table[31, 0] = 1.0  # offset 0, as long
    found = layers(model, make_batcher("in_place", frame=6)(ragged))
    assert measures(found)["dispersion"] == pytest.approx(math.log(2) / 2)
    assert measures(found[:1])["dispersion"] == pytest.approx(dispersion(found[0].columns_back()))


def test_no_measures_where_offsets_do_not_tell_vectors_apart(make_model, make_batcher, ragged):
    batch = make_batcher("in_place", frame=6)(ragged)
    for pe in (
        {"name": "learned", "limit": 20},
        {"name": "pairwise", "relation": {"name": "joint", "reach": 9}},
        "t5",
    ):
        assert measures(layers(make_model("encoder", pe), batch)) == {}


def test_three_kinds_of_attention(make_model, make_batcher, ragged):
    model = make_model("seq2seq", RELATIVE, encoder_layers=1)
    found = layers(model, make_batcher("seq2seq")(ragged))
    assert [layer.name for layer in found] == [
        "encoder, layer 1", "decoder, layer 1", "decoder, layer 2", "cross, layer 1", "cross, layer 2",
    ]  # fmt: skip
    assert min(found[1].maps[0].occurring.places) == 0  # a decoder sees nothing ahead
    assert min(found[3].maps[0].occurring.places) < 0


def test_a_shared_encoding_is_told_once(make_model, make_batcher, ragged):
    (found,) = layers(make_model("encoder", "rotary"), make_batcher("in_place", frame=6)(ragged))
    assert found.name == "all layers"
    assert found.nothing == 'the encoding "rotary" has nothing learned to show'
