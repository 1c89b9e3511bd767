"""Experiments: what they train and measure, and results folders that are whole or as they were."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.ledger import experiments
from tenfold.ledger.claims import papers
from tenfold.ledger.experiments import Lab
from tenfold.ledger.reproduce import run_and_commit
from tenfold.ledger.results_folder import check_place, commit
from tenfold.results.collect import Collected
from tenfold.results.committed import read_rows
from tenfold.results.row_schema import COLUMNS
from tenfold.runs.recipe_files import names
from tenfold.runs.train import train

CLAIM = """
paper: {title: A tiny paper, arxiv: "1"}
claims:
- {id: one, place: p, says: s, theirs: t, how: h, experiment: both, shown: [{at_least: 0}]}
- {id: two, place: p, says: s, theirs: t, how: h, experiment: later, shown: [{at_least: 0}]}
"""
BOTH = '''
"""A title.

More words."""
from tenfold.runs.recipe_files import recipe

def grid(scale):
    return [recipe("tiny/adder", scale, seed=seed) for seed in (0, 1)]

def measure(lab):
    for run in lab.runs[:]:
        yield {**lab.about(run), "metric": "steps-done", "value": run.result()["steps"]}
    (more,) = lab.sweep([recipe("tiny/adder", lab.scale, seed=7)])
    yield {"recipe": "tiny/theory", "length": 5, "metric": "two", "value": 2}
'''


MANY = """
from tenfold.runs.recipe_files import recipe

def grid(scale):
    return [
        recipe("tiny/adder", scale, name=f"tiny/{name}", train={"lr": lr})
        for name, lr in (("slow", 0.1), ("fast", 0.2))
    ]
"""


@pytest.fixture
def shelf(tmp_path, monkeypatch, recipe, paper):
    """The paper `tiny` with a recipe, claims and an experiment; it writes further experiments."""
    monkeypatch.chdir(tmp_path)
    folder = paper("both", BOTH)
    values = recipe.replace(name="tiny/adder", claim="tiny/one")
    (folder / "adder.yaml").write_text(values.as_yaml())
    (folder / "claims.yaml").write_text(CLAIM)
    (tmp_path / "papers" / "bare").mkdir()
    (tmp_path / "papers" / "bare" / "claims.yaml").write_text(CLAIM)
    return paper


@pytest.mark.parametrize(
    "experiment",
    [each for paper in papers() for each in experiments.experiments(paper)],
    ids=lambda each: each.id,
)
def test_one_seed_of_a_paper_is_one_run_a_recipe(experiment):
    names_of_one_seed = [each.name for each in experiment.recipes("laptop", [5])]
    assert len(names_of_one_seed) == len(set(names_of_one_seed))
    assert set(names_of_one_seed) == {each.name for each in experiment.recipes("laptop")}


def in_process(recipes):
    return [train(each) for each in recipes]


def test_what_is_an_experiment_and_what_a_recipe(shelf):
    shelf("so_many", MANY)
    assert [each.id for each in experiments.find("tiny")] == ["tiny/both", "tiny/so-many"]
    assert [name for name in names() if name.startswith("tiny/")] == ["tiny/adder"]
    (many,) = experiments.find("tiny/so-many")
    assert [r.train.lr for r in many.recipes("laptop", [3])] == [0.1, 0.2]
    (both,) = experiments.find("tiny/both")
    assert both.title == "A title"
    assert [r.seed for r in both.recipes("laptop")] == [0, 1]
    assert [r.seed for r in both.recipes("laptop", [4])] == [4]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tinny", 'unknown paper "tinny"; did you mean "tiny"'),
        ("tiny/later", "tiny/later does not exist yet; there is: both"),
        ("tiny/bot", 'unknown experiment of tiny "bot"; did you mean "both"'),
        ("bare/additoin", "papers/bare has no experiment yet"),
    ],
)
def test_what_is_not_there(shelf, name, message):
    with pytest.raises(TenfoldError, match=message):
        experiments.find(name)


def test_a_whole_experiment(shelf, tmp_path):
    (both,) = experiments.find("tiny/both")
    folder = run_and_commit(both, Lab("laptop", None, in_process), tmp_path / "out")
    assert folder == tmp_path / "out" / "tiny" / "both" / "laptop"
    files = sorted(path.name for path in folder.iterdir() if path.is_file())
    assert files == ["results.md", "rows.csv", "runs.json"]
    rows = read_rows(folder / "rows.csv")
    assert {row["seed"] for row in rows if row["metric"] == "exact"} == {0, 1, 7}
    done = [row for row in rows if row["metric"] == "steps-done"]
    assert [(row["value"], row["seed"], row["trained"]) for row in done] == [(12, 0, 3), (12, 1, 3)]
    assert all(row["fingerprint"] and row["run"] and row["date"] for row in done)
    (theory,) = [row for row in rows if row["recipe"] == "tiny/theory"]
    assert (theory["paper"], theory["value"], theory["run"]) == ("tiny", 2.0, "")
    assert theory["date"]
    stored = json.loads((folder / "runs.json").read_text())
    assert stored["rows"] == len(rows)
    runs = stored["runs"]
    assert [run["recipe"]["seed"] for run in runs] == [0, 1, 7]
    assert runs[0]["environment"]["torch"]
    again = run_and_commit(
        both, Lab("laptop", None, in_process), tmp_path / "out"
    )  # nothing is trained
    assert [row for row in read_rows(again / "rows.csv") if row["run"]] == [
        r for r in rows if r["run"]
    ]
    assert [path.name for path in folder.parent.iterdir()] == ["laptop"]


def test_theory_alone_needs_no_runs(shelf, tmp_path):
    text = "def measure(lab):\n    return [{'recipe': 'tiny/x', 'metric': 'm', 'value': 1}]\n"
    shelf("theory", text)
    (theory,) = experiments.find("tiny/theory")
    assert theory.recipes("paper") == []
    folder = run_and_commit(theory, Lab("paper", None, None), tmp_path)
    assert [row["value"] for row in read_rows(folder / "rows.csv")] == [1.0]


DRAWN = """
def measure(lab):
    yield {"recipe": "tiny/theory", "length": 5, "metric": "two", "value": 2}

    lab.kept["three"] = 3

def draw(drawing):
    text = f"{drawing.scale} {len(drawing.rows)} {drawing.kept['three']}"
    (drawing.folder / "figure.txt").write_text(text)
"""


def test_figures_of_an_experiment_are_part_of_its_results(shelf, tmp_path):
    shelf("drawn", DRAWN)
    (drawn,) = experiments.find("tiny/drawn")
    folder = run_and_commit(drawn, Lab("paper", None, None), tmp_path)
    assert (folder / "figure.txt").read_text() == "paper 1 3"
    shelf("drawn", DRAWN.replace("len(drawing.rows)", "1 / 0"))
    (broken,) = experiments.find("tiny/drawn")
    with pytest.raises(TenfoldError, match=r"tiny/drawn failed: ZeroDivisionError"):
        run_and_commit(broken, Lab("paper", None, None), tmp_path)
    assert (folder / "figure.txt").read_text() == "paper 1 3"  # as it was


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", 'defines neither "grid" nor "measure"'),
        ("1/0", "failed: ZeroDivisionError"),
        ("raise BaseException('x')", "failed: BaseException: x"),
        ("def measure(lab): return [{'valeu': 1}]", 'column of tiny/bad "valeu"; did you mean'),
        (
            "def measure(lab): return [{'recipe': 'a', 'metric': 'm'}]",
            "tiny/bad, as measured: a row has no value",
        ),
        (
            "def measure(lab): return [{'recipe': 'a', 'metric': 'm', 'value': float('nan')}]",
            "tiny/bad, as measured: a row has the value nan",
        ),
        (
            "def measure(lab): return [{'recipe': 'a', 'metric': 'm', 'value': 'many'}]",
            "tiny/bad, as measured: could not convert string to float: 'many'",
        ),
        ("def measure(lab): return 1/0", "failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_bad_experiment_is_one_clear_line(shelf, tmp_path, text, message):
    shelf("bad", textwrap.dedent(text))
    (bad,) = experiments.find("tiny/bad")
    with pytest.raises(TenfoldError, match=message) as caught:
        run_and_commit(bad, Lab("laptop", None, in_process), tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def row(**columns):
    known = {"recipe": "tiny/adder", "metric": "exact", "seed": 0, "value": 1.0}
    return dict.fromkeys(COLUMNS, "") | known | columns


def test_results_are_whole_or_as_they_were(tmp_path):
    folder = tmp_path / "a" / "laptop"
    commit(Collected([row()]), folder, lambda fresh: None)

    def fails(fresh):
        (fresh / "half").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(TenfoldError, match=r"cannot write to .*laptop: No space left"):
        commit(Collected([row(value=0.0)]), folder, fails)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [1.0]
    assert [path.name for path in folder.parent.iterdir()] == ["laptop"]
    commit(Collected([row(value=0.5)]), folder, lambda fresh: None)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.5]


KILLED = """
import os, sys
from pathlib import Path
from tenfold.ledger.results_folder import commit
from tenfold.results.collect import Collected

done, place = os.replace, Path(sys.argv[1])

def dies(source, target):
    if target == place:
        os._exit(9)  # the old results are aside, the new ones not yet there
    done(source, target)

os.replace = dies
commit(Collected(), place, lambda fresh: None)
"""


def test_a_kill_between_the_renames_loses_nothing(tmp_path):
    folder = tmp_path / "laptop"
    commit(Collected([row(value=0.25)]), folder, lambda fresh: None)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert killed.returncode == 9
    assert not folder.exists()
    check_place(folder, [])
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.25]
    commit(Collected([row(value=0.5)]), folder, lambda fresh: None)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.5]
    assert not (tmp_path / ".laptop-old").exists()


@pytest.mark.parametrize("first", [check_place, lambda folder, _: None])
def test_what_a_kill_after_the_renames_left_is_in_nobodys_way(tmp_path, first):
    folder = tmp_path / "laptop"
    commit(Collected([row(value=0.25)]), folder, lambda fresh: None)
    shutil.copytree(folder, tmp_path / ".laptop-old")
    first(folder, [])
    commit(Collected([row(value=0.5)]), folder, lambda fresh: None)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.5]
    assert [path.name for path in tmp_path.iterdir()] == ["laptop"]


def test_a_rename_that_fails_restores_the_old_results(tmp_path, monkeypatch):
    folder, done = tmp_path / "laptop", os.replace
    commit(Collected([row(value=0.25)]), folder, lambda fresh: None)

    def fails(source, target):
        if target == folder and source.name != ".laptop-old":
            raise OSError(5, "Input/output error")
        done(source, target)

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(TenfoldError, match=r"cannot write to .*: Input/output error"):
        commit(Collected([row(value=0.5)]), folder, lambda fresh: None)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.25]
    assert [path.name for path in tmp_path.iterdir()] == ["laptop"]


def test_leftovers_that_cannot_be_removed_are_known_before_training(tmp_path, monkeypatch):
    folder = tmp_path / "laptop"
    for each in (folder, tmp_path / ".laptop-old"):
        each.mkdir()

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(TenfoldError, match=r"cannot write to .*laptop: Permission denied"):
        check_place(folder, [])


def test_seeds_that_are_there_are_not_dropped(tmp_path, recipe):
    folder = tmp_path / "laptop"
    rows = [row(seed=seed) for seed in (0, 1, 2)] + [row(recipe="tiny/gone", seed=9)]
    commit(Collected(rows), folder, lambda fresh: None)
    ours = [recipe.replace(name="tiny/adder", seed=seed) for seed in range(4)]
    check_place(folder, ours)
    with pytest.raises(TenfoldError, match="holds seeds 1, 2, which this command would leave out"):
        check_place(folder, [ours[0], ours[3]])


def test_seeds_are_added_to_those_that_are_there(shelf, tmp_path):
    shelf("both", BOTH.split("    (more,)")[0])
    (both,) = experiments.find("tiny/both")
    out = tmp_path / "out"
    run_and_commit(both, Lab("laptop", [0], in_process), out)
    shutil.rmtree("runs")  # what was trained is gone; its rows are committed
    folder = both.folder(out, "laptop")
    first = read_rows(folder / "rows.csv")
    check_place(folder, both.recipes("laptop", [1]), add=True)
    run_and_commit(both, Lab("laptop", [1], in_process), out, add=True)
    rows = read_rows(folder / "rows.csv")
    assert [row for row in rows if row["seed"] == 0] == first
    assert {row["seed"] for row in rows if row["metric"] == "steps-done"} == {0, 1}
    runs = json.loads((folder / "runs.json").read_text())["runs"]
    assert [run["recipe"]["seed"] for run in runs] == [0, 1]
    table = (folder / "results.md").read_text()
    assert [line.split("|")[2].strip() for line in table.splitlines()[-2:]] == ["0", "1"]
    run_and_commit(
        both, Lab("laptop", [1], in_process), out, add=True
    )  # again: nothing is there twice
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [r["value"] for r in rows]


def test_some_recipes_alone_are_added_to_the_others(shelf, tmp_path):
    shelf("many", MANY)
    (many,) = experiments.find("tiny/many")
    out = tmp_path / "out"
    for name in ("fast", "tiny/fast"):  # within its paper, or whole
        assert [r.name for r in many.recipes("laptop", [0], [name])] == ["tiny/fast"]
    run_and_commit(many, Lab("laptop", [0], in_process), out, only=["slow"])
    folder = run_and_commit(many, Lab("laptop", [0], in_process), out, add=True, only=["fast"])
    assert {r["recipe"] for r in read_rows(folder / "rows.csv")} == {"tiny/slow", "tiny/fast"}
    with pytest.raises(TenfoldError, match=r'recipe of tiny/many "fats"; did you mean "fast"'):
        many.recipes("laptop", [0], ["fats"])
    (both,) = experiments.find("tiny/both")
    with pytest.raises(TenfoldError, match="tiny/both measures over all that it trains"):
        both.recipes("laptop", [0], ["adder"])
    both.module.of_each_run = True
    assert [r.name for r in both.recipes("laptop", [0], ["adder"])] == ["tiny/adder"]


EACH = (
    MANY
    + """
def measure_run(lab, run):
    yield {**lab.about(run), "metric": "steps-done", "value": run.result()["steps"]}
"""
)


def test_what_is_measured_of_each_run_goes_with_it(shelf, tmp_path):
    shelf("each", EACH)
    (each,) = experiments.find("tiny/each")
    out = tmp_path / "out"
    run_and_commit(each, Lab("laptop", [0], in_process), out, only=["slow"])
    folder = run_and_commit(each, Lab("laptop", [0], in_process), out, add=True, only=["fast"])
    done = [r["recipe"] for r in read_rows(folder / "rows.csv") if r["metric"] == "steps-done"]
    assert done == ["tiny/slow", "tiny/fast"]


def test_seeds_of_a_recipe_that_has_changed_are_not_added_to(shelf, tmp_path):
    shelf("both", BOTH.split("    (more,)")[0])
    (both,) = experiments.find("tiny/both")
    folder = run_and_commit(both, Lab("laptop", [0], in_process), tmp_path / "out")
    changed = [each.replace(train={"steps": 13}) for each in both.recipes("laptop", [1])]
    with pytest.raises(TenfoldError, match=r"seed 0 of tiny/adder as it was before the recipe"):
        check_place(folder, changed, add=True)
    again = [each.replace(train={"steps": 13}) for each in both.recipes("laptop", [0, 1])]
    check_place(folder, again, add=True)  # none of the old ones would stay


def test_commands_in_the_texts_of_experiments_name_their_recipes():
    named = {}
    for each in (one for paper in papers() for one in experiments.find(paper)):
        for only in re.findall(r"--only (\S+)", each.module.__doc__ or ""):
            named[each.id] = [r.name for r in each.recipes("laptop", [0], only.split(","))]
    assert named["symmetry/norms"] == ["symmetry/addition-relative-post-eight"]
    assert len(named["symmetry/samplers"]) == 4


def test_a_place_that_cannot_be_written_is_known_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TenfoldError, match="cannot write to"):
        check_place(tmp_path / "file" / "p" / "e" / "laptop", [])
