"""Recipes by name and file."""

import pytest

from tenfold.errors import TenfoldError
from tenfold.lab.build import build
from tenfold.lab.recipes import DEFAULT_SCALE, names, overrides, recipe


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("scale", [DEFAULT_SCALE, "smoke", "demo", "paper"])
def test_every_recipe_builds_at_every_scale(name, scale):
    found = recipe(name, scale)
    assert found.name == name
    build(found)


def test_the_two_adders_differ_in_positions_alone():
    absolute, relative = (recipe(f"symmetry/addition-{kind}") for kind in ("absolute", "relative"))
    assert absolute.replace(pe=relative.as_json()["pe"]).fingerprint == relative.fingerprint


def test_extends_itself_is_refused(tmp_path):
    path = tmp_path / "loop.yaml"
    path.write_text(f"extends: {path}\n")
    with pytest.raises(TenfoldError, match="extends itself"):
        recipe(path)


@pytest.mark.parametrize("words", [["train.lr", "1"], ["--train.lr"], ["--a", "[1"]])
def test_overrides_refuse(words):
    with pytest.raises(TenfoldError):
        overrides(words)
