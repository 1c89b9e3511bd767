"""Pictures of attention: which head is shown, what its lines are on a question, and that all of it is drawn."""

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.features.calibration.attention_figures import (
    before_after,
    bias_of,
    curve,
    lines_beside,
    right_then_lost,
    shown_head,
    tokens_of,
)
from tenfold.features.calibration.calibrate import calibrate, with_lines
from tenfold.features.calibration.line_selection import Rules, find
from tenfold.features.calibration.mean_attention import Average, Track
from tenfold.features.calibration.question_attention import compared, leading_head, looks_of, shares
from tenfold.runs.recipe import Recipe
from tenfold.runs.train import train


def small(kind, **changes):
    return Recipe(
        name="small", format={"name": "reversed", "width": 4, "spare": 1}, pe="sinusoidal",
        data={"length": 3, "sampler": "lengths"},
        model={"kind": kind, "layers": 2, "width": 16, "heads": 2},
        train={"steps": 2, "batch": 8},
        eval={"lengths": [3, 6], "slices": ["uniform"], "n": 8, "every": 2},
    ).replace(**changes)  # fmt: skip


@pytest.fixture(scope="module", params=["seq2seq", "decoder"])
def stages(request, tmp_path_factory):
    """A run, its calibration, and the run trained again."""
    folder = tmp_path_factory.mktemp(request.param)
    first = train(small(request.param), folder / "first")
    how = {"kappa_self": 0.0, "kappa_cross": 0.0, "allow_imperfect": True}
    found = calibrate(first, 40, checked=8, **how)
    return first, train(with_lines(first.recipe, found), folder / "second"), found


def test_before_and_after(stages, tmp_path):
    first, second, found = stages
    drawn = before_after(first, second, found, tmp_path / "picture")
    assert [file.name for file in drawn.files] == ["picture.png", "picture.svg"]
    assert all(file.stat().st_size > 10_000 for file in drawn.files)
    for words in (
        "first training, 3 digits: ",
        "the same, 6 digits: ",
        "trained again, 6 digits: ",
    ):
        assert words in drawn.svg
    assert "its lines, as a bias" in drawn.svg


@pytest.mark.parametrize("stages", ["seq2seq"], indirect=True)
def test_a_calibration_that_keeps_nothing_is_drawn_too(stages, tmp_path):
    first, second, found = stages
    bare = [
        head.model_copy(update={"families": tuple(_bare(f) for f in head.families)})
        for head in found.heads
    ]
    drawn = before_after(
        first, second, found.model_copy(update={"heads": tuple(bare)}), tmp_path / "p"
    )
    assert "it keeps no line: no bias" in drawn.svg


def _bare(family):
    lines = tuple(line.model_copy(update={"kept": False}) for line in family.lines)
    return family.model_copy(update={"lines": lines})


def test_the_bias_is_that_of_the_model_trained_again(stages):
    first, second, found = stages
    looked = looks_of(second, 6, 4)
    head = shown_head(found, looks_of(first, 3, 4))
    crossing = head.attention == "cross"
    stack = second.model().stack
    pe = (stack.cross_encodings if crossing else stack.encodings)[head.layer - 1]
    bias = pe.bias(looked.q_at, looked.at)[0, head.head - 1]
    seen = pe.visible(looked.q_at, looked.at)[0, head.head - 1]
    shown = bias_of(head, found, looked)
    np.testing.assert_array_equal(~np.isnan(shown), seen.numpy())
    np.testing.assert_allclose(shown[seen.numpy()], bias[seen].numpy(), rtol=1e-6)
    weights = looked.mean(head.layer, head.head)
    assert weights.shape == shown.shape
    assert float(weights[~seen].max()) == 0.0  # nothing is looked at off the lines


def test_the_question_as_it_is_written(stages):
    first = stages[0]
    written = tokens_of(looks_of(first, 2, 4))[:9]
    operand = [(f"operand {n}", place) for n in (1, 2) for place in (3, 2, 1, 0)]
    assert written == [*operand[:4], ("operator", -1), *operand[4:]]


def test_the_curve_of_a_run(stages):
    found = curve(stages[0], "one")
    assert [(p.length, p.n) for p in found.points] == [(3, 8), (6, 8)]
    assert (found.trained, found.counted) == (3, "digits of the longer operand")


def heads_keeping(*kept):
    """A head a list of keys: those to whose own column it keeps a line."""
    operands = ("operand 1", "operand 2")
    tracks = [Track(keys, "anti-diagonal", "column", n) for keys in operands for n in range(3)]
    cells = torch.zeros(len(kept), 4, 6).double()
    for head, keys in enumerate(kept):
        for each in keys:
            cells[head, :, 3 * operands.index(each)] = 5.0
    return tuple(find([Average("cross", 1, tuple(tracks), cells)], Rules())[0])


def test_the_head_that_is_shown(stages):
    """Led as often as any, or nearly; then by how many operands it keeps lines to."""
    found = stages[2].model_copy(
        update={
            "heads": heads_keeping((), ("operand 1",), ("operand 1", "operand 2"), ("operand 2",))
        }
    )

    class Looked:
        each_head = torch.tensor([[1.0, 0.98, 0.95, 0.99]])

    assert shown_head(found, Looked()).head == 3
    Looked.each_head = torch.tensor([[1.0, 0.98, 0.5, 0.99]])
    assert shown_head(found, Looked()).head == 4


def test_a_second_run_of_another_size_is_refused(stages, tmp_path):
    first, _, found = stages
    other = train(small(first.recipe.model.kind, model={"layers": 1}), tmp_path / "other")
    with pytest.raises(TenfoldError, match="2 layers, each its own, the model has 1"):
        before_after(first, other, found, tmp_path / "picture")


@pytest.mark.parametrize("stages", ["seq2seq"], indirect=True)
def test_attention_beside_longer_questions(stages, tmp_path):
    first = stages[0]
    place = leading_head(first, 8)
    looked = {length: looks_of(first, length, 8) for length in (3, 6)}
    rows = [
        {"length": length, "trained": 3, "slice": "uniform", "metric": metric, "value": value}
        for length, each in looked.items()
        for metric, value in shares(each, looked[3], place).items()
    ]
    drawn = right_then_lost(looked[3], looked[6], place, rows, tmp_path / "lost", "Lost")
    assert f"layer {place[0]}, head {place[1]}, 3 digits: " in drawn.svg
    assert "one head leads on the own column" in drawn.svg


def test_a_model_trained_with_the_lines_has_them_all_in_common(stages):
    _, second, found = stages
    assert compared(found, second, 8).share == 1.0


@pytest.mark.parametrize("stages", ["decoder"], indirect=True)
def test_lines_beside_learned_biases(stages, tmp_path):
    first, _, found = stages
    joint = {"name": "scalar", "relation": {"name": "joint", "reach": 16}}
    learned = train(small(first.recipe.model.kind, pe=joint), tmp_path / "other")
    common = compared(found, learned, 8)
    shown = lines_beside(common, tmp_path / "lines", "Lines")
    assert shown.svg.count(" in common, ") == 2
    assert "operand 2, column 1 back" in shown.svg


def test_shares_of_one_head(stages):
    looked = looks_of(stages[0], 3, 8)
    layer, head = leading_head(stages[0], 8)
    found = shares(looked, looked, (layer, head))
    assert found["one-head-on-column"] == float(looked.each_head[layer - 1, head - 1])
    tokens = int((looked.at["index"][0] >= 0).sum())
    assert found["one-head-by-chance"] == pytest.approx(2 / tokens)
    assert found["weight-by-chance"] == pytest.approx((2 + 4 + 4) / 3 / tokens)
    assert all(0 <= value <= 1 for value in found.values())


@pytest.mark.full
def test_from_the_command_line(tenfold, tmp_path):
    (tmp_path / "small.yaml").write_text(small("seq2seq", model={"layers": 1}).as_yaml())
    tenfold("train", "small.yaml", "--out", "first")
    words = ("calibrate", "first", "--allow-imperfect", "--samples", 8, "--kappa-cross", 0)
    assert tenfold(*words)[0] == 0
    tenfold("train", "small.yaml", "--calibrated", "first/calibration.json", "--out", "second")
    code, out, _ = tenfold(*words, "--figures", "drawn", "--again", "second")
    assert code == 0
    assert "drawn/before-after.png" in out
    assert (tmp_path / "drawn/before-after.svg").exists()
    code, _, _ = tenfold(*words, "--again", "second")
    assert code == 0
    page = (tmp_path / "first/calibration.html").read_text()
    assert page.count('id="before-after"') == 1
    assert "<tr><th>trained again</th><td>second</td></tr>" in page
