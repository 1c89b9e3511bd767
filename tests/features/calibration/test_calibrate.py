"""Calibrating runs, and recipes with what was found."""

import json

import numpy as np
import pytest

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.drawing.run_groups import Story
from tenfold.evals.exact_match import Examiner
from tenfold.features.calibration.calibrate import FILE, accuracy, calibrate, with_lines
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.calibration_figures import after, before, draw_calibration
from tenfold.features.calibration.calibration_section import section
from tenfold.features.calibration.calibration_text import calibration_lines
from tenfold.runs.recipe import Recipe

KINDS = ("seq2seq", "decoder")


def small(kind):
    return Recipe(
        name="small",
        format="reversed",
        pe="sinusoidal",
        data={"length": 3, "sampler": "lengths"},
        model={"kind": kind, "layers": 2, "width": 16, "heads": 2},
        train={"steps": 2, "batch": 8},
        eval={"lengths": [3], "slices": ["uniform"], "n": 8, "every": 2},
    )


@pytest.fixture(scope="module", params=KINDS)
def run(request, tmp_path_factory):
    """A model that has learned nothing."""
    return tenfold.train(small(request.param), tmp_path_factory.mktemp("run") / request.param)


@pytest.fixture(scope="module")
def found(run):
    return calibrate(
        run, 40, checked=20, allow_imperfect=True, source="each", kappa_self=0.0, kappa_cross=0.0
    )


def test_a_model_that_does_not_interpolate_is_refused(run):
    right = accuracy(run, 20)
    assert right.value < 0.5
    with pytest.raises(TenfoldError) as refused:
        calibrate(run, 10, checked=20)
    assert f"right on {right.value:.1%} of 20 problems of its training lengths" in str(
        refused.value
    )
    assert f"95% interval {right.low:.1%} to {right.high:.1%}" in str(refused.value)
    assert "--allow-imperfect" in str(refused.value)


def test_one_that_is_allowed_to_be_imperfect_says_how_right_it_was(run, found):
    assert not found.interpolates
    assert found.accuracy == accuracy(run, 20)
    assert "imperfect" in calibration_lines(found)[0]


def test_a_perfect_model_is_calibrated(run, monkeypatch):
    monkeypatch.setattr("tenfold.features.calibration.calibrate.ENOUGH", 0.0)
    assert calibrate(str(run.folder), 10, checked=20).interpolates


def test_the_file_holds_all_of_it(found, tmp_path):
    path = tmp_path / "new" / "lines.json"
    found.save(path)
    assert Calibration.read(path) == found
    assert json.loads(path.read_text())["heads"][0]["families"][0]["lines"][0]["keys"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it is not JSON"),
        ("{}", "run is missing"),
        ("[1]", "input should be a valid dictionary"),
        ("\xff", "it is not JSON"),
    ],
)
def test_another_file_is_no_calibration(text, problem, tmp_path):
    path = tmp_path / "lines.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TenfoldError, match=f"is not a calibration: {problem}"):
        Calibration.read(path)


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('"layer": 1', '"layer": 7', "there is no head 1 of layer 7 in 2 layers of 2 heads"),
        ('"mean": ', '"mean": NaN, "was": ', "mean is nan"),
    ],
)
def test_a_damaged_file_is_one_line(found, before, after, problem, tmp_path):
    path = tmp_path / "lines.json"
    found.save(path)
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(TenfoldError, match=problem) as caught:
        Calibration.read(path)
    assert len(str(caught.value)) < 300


def test_lines_of_every_layer_and_attention(run, found):
    both = {"causal", "cross"} if run.recipe.model.kind == "seq2seq" else {"causal"}
    assert {line.attention for line in found.lines} == both
    assert {line.layer for line in found.lines} == {1, 2}
    assert {line.head for line in found.lines} == {1, 2}
    assert max(line.value for line in found.lines) == 0
    assert any(line.keys.startswith("operand") for line in found.lines)
    assert len(calibration_lines(found)) == 3 + len(found.heads)


def test_the_last_layer_speaks_for_all(run):
    last = calibrate(
        run, 20, checked=20, allow_imperfect=True, source="last", kappa_self=0.0, kappa_cross=0.0
    )
    assert {line.layer for line in last.lines} == {None}
    assert with_lines(run.recipe.replace(model={"layers": 5}), last).model.layers == 5


@pytest.mark.parametrize("positions", ["keep", "drop"])
def test_the_recipe_holds_the_lines(run, found, positions, tmp_path):
    recipe = with_lines(run.recipe, found, positions)
    assert recipe.name == "small-calibrated"
    assert recipe.label == "calibrated"
    assert recipe.fingerprint != run.recipe.fingerprint
    again = tenfold.train(recipe, tmp_path / "again")
    pe = again.model().stack.encodings[1]
    pe = pe.parts[1] if positions == "keep" else pe
    assert [line for line in pe.lines if line.layer == 2]
    assert again.model().stack.encodings[0].embeds is (positions == "keep")
    assert tenfold.Run.open(again.folder).recipe == recipe


@pytest.mark.parametrize("run", ["seq2seq"], indirect=True)
def test_cross_attention_with_an_encoding_of_its_own_has_the_lines_too(run, found):
    recipe = with_lines(run.recipe.replace(cross_pe="alibi", encoder_pe="rotary"), found, "keep")
    assert recipe.cross_pe.options["parts"][0] == "alibi"
    assert recipe.encoder_pe.name == "rotary"
    dropped = with_lines(run.recipe.replace(cross_pe="alibi", encoder_pe="rotary"), found)
    assert (dropped.cross_pe, dropped.encoder_pe) == (None, None)


@pytest.mark.parametrize(
    ("size", "problem"),
    [
        ({"heads": 4}, "2 heads a layer, the model has 4"),
        ({"layers": 3}, "2 layers, each its own, the model has 3"),
    ],
)
def test_lines_that_do_not_fit_are_refused(run, found, size, problem):
    with pytest.raises(TenfoldError, match=problem):
        with_lines(run.recipe.replace(model=size), found)


def test_lines_of_another_kind_of_model_are_refused(run, found):
    """They would be read as none: a decoder with a seq2seq's lines does not see its question."""
    others = {"decoder", "seq2seq", "encoder"} - {run.recipe.model.kind}
    for kind in others:
        with pytest.raises(TenfoldError, match=f'nothing of one of the kind "{kind}"'):
            with_lines(run.recipe.replace(model={"kind": kind}), found)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("kappa", ["kappa_self", "kappa_cross"])
def test_a_kappa_is_a_number(run, kappa, value):
    with pytest.raises(TenfoldError, match=f"a {kappa} of {value}; a number of sigmas"):
        calibrate(run, 10, allow_imperfect=True, **{kappa: value})


def test_problems_that_are_graded_are_none_of_training(run, monkeypatch):
    built, seed, seen, grade = run.built, run.recipe.seed, [], Examiner.grade

    def noted(self, model, examples, *rest):
        seen.append(examples)
        return grade(self, model, examples, *rest)

    monkeypatch.setattr(Examiner, "grade", noted)
    accuracy(run, 5)
    (graded,) = seen
    length = built.recipe.data.length
    for batch in range(20):
        rng = np.random.default_rng((seed, batch))
        drawn = built.batcher.task.sample(5, built.length_at(rng, length), rng, built.draw)
        assert not np.array_equal(drawn.operands, graded.operands)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"samples": 0}, "0 samples; at least 1"),
        ({"source": "first"}, 'unknown source of lines "first"'),
        ({"directions": ("diagonals",)}, 'unknown direction "diagonals"; did you mean "diagonal"'),
    ],
)
def test_wrong_options_are_one_clear_error(run, wrong, problem):
    with pytest.raises(TenfoldError, match=problem):
        calibrate(run, **wrong)


def test_pictures_show_attention_and_the_bias_at_twice_the_length(run, found, tmp_path):
    last = found.model_copy(update={"heads": found.heads[-2:]})
    drawn = draw_calibration(last, tmp_path)
    assert len(drawn) == 1
    assert all(file.stat().st_size > 1000 for figure in drawn for file in figure.files)
    head = found.heads[-1]
    rows, keys = before(head).shape
    longer = after(head, found)
    assert rows == 5  # three digits, one that overflows, the end
    assert longer.shape[0] == 2 * rows
    assert longer.shape[1] > keys
    assert (longer[longer == longer] <= 0).all()


def test_the_page_of_a_run_shows_its_calibration(run, found, tmp_path):
    assert section(Story([], {"run": run}), tmp_path) == ""
    found.model_copy(update={"heads": found.heads[-1:]}).save(run.folder / FILE)
    shown = section(Story([], {"run": run}), tmp_path)
    (run.folder / FILE).write_text("{")
    damaged = section(Story([], {"run": run}), tmp_path)
    (run.folder / FILE).unlink()
    assert "<h2>Calibration</h2>" in shown
    assert "layer 2, head 2: keeps" in shown
    assert shown.count("<svg") == 1
    assert "is not a calibration" in damaged
