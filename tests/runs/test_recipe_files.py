"""Recipes by name and file."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.demo import RECIPES as DEMO
from tenfold.runs.build import build
from tenfold.runs.recipe_files import DEFAULT_SCALE, names, overrides, recipe


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("scale", [DEFAULT_SCALE, "smoke", "paper"])
def test_every_recipe_builds_at_every_scale(name, scale):
    found = recipe(name, scale)
    assert found.name == name
    build(found)


@pytest.mark.parametrize("name", DEMO.values())
def test_the_recipes_of_the_demo_build_at_its_scale(name):
    build(recipe(name, "demo"))


def test_the_two_adders_differ_in_positions_alone():
    absolute, relative = (recipe(f"symmetry/addition-{kind}") for kind in ("absolute", "relative"))
    assert absolute.replace(pe=relative.as_json()["pe"]).fingerprint == relative.fingerprint


def test_extends_a_file_beside_it(tmp_path):
    (tmp_path / "base.yaml").write_text("name: base\npe: alibi\n")
    (tmp_path / "mine.yaml").write_text("extends: base.yaml\nname: mine\n")
    assert recipe(tmp_path / "mine.yaml").pe.name == "alibi"


@pytest.mark.parametrize("text", ["scales: 3", "scales: {smoke: 3}", "extends: 5"])
def test_what_is_no_recipe(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(TenfoldError):
        recipe(path, "smoke")


def test_a_python_file_that_fails(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("import nowhere_to_be_found")
    with pytest.raises(TenfoldError, match="nowhere_to_be_found"):
        recipe(path)


def test_a_circle_is_refused(tmp_path):
    (tmp_path / "a.yaml").write_text("extends: b.yaml\n")
    (tmp_path / "b.yaml").write_text("extends: a.yaml\n")
    with pytest.raises(TenfoldError, match="extends itself"):
        recipe(tmp_path / "a.yaml")


def test_extends_itself_is_refused(tmp_path):
    path = tmp_path / "loop.yaml"
    path.write_text(f"extends: {path}\n")
    with pytest.raises(TenfoldError, match="extends itself"):
        recipe(path)


@pytest.mark.parametrize("words", [["train.lr", "1"], ["--train.lr"], ["--a", "[1"]])
def test_overrides_refuse(words):
    with pytest.raises(TenfoldError):
        overrides(words)
