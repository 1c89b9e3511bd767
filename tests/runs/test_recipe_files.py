"""Recipes by name, by file and by family."""

import json
from pathlib import Path

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.demo import RECIPES as DEMO
from tenfold.runs.build import build
from tenfold.runs.recipe_files import DEFAULT_SCALE, family, names, overrides, recipe

FINGERPRINTS = json.loads(Path(__file__).with_name("fingerprints.json").read_text())


def test_every_recipe_has_the_fingerprint_it_always_had():
    """The names of committed runs: a change here makes results and recipes disagree."""
    assert names() == sorted(FINGERPRINTS)
    assert sum(map(len, FINGERPRINTS.values())) == 1120
    now = {n: {s: recipe(n, s).fingerprint for s in scales} for n, scales in FINGERPRINTS.items()}
    assert now == FINGERPRINTS


@pytest.mark.parametrize("folder", sorted({name.partition("/")[0] for name in names()}))
@pytest.mark.parametrize("scale", [DEFAULT_SCALE, "smoke", "paper"])
def test_every_recipe_builds_at_every_scale(folder, scale):
    for name in names():
        if name.partition("/")[0] == folder:
            resolved = recipe(name, scale)
            assert resolved.name == name
            try:
                build(resolved)
            except Exception as error:
                error.add_note(f"in {name} at {scale} scale")
                raise


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


BASE = "name: base\ntrain: {steps: 100}\nscales: {smoke: {train: {steps: 5, batch: 8}}}\n"


@pytest.mark.parametrize(
    ("own", "steps"),
    [
        ("", {"laptop": 100, "smoke": 5}),
        ("train: {steps: 200}", {"laptop": 200, "smoke": 200}),
        ("train: {steps: 200}\nscales: {smoke: {train: {steps: 7}}}", {"laptop": 200, "smoke": 7}),
        ("scales: {laptop: {train: {steps: 200}}}", {"laptop": 200, "smoke": 5}),
        ("scales: {tiny: {train: {steps: 1}}}", {"tiny": 1, "laptop": 100}),
    ],
)
def test_what_a_recipe_states_wins_over_every_scale_of_what_it_extends(tmp_path, own, steps):
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "mine.yaml").write_text(f"extends: base.yaml\n{own}\n")
    assert {scale: recipe(tmp_path / "mine.yaml", scale).train.steps for scale in steps} == steps
    assert recipe(tmp_path / "mine.yaml", "smoke").train.batch == 8


def test_a_family_is_a_product():
    members = family(
        "mine/{a}-{b}",
        {"about": "{a} and {b}", "claim": "mine/{a}", "train": {"steps": 9}, "pe": "none"},
        {
            "a": {"x": {"words": "ex", "pe": {"name": "learned", "limit": 3}}, "y": {}},
            "b": {"1": {"seed": 1}, "2": {"scales": {"smoke": {"train": {"lr": 0.5}}}}},
        },
        scales={"smoke": {"train": {"steps": 1, "lr": 0.1}}},
        own={"mine/y-2": {"label": "own", "scales": {"smoke": {"train": {"steps": 2}}}}},
    )
    assert list(members) == ["mine/x-1", "mine/x-2", "mine/y-1", "mine/y-2"]
    assert members["mine/x-1"].at("laptop") == {
        "about": "ex and 1", "claim": "mine/x", "train": {"steps": 9}, "seed": 1, "name": "mine/x-1",
        "pe": {"name": "learned", "limit": 3},
    }  # fmt: skip
    assert members["mine/x-1"].at("smoke")["train"] == {"steps": 1, "lr": 0.1}
    assert members["mine/x-2"].at("smoke")["train"] == {"steps": 1, "lr": 0.5}
    assert members["mine/y-2"].at("smoke")["train"] == {"steps": 2, "lr": 0.5}
    assert members["mine/y-2"].values["label"] == "own"


def test_a_family_has_no_other_members():
    with pytest.raises(TenfoldError, match='"mine/z"; did you mean "mine/x"'):
        family("mine/{a}", {}, {"a": {"x": {}}}, own={"mine/z": {}})


def test_of_the_working_folder_only_yaml_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "papers/mine"
    (folder / "experiments").mkdir(parents=True)
    (folder / "adder.yaml").write_text("extends: symmetry/addition-relative\nname: mine/adder\n")
    for name in ("__init__.py", "recipes.py", "experiments/__init__.py", "other.py"):
        (folder / name).write_text("raise SystemExit('executed')")
    assert recipe("mine/adder", "smoke").name == "mine/adder"
    assert [name for name in names() if name.startswith("mine/")] == ["mine/adder"]
    with pytest.raises(TenfoldError, match="unknown recipe"):
        recipe("mine/other")


@pytest.mark.parametrize("text", ["scales: 3", "scales: {smoke: 3}", "extends: 5"])
def test_what_is_no_recipe(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(TenfoldError):
        recipe(path, "smoke")


def test_a_python_file_with_a_member_of_a_family(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from tenfold.runs.recipe_files import family\n"
        "members = family('mine/{pe}', {}, {'pe': {'alibi': {'pe': 'alibi'}}}, {'smoke': {'seed': 5}})\n"
        "recipe = members['mine/alibi']\n"
    )
    assert recipe(path).pe.name == "alibi"
    assert recipe(path, "smoke").seed == 5


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
