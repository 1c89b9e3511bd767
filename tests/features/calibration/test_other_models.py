"""Calibration of encoders and language models, and of answers that are padded."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED
from tenfold.data.tasks import samplers
from tenfold.encodings import Attends, Calibrated
from tenfold.features.calibration.calibrate import calibrate, with_lines
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.calibration_figures import draw_calibration
from tenfold.features.calibration.line_selection import Rules, find
from tenfold.features.calibration.mean_attention import answered, average
from tenfold.models.model import trace


def test_lines_of_an_encoder_by_plain_loops(make_model, make_batcher, ragged):
    model, batch = make_model("encoder", layers=2), make_batcher("in_place", frame=6)(ragged)
    found = average(model, [batch])
    assert [(each.attention, each.layer) for each in found] == [("two-way", 1), ("two-way", 2)]
    with trace(model) as seen:
        model(batch)
    at, read = batch.sequence.places, batch.read
    role, column = (at[name].expand_as(batch.sequence.tokens) for name in ("role", "column"))
    for each in found:
        logits = seen[f"stack.blocks.{each.layer - 1}.attention.logits"][0][:, :, -read:]
        for offset in (-1, 0, 2):
            (number,) = (
                n
                for n, track in enumerate(each.tracks)
                if (track.keys, track.axis, track.offset) == ("operand 2", "column", offset)
            )
            assert each.tracks[number].direction == "diagonal"  # both run down to the units
            assert each.side(each.tracks[number]) == "self"
            rows = []
            for t in range(read):
                cells = [
                    logits[b, :, t, s]
                    for b in range(len(batch))
                    for s in range(role.shape[1])
                    if batch.target[b, t] != IGNORED and role[b, s] == 4
                    and column[b, -read + t] - column[b, s] == offset
                ]  # fmt: skip
                rows.append(torch.stack(cells).double().mean(0) if cells else None)
            means = torch.stack([row for row in rows if row is not None]).mean(0)
            torch.testing.assert_close(each.means[:, number], means, atol=1e-5, rtol=1e-4)


def test_lines_of_an_encoder_are_seen_from_all_its_tokens(make_batcher, ragged):
    line = {"attention": "two-way", "head": 1, "keys": "operand 2", "value": 0.0}
    pe = Calibrated(1, [{**line, "axis": "column", "offset": n} for n in (0, -1)])
    at = make_batcher("in_place", frame=6)(ragged).sequence.places
    assert pe.visible(at, at) is None  # of another kind of attention
    pe.serve(Attends.TWO_WAY)
    shown = pe.visible(at, at)[:, 0]
    role, column = at["role"], at["column"]
    for q in range(at.count):
        for k in range(at.count):
            both = (column[:, q] >= 0) & (column[:, k] >= 0) & (role[:, k] == 4)
            on = both & ((column[:, q] - column[:, k]).abs() <= 1) & (column[:, q] <= column[:, k])
            assert torch.equal(shown[:, q, k].expand_as(on), on)


def test_answer_tokens_above_the_digits_do_not_count(make_model, make_batcher):
    model, batcher = make_model("seq2seq", layers=1), make_batcher("seq2seq", width=9)
    examples = batcher.task.sample(20, 4, np.random.default_rng(0), samplers.lengths)
    batch, upto = batcher(examples), torch.from_numpy(examples.longest)
    digits = average(model, [batch], digits=[upto])
    column = batch.sequence.places.last(batch.read)["column"]
    other = replace(batch, target=batch.target.masked_fill(column >= upto[:, None], IGNORED))
    for each, same, whole in zip(
        digits, average(model, [other]), average(model, [batch]), strict=True
    ):
        torch.testing.assert_close(each.cells, same.cells, equal_nan=True)
        assert each.cells.shape[1] == 4  # the longest number
        assert whole.cells.shape[1] > 4
    kept = answered(model, batch, right_only=True, upto=upto)
    assert len(kept) == int((model.answer(batch) == batch.target).all(1).sum())  # of whole answers


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    (folder / "song.txt").write_text("one two three four, and again\n" * 200)
    song = {"name": "files", "path": str(folder / "song.txt")}
    chosen = tenfold.recipe("bias/text-vanilla", "smoke", task=song)
    return tenfold.train(chosen, folder / "run")


def test_a_language_model_is_calibrated(language_model, tmp_path):
    found = calibrate(language_model, 8, kappa_self=0.5)
    assert found.text
    assert found.interpolates  # it cannot be asked
    assert found.accuracy.n == 8 * language_model.recipe.data.length
    assert {(line.keys, line.axis, line.attention) for line in found.lines} == {
        ("text", "index", "causal")
    }
    assert min(line.offset for line in found.lines) >= 0
    found.save(tmp_path / "lines.json")
    assert Calibration.read(tmp_path / "lines.json") == found
    assert draw_calibration(found, tmp_path / "figures")
    chosen = with_lines(language_model.recipe, found)
    assert chosen.pe.options["question"] == "all"
    again = tenfold.train(chosen, tmp_path / "again")
    longer = 4 * chosen.data.length
    for row in again.evaluate(lengths=[longer], slices=["uniform"], n=longer):
        assert np.isfinite(row.value)


def test_lines_of_text_hide_all_other_tokens(language_model):
    found = calibrate(language_model, 8, kappa_self=0.5, source="last")
    pe = Calibrated(found.heads_a_layer, found.lines, question="all")
    assert "column" not in pe.axes
    at = language_model.built.source.one(12).sequence.places
    shown = pe.visible(at, at)
    for head in range(found.heads_a_layer):
        mine = {line.offset for line in found.lines if line.head == head + 1}
        for q in range(12):
            for k in range(q + 1):
                assert bool(shown[0, head, q, k]) is (not mine or q - k in mine)


@pytest.mark.parametrize("wrong", [{"right_only": True}, {"rows": "digits"}])
def test_a_language_model_has_no_answers(language_model, wrong):
    with pytest.raises(TenfoldError, match="a language model, which has no answers"):
        calibrate(language_model, 8, **wrong)


def test_flat_text_is_compared_as_self_attention(language_model):
    model, batch = language_model.model().cpu(), language_model.built.source.one(12)
    averages = average(model, [batch], own_answers=False)
    heads, notes = find(averages, Rules(kappa_self=100.0, kappa_cross=-100.0))
    assert not any(head.kept for head in heads)  # by kappa_self
    assert all("self-attention" in note for note in notes)
