"""What a change of a named recipe makes false is cleared or corrected, and nothing else is touched."""

import json

import pytest

import tenfold as library
from tenfold.runs.changed_recipe import given
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import names, recipe
from tenfold.sweeps.grid import grid

NAME = "symmetry/addition-relative"
WINDOW = {"name": "window", "behind": 1, "axis": "column"}


@pytest.fixture
def old():
    return recipe(NAME, "smoke")


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 3},
        {"train": {"threads": 2}},
        {"train": {"log_every": 7, "checkpoint_every": 9}},
        {},
    ],
)
def test_what_decides_nothing_keeps_all(old, changes):
    new = recipe(NAME, "smoke", **changes)
    kept = ("name", "about", "claim", "label")
    assert [getattr(new, key) for key in kept] == [getattr(old, key) for key in kept]
    assert new.claim == "symmetry/fig2-rpe-holds"


def test_another_encoding(old):
    new = recipe(NAME, "smoke", pe="alibi")
    assert new.name == "symmetry/addition-relative-alibi"
    assert new.run_name == f"symmetry-addition-relative-alibi-{new.fingerprint}"
    assert new.about == "changed from symmetry/addition-relative: pe alibi"
    assert (new.claim, new.label) == (None, "generic")
    assert new.fingerprint == old.replace(pe="alibi").fingerprint  # words decide nothing


def test_another_setting_keeps_the_name_and_the_label(old):
    new = recipe(NAME, "smoke", train={"lr": 0.5, "steps": 7}, eval={"n": 3})
    assert (new.name, new.label, new.claim) == (NAME, old.label, None)
    assert new.about == f"changed from {NAME}: train.steps 7, train.lr 0.5, eval.n 3"


def test_what_is_stated_stays(old):
    words = {"about": "mine", "claim": "mine/own", "label": "scratchpad", "name": "mine/sums"}
    new = recipe(NAME, "smoke", pe="alibi", **words)
    assert {key: getattr(new, key) for key in words} == words


def test_replace_changes_what_it_is_told_alone(old):
    assert old.replace(pe="alibi").claim == old.claim


@pytest.mark.parametrize(
    ("name", "changes", "label"),
    [
        (NAME, {"pe": WINDOW}, "window"),
        (
            NAME,
            {"pe": {"name": "learned", "axis": "abacus"}, "schemes": ["abacus"]},
            "significance",
        ),
        (NAME, {"pe": {"name": "alibi", "axis": "column"}}, "significance"),
        (NAME, {"model": "looped"}, "loops"),
        ("certified/addition", {"pe": "rotary"}, "generic"),
        ("certified/addition", {"train": {"lr": 0.5}}, "window"),
        ("extrapolation/code-alibi", {"pe": "rotary"}, "generic"),  # its label was "bias"
        ("extrapolation/code-alibi", {"pe": {"axis": "index"}}, "bias"),
        ("symmetry/multiplication-1-uniform", {"pe": {"relation": {"reach": 30}}}, "generic"),
        ("bias/addition-window-none", {"cross_pe": "none"}, "window"),  # the decoder's own is there
    ],
)
def test_the_label_follows_from_what_is_given(name, changes, label):
    assert recipe(name, "smoke", **changes).label == label


def test_parts_of_an_encoder_decoder_are_in_the_name():
    new = recipe("bias/addition-vanilla", "smoke", encoder_pe="alibi", cross_pe="none")
    assert new.name == "bias/addition-vanilla-encoder-alibi-cross-none"


def test_a_composition_is_named_by_its_parts_and_nothing_twice():
    parts = [{"name": "rotary", "p": 0.5}, {"name": "log-length", "trained": 9}]
    new = recipe(NAME, "smoke", pe={"name": "compose", "parts": parts})
    assert new.name == f"{NAME}-rotary+log-length"
    assert recipe("certified/addition-index-alibi", "smoke", pe={"axis": "shifted"}).name == "certified/addition-index-alibi"  # fmt: skip


def test_labels_of_papers_are_what_their_components_declare():
    """The exceptions: UPE is compared as generic, windows of one paper by what they align, one paper names kinds;
    proofs without a window say so."""
    stated = {name: recipe(name) for name in names()}
    stated = {name: each for name, each in stated.items() if each.label != "no window"}
    wrong = [name for name, each in stated.items() if given(each) != each.label]
    assert all(
        name.startswith("extrapolation/")
        or name.endswith("-aligned") or "uniform" in name or name == "symmetry/two-operations"
        for name in wrong
    )  # fmt: skip
    assert len(wrong) < len(stated) / 3


def test_command_line_and_python(tenfold):
    flags = ("train", NAME, "--scale", "smoke", "--pe", "alibi")
    code, out, _ = tenfold(*flags, "--dry-run", "--json")
    stored = json.loads(out)
    assert code == 0
    assert stored["run"].startswith("symmetry-addition-relative-alibi-")
    assert stored["recipe"]["claim"] is None
    assert library.recipe(NAME, "smoke", pe="alibi").as_json() == stored["recipe"]


def test_results_know_the_paper_and_no_claim(tenfold, tmp_path):
    tenfold("train", NAME, "--scale", "smoke", "--pe", "alibi", "--train.steps", 2, "--eval.n", 3)
    (row, *_) = library.collect(tmp_path / "runs").rows
    assert (row["recipe"], row["paper"], row["claim"]) == (f"{NAME}-alibi", "symmetry", "")
    assert row["run"].startswith("symmetry-addition-relative-alibi-")
    code, out, _ = tenfold("eval", "symmetry-addition-relative-alibi", "--n", 3, "--lengths", 2)
    assert code == 0, out


def test_grids_correct_too(tmp_path):
    text = f"recipe: {NAME}\nscale: smoke\ncases:\n  same: {{seed: 4}}\n  own: {{pe: alibi, about: mine}}\n"
    (tmp_path / "g.grid.yaml").write_text(text + "product: {train.lr: [0.1]}\n")
    same, own = grid(tmp_path / "g.grid.yaml")
    assert same.about == f"changed from {NAME}: train.lr 0.1"
    assert (same.claim, own.claim, own.about) == (None, None, "mine")
    assert own.name == f"{NAME}-own-lr0.1"


def test_an_unknown_encoding_is_one_line(tenfold):
    code, _, err = tenfold("train", NAME, "--pe", "alibbi")
    assert (code, err.count("\n")) == (2, 1)
    assert 'did you mean "alibi"' in err


def test_given_alone():
    assert given(Recipe(pe="none")) == "generic"
