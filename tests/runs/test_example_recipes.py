"""The recipes in `examples/recipes`: they build at every scale, train, and the run answers."""

from pathlib import Path

import pytest

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe

FOLDER = Path(__file__).parents[2] / "examples" / "recipes"
QUESTIONS = {  # of sequence tasks: an input, and its answer
    "copying": ("c b a", "cba"),
    "reversing": ("c b a", "abc"),
    "sorting": ("c b a", "abc"),
    "majority": ("abb", "b"),
    "dyck": ("(()", "ooo"),
}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.yaml")))
@pytest.mark.parametrize("scale", ["laptop", "smoke"])
def test_builds(name, scale):
    built = build(recipe(FOLDER / f"{name}.yaml", scale))
    assert built.recipe.name == f"examples/{name}"


@pytest.mark.parametrize("name", QUESTIONS)
def test_trains_at_smoke_scale_and_answers(name, tmp_path):
    run = tenfold.train(recipe(FOLDER / f"{name}.yaml", "smoke"), out=tmp_path / "run")
    text, truth = QUESTIONS[name]
    answer = run.ask(text)
    assert (answer.question, answer.truth) == (text.replace(" ", ""), truth)
    rows = run.evaluate([2, 6], slices=["uniform", "hard"], n=10)
    assert {row.length for row in rows if row.metric == "exact"} == {2, 6}
    for wrong, message in (("", "the input is empty"), ("a?", "unknown symbol")):
        with pytest.raises(TenfoldError, match=message):
            run.ask(wrong)


def test_drope_starts_from_rotary_weights_and_has_no_positions(tmp_path):
    """Train with rotary positions, drop them, recalibrate."""
    recalibrate = recipe(FOLDER / "drope.yaml", "smoke")
    first = tenfold.train(recalibrate.replace(pe="rotary"), out=tmp_path / "rotary")
    dropped = tenfold.train(recalibrate, out=tmp_path / "dropped", from_=first)
    assert dropped.recipe.pe.name == "none"
    assert dropped.recipe.train.from_.name == str(first.folder)
    before, after = first.model("best").state_dict(), dropped.model("final").state_dict()
    assert before.keys() == after.keys()  # rotary positions have no weights of their own
    moved = [(after[name] - before[name]).abs().max() for name in before]
    assert 0 < max(moved) < 0.1  # a short recalibration, not a new start
    assert {row.length for row in dropped.evaluate([2, 4], slices=["uniform"], n=10)} == {2, 4}


def test_in_place_and_as_an_encoder_decoder():
    """The same task with other models: only the format and the kind of model change."""
    sorting = recipe(FOLDER / "sorting.yaml", "smoke")
    build(sorting.replace(model={"kind": "seq2seq"}))
    build(sorting.replace(model={"kind": "encoder"}, format={"name": "in-place", "frame": "fit"}))
    with pytest.raises(TenfoldError, match='"in-order" cannot be laid out as "in_place"'):
        build(sorting.replace(model={"kind": "encoder"}))
