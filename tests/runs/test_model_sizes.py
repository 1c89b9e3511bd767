"""Sizes of models by name: what is said later wins."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.runs.build import build
from tenfold.runs.recipe import SIZES, Recipe
from tenfold.runs.recipe_files import recipe


def size_of(result):
    return result.model.layers, result.model.heads, result.model.width


def test_the_sizes_of_the_paper():
    assert size_of(Recipe(model={"size": "nano"})) == (3, 3, 48)
    assert size_of(Recipe(model={"size": "micro"})) == (4, 4, 128)
    assert size_of(Recipe.of({"model": {"size": "mini"}})) == (6, 6, 384)


@pytest.mark.parametrize("name", SIZES)
def test_a_size_is_no_more_than_its_numbers(name):
    named, spelled = Recipe(model={"size": name}), Recipe(model=SIZES[name])
    assert named.fingerprint == spelled.fingerprint
    assert "size" not in named.as_json()["model"]


def test_what_is_said_later_wins(tmp_path):
    (tmp_path / "base.yaml").write_text("model: {layers: 1, heads: 2, width: 16}\n")
    (tmp_path / "mine.yaml").write_text(
        "extends: base.yaml\nmodel: {size: nano}\nscales: {deep: {model: {layers: 9}}, big: {model: {size: micro}}}\n"
    )
    mine = tmp_path / "mine.yaml"
    assert size_of(recipe(mine)) == (3, 3, 48)
    assert size_of(recipe(mine, "deep")) == (9, 3, 48)
    assert size_of(recipe(mine, "big")) == (4, 4, 128)
    assert size_of(recipe(mine, model={"size": "mini"})) == (6, 6, 384)
    assert size_of(recipe(mine, model={"size": "mini", "layers": 2})) == (2, 6, 384)
    assert size_of(recipe(mine).replace(model={"size": "micro"})) == (4, 4, 128)
    assert size_of(recipe(mine).replace(model={"layers": 2})) == (2, 3, 48)


def test_an_unknown_size():
    with pytest.raises(TenfoldError, match='unknown size of a model "nana"; did you mean "nano"'):
        Recipe.of({"model": {"size": "nana"}})


def test_the_papers_models_are_causal_with_learned_positions():
    model = build(recipe("principled/addition-absolute")).model()
    assert model.layout == "causal"
    assert model.parameter_count() == 87_471
