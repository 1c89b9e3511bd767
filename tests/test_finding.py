"""Finding things: listings, refusals that name what would work, one name for one thing, examples, installation."""

import ast
import json
import re
import shutil
import subprocess
import typing
from pathlib import Path

import pytest

import tenfold.papers
from tenfold.cli import app as command_line
from tenfold.cli.listing_commands import ALIASES, KINDS
from tenfold.models.layers import Norm
from tenfold.runs import listing, shipped_examples
from tenfold.runs.build import build
from tenfold.runs.own_files import NAMED
from tenfold.runs.recipe import ModelSize
from tenfold.runs.recipe_files import paper_names, recipe

ROOT = Path(__file__).parents[1]
ADDER = ("train", "symmetry/addition-relative", "--scale", "smoke")


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """`call("ls", "recipes")`: a command in an empty folder; its exit code, its output, its errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["tenfold", *words])
        try:
            command_line.main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        return code, *capsys.readouterr()

    return call


def listed(call, *words):
    code, out, err = call("ls", *words, "--json")
    assert code == 0, err
    return json.loads(out)


def refused(outcome, *parts):
    code, _, err = outcome
    assert code == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err


def test_all_kinds_with_counts(call):
    kinds = listed(call)
    assert [each["kind"] for each in kinds] == [*KINDS]
    assert all(each["about"] for each in kinds)
    code, out, _ = call("ls")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [*KINDS]


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_what_is_listed(kind):
    assert listing.count(kind) == len(listing.listing(kind))


def test_every_kind_can_be_listed():
    assert {*KINDS} == {*listing.REGISTRIES, *listing.LISTINGS}


def test_recipes_of_one_paper(call):
    every, chosen = listed(call, "recipes"), listed(call, "recipes", "symmetry")
    assert chosen == [each for each in every if each["name"].startswith("symmetry/")]
    assert 0 < len(chosen) < len(every)
    relative = [each["name"] for each in listed(call, "recipes", "addition-relative")]
    assert "symmetry/addition-relative" in relative
    assert len(relative) < len(every)
    refused(
        call("ls", "recipes", "symetry"),
        'unknown paper of recipes "symetry"',
        'did you mean "symmetry"?',
    )
    refused(
        call("ls", "recipes", "symmetry/adition-relative"),
        'did you mean "symmetry/addition-relative"?',
    )
    refused(call("ls", "runs", "x"), "there are no runs yet")


def test_experiments(call):
    every, chosen = listed(call, "experiments"), listed(call, "experiments", "bias")
    assert {each["name"].partition("/")[0] for each in every} <= set(paper_names())
    assert [each["name"] for each in chosen] == [
        each["name"] for each in every if each["name"].startswith("bias/")
    ]
    (folder,) = [Path(each) for each in tenfold.papers.__path__ if (Path(each) / "bias").is_dir()]
    text = (folder / "bias/experiments/calibration.py").read_text()
    first = ast.get_docstring(ast.parse(text)).splitlines()[0]
    assert {"name": "bias/calibration", "about": first} in chosen
    refused(call("ls", "experiments", "bais"), 'did you mean "bias"?')


def test_pe_is_another_name_of_encodings(call):
    for short, kind in ALIASES.items():
        assert listed(call, short) == listed(call, kind)
    assert listed(call, "pe", "alibi") == listed(call, "encodings", "alibi")
    refused(call("ls", "encoding"), 'did you mean "encodings"?')


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"pe": "cope"}, "not made for two-way attention, only for causal; try "),
        ({"pe": {"name": "pairwise", "relation": {"name": "relative", "reach": 90, "axis": "abacus"}}}, "; try "),
        ({"model": {"mixer": "gated-linear"}}, "a decoder can use it; try "),
        ({"model": {"kind": "decoder"}}, " for this model or "),
        ({"format": "reversed"}, " for this format"),
    ],
)  # fmt: skip
def test_a_refusal_names_a_recipe_that_fits(change, says):
    with pytest.raises(tenfold.TenfoldError) as refusal:
        build(recipe("symmetry/addition-relative", "smoke").replace(**change))
    message = str(refusal.value)
    assert says in message
    tries = message.partition("; try ")[2]
    kept = "format" if "format" in change else "model"
    for text in tries.split(" or "):
        name, _, what = text.partition(" for this ")
        if not what or what == kept:
            build(recipe(name, "smoke").replace(**change))


def test_a_refusal_keeps_own_components_and_executes_nothing(call, tmp_path):
    (tmp_path / "papers/mine").mkdir(parents=True)
    (tmp_path / "papers/mine/recipes.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    refused(call(*ADDER, "--pe", "cope"), "; try ")
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    ("paper", "here"), [("nope", "none"), ("absolute", "learned"), ("rope", "rotary")]
)
def test_names_of_papers_are_answered_with_ours(call, paper, here):
    says = f'encoding "{paper}" is called "{here}" here'
    for words in (
        (*ADDER, "--pe", paper), ("ls", "encodings", paper), ("theory", "trf", paper),
        ("theory", "compare", paper, "alibi"),
    ):  # fmt: skip
        refused(call(*words), says)


def commands(app, words=()):
    for name in app:
        if not name.startswith("-"):
            yield from commands(app[name], (*words, name))
    if words and app.default_command is not None:
        yield words


def test_every_out_says_whether_it_is_a_file_or_a_folder(call):
    call("ls", "runs")  # which imports every command
    told = []
    for words in commands(command_line.app):
        _, out, _ = call(*words, "--help")
        text = " ".join(re.sub(r"[^\w.:;/`-]+", " ", out).split())
        if "--out " in text:  # the last one is the parameter's own line
            told.append(words)
            says = text.rpartition("--out ")[2][:80]
            assert re.search(r"\b(file|folder)\b", says), (words, says)
    assert len(told) > 8


def test_examples_open_by_name_in_any_folder(call, tmp_path):
    names = [each["name"] for each in listed(call, "examples")]
    assert {
        "examples/encodings.grid.yaml",
        "examples/log_bias.py",
        "examples/recipes/sorting.yaml",
    } <= {*names}
    assert names == [*shipped_examples.examples()]
    for name in (
        "examples/recipes/sorting.yaml",
        "examples/sorting",
        "examples/recipes/alibi-addition.py",
    ):
        code, out, err = call("train", name, "--dry-run", "--json")
        assert code == 0, err
        assert json.loads(out)["recipe"]["name"].startswith("examples/")
    own = ("--pe", "examples/log_bias.py:LogBias")
    assert json.loads(call(*ADDER, *own, "--dry-run", "--json")[1])["recipe"]["pe"] == "log-bias"
    code, out, err = call(
        "sweep", "examples/log-bias.grid.yaml", "--scale", "smoke", "--dry-run", "--json"
    )
    assert code == 0, err
    refused(
        call("train", "examples/recipes/sortin.yaml"),
        'did you mean "examples/recipes/sorting.yaml"?',
    )
    refused(call("train", "examples/sortin"), 'did you mean "examples/sorting"?')
    refused(
        call("sweep", "examples/encoding.grid.yaml"), 'did you mean "examples/encodings.grid.yaml"?'
    )
    (tmp_path / "examples/recipes").mkdir(parents=True)
    (tmp_path / "examples/recipes/sorting.yaml").write_text("name: mine\n")
    _, out, _ = call("train", "examples/recipes/sorting.yaml", "--dry-run", "--json")
    assert json.loads(out)["recipe"]["name"] == "mine"


def test_an_example_in_python_is_executed_only_if_it_is_named(call, tmp_path):
    NAMED.clear()  # of other tests in this process
    (tmp_path / "papers/mine").mkdir(parents=True)
    for line in ("include: [examples/log_bias.py]", "extends: examples/recipes/alibi-addition.py"):
        (tmp_path / "papers/mine/adder.yaml").write_text(f"{line}\n")
        refused(call("train", "mine/adder", "--dry-run"), "is executed only if you name it")


def test_the_norms_of_a_recipe_are_those_of_the_layers():
    assert ModelSize.model_fields["norm"].annotation == Norm
    assert typing.get_args(Norm)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_demo_installs_no_tools_of_development(tmp_path):
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)

    def planned(target):
        words = ["make", "-n", target]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    (tmp_path / ".venv").mkdir()
    assert "pip install" in planned("demo")
    assert "-c constraints.txt" in planned("demo")
    assert "dev" not in planned("demo").replace("/dev/", "")
    assert "-e '.[dev]'" in planned("test")
    (tmp_path / ".venv/.demo").touch()
    assert "pip" not in planned("demo")
    assert "-e '.[dev]'" in planned("test")
    (tmp_path / ".venv/.installed").touch()
    (tmp_path / ".venv/.demo").unlink()
    for target in ("demo", "test"):
        assert "pip" not in planned(target)


def test_a_folder_whose_recipe_is_gone_is_named(tenfold, tmp_path):
    (tmp_path / "runs" / "lost").mkdir(parents=True)
    (tmp_path / "runs" / "lost" / "result.json").write_text("{}")
    code, out, _ = tenfold("ls", "runs")
    assert code == 0
    assert "lost" in out
    assert "damaged: runs/lost is not a run: recipe.yaml is missing" in " ".join(out.split())
