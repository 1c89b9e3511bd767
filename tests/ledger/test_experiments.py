"""Experiments: what they train and measure, and results folders that are whole or as they were."""

import json
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.ledger import experiments
from tenfold.ledger.claims import papers
from tenfold.ledger.reproduce import reproduce
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


@pytest.fixture
def shelf(tmp_path, monkeypatch, recipe):
    """`papers/tiny` in the working folder, with a recipe, claims and an experiment."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "papers" / "tiny"
    folder.mkdir(parents=True)
    values = recipe.replace(name="tiny/adder", claim="tiny/one")
    (folder / "adder.yaml").write_text(values.as_yaml())
    (folder / "claims.yaml").write_text(CLAIM)
    (folder / "both.py").write_text(BOTH)
    (tmp_path / "papers" / "bare").mkdir()
    (tmp_path / "papers" / "bare" / "claims.yaml").write_text(CLAIM)
    return folder


@pytest.mark.parametrize(
    "experiment",
    [each for paper in papers() for each in experiments.experiments(paper)],
    ids=lambda each: each.id,
)
def test_one_seed_of_a_paper_is_one_run_a_recipe(experiment):
    asked = [each.name for each in experiment.recipes("laptop", [5])]
    assert len(asked) == len(set(asked))
    assert set(asked) == {each.name for each in experiment.recipes("laptop")}


def in_process(recipes):
    return [train(each) for each in recipes]


def test_what_is_an_experiment_and_what_a_recipe(shelf):
    (shelf / "many.grid.yaml").write_text("recipe: tiny/adder\nproduct: {train.lr: [0.1, 0.2]}\n")
    assert [each.id for each in experiments.find("tiny")] == ["tiny/both", "tiny/many"]
    assert [name for name in names() if name.startswith("tiny/")] == ["tiny/adder"]
    (many,) = experiments.find("tiny/many")
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
    folder = reproduce(both, "laptop", None, tmp_path / "out", in_process)
    assert folder == tmp_path / "out" / "tiny" / "both" / "laptop"
    held = sorted(path.name for path in folder.iterdir() if path.is_file())
    assert {"rows.csv", "runs.json", "results.md", "report.html", "accuracy.png"} <= set(held)
    assert "results.csv" not in held
    rows = read_rows(folder / "rows.csv")
    assert {row["seed"] for row in rows if row["metric"] == "exact"} == {0, 1, 7}
    done = [row for row in rows if row["metric"] == "steps-done"]
    assert [(row["value"], row["seed"], row["trained"]) for row in done] == [(12, 0, 3), (12, 1, 3)]
    assert all(row["fingerprint"] and row["run"] and row["date"] for row in done)
    (theory,) = [row for row in rows if row["recipe"] == "tiny/theory"]
    assert (theory["paper"], theory["value"], theory["run"]) == ("tiny", 2.0, "")
    assert theory["date"]
    told = json.loads((folder / "runs.json").read_text())
    assert told["rows"] == len(rows)
    runs = told["runs"]
    assert [run["recipe"]["seed"] for run in runs] == [0, 1, 7]
    assert runs[0]["environment"]["torch"]
    again = reproduce(both, "laptop", None, tmp_path / "out", in_process)  # nothing is trained
    assert [row for row in read_rows(again / "rows.csv") if row["run"]] == [
        r for r in rows if r["run"]
    ]
    assert [path.name for path in folder.parent.iterdir()] == ["laptop"]


def test_theory_alone_needs_no_runs(shelf, tmp_path):
    text = "def measure(lab):\n    return [{'recipe': 'tiny/x', 'metric': 'm', 'value': 1}]\n"
    (shelf / "theory.py").write_text(text)
    (theory,) = experiments.find("tiny/theory")
    assert theory.recipes("paper") == []
    folder = reproduce(theory, "paper", None, tmp_path, None)
    assert [row["value"] for row in read_rows(folder / "rows.csv")] == [1.0]


DRAWN = """
def measure(lab):
    yield {"recipe": "tiny/theory", "length": 5, "metric": "two", "value": 2}

def draw(scale, rows, folder):
    (folder / "figure.txt").write_text(f"{scale} {len(rows)}")
"""


def test_figures_of_an_experiment_are_part_of_its_results(shelf, tmp_path):
    (shelf / "drawn.py").write_text(DRAWN)
    (drawn,) = experiments.find("tiny/drawn")
    folder = reproduce(drawn, "paper", None, tmp_path, None)
    assert (folder / "figure.txt").read_text() == "paper 1"
    (shelf / "drawn.py").write_text(DRAWN.replace("len(rows)", "1 / 0"))
    (broken,) = experiments.find("tiny/drawn")
    with pytest.raises(TenfoldError, match=r"drawn.py failed: ZeroDivisionError"):
        reproduce(broken, "paper", None, tmp_path, None)
    assert (folder / "figure.txt").read_text() == "paper 1"  # as it was


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", 'defines neither "grid" nor "measure"'),
        ("1/0", "failed: ZeroDivisionError"),
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
    (shelf / "bad.py").write_text(textwrap.dedent(text))
    (bad,) = experiments.find("tiny/bad")
    with pytest.raises(TenfoldError, match=message) as caught:
        reproduce(bad, "laptop", None, tmp_path / "out", in_process)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def row(**columns):
    known = {"recipe": "tiny/adder", "metric": "exact", "seed": 0, "value": 1.0}
    return dict.fromkeys(COLUMNS, "") | known | columns


def test_results_are_whole_or_as_they_were(tmp_path):
    folder = tmp_path / "a" / "laptop"
    experiments.commit(Collected([row()]), folder, lambda fresh: None)

    def fails(fresh):
        (fresh / "half").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(TenfoldError, match=r"cannot write to .*laptop: No space left"):
        experiments.commit(Collected([row(value=0.0)]), folder, fails)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [1.0]
    assert [path.name for path in folder.parent.iterdir()] == ["laptop"]
    experiments.commit(Collected([row(value=0.5)]), folder, lambda fresh: None)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.5]


KILLED = """
import os, sys
from pathlib import Path
from tenfold.ledger import experiments
from tenfold.results.collect import Collected

done, place = os.replace, Path(sys.argv[1])

def dies(source, target):
    if target == place:
        os._exit(9)  # the old results are aside, the new ones not yet there
    done(source, target)

os.replace = dies
experiments.commit(Collected(), place, lambda fresh: None)
"""


def test_a_kill_between_the_renames_loses_nothing(tmp_path):
    folder = tmp_path / "laptop"
    experiments.commit(Collected([row(value=0.25)]), folder, lambda fresh: None)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert killed.returncode == 9
    assert not folder.exists()
    experiments.check_place(folder, [])
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.25]
    experiments.commit(Collected([row(value=0.5)]), folder, lambda fresh: None)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.5]
    assert not (tmp_path / ".laptop-old").exists()


@pytest.mark.parametrize("first", [experiments.check_place, lambda folder, _: None])
def test_what_a_kill_after_the_renames_left_is_in_nobodys_way(tmp_path, first):
    folder = tmp_path / "laptop"
    experiments.commit(Collected([row(value=0.25)]), folder, lambda fresh: None)
    shutil.copytree(folder, tmp_path / ".laptop-old")
    first(folder, [])
    experiments.commit(Collected([row(value=0.5)]), folder, lambda fresh: None)
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [0.5]
    assert [path.name for path in tmp_path.iterdir()] == ["laptop"]


def test_a_rename_that_fails_restores_the_old_results(tmp_path, monkeypatch):
    folder, done = tmp_path / "laptop", os.replace
    experiments.commit(Collected([row(value=0.25)]), folder, lambda fresh: None)

    def fails(source, target):
        if target == folder and source.name != ".laptop-old":
            raise OSError(5, "Input/output error")
        done(source, target)

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(TenfoldError, match=r"cannot write to .*: Input/output error"):
        experiments.commit(Collected([row(value=0.5)]), folder, lambda fresh: None)
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
        experiments.check_place(folder, [])


def test_seeds_that_are_there_are_not_dropped(tmp_path, recipe):
    folder = tmp_path / "laptop"
    rows = [row(seed=seed) for seed in (0, 1, 2)] + [row(recipe="tiny/gone", seed=9)]
    experiments.commit(Collected(rows), folder, lambda fresh: None)
    ours = [recipe.replace(name="tiny/adder", seed=seed) for seed in range(4)]
    experiments.check_place(folder, ours)
    with pytest.raises(TenfoldError, match="holds seeds 1, 2, which this command would leave out"):
        experiments.check_place(folder, [ours[0], ours[3]])


def test_seeds_are_added_to_those_that_are_there(shelf, tmp_path):
    (shelf / "both.py").write_text(BOTH.split("    (more,)")[0])
    (both,) = experiments.find("tiny/both")
    out = tmp_path / "out"
    reproduce(both, "laptop", [0], out, in_process)
    shutil.rmtree("runs")  # what was trained is gone; its rows are committed
    folder = both.folder(out, "laptop")
    first = read_rows(folder / "rows.csv")
    experiments.check_place(folder, both.recipes("laptop", [1]), add=True)
    reproduce(both, "laptop", [1], out, in_process, add=True)
    rows = read_rows(folder / "rows.csv")
    assert [row for row in rows if row["seed"] == 0] == first
    assert {row["seed"] for row in rows if row["metric"] == "steps-done"} == {0, 1}
    runs = json.loads((folder / "runs.json").read_text())["runs"]
    assert [run["recipe"]["seed"] for run in runs] == [0, 1]
    table = (folder / "results.md").read_text()
    assert [line.split("|")[2].strip() for line in table.splitlines()[-2:]] == ["0", "1"]
    reproduce(both, "laptop", [1], out, in_process, add=True)  # again: nothing is there twice
    assert [r["value"] for r in read_rows(folder / "rows.csv")] == [r["value"] for r in rows]


def test_some_recipes_alone_are_added_to_the_others(shelf, tmp_path):
    grid = "recipe: tiny/adder\nname: tiny\nproduct: {train.lr: {slow: 0.1, fast: 0.2}}\n"
    (shelf / "many.grid.yaml").write_text(grid)
    (many,) = experiments.find("tiny/many")
    out = tmp_path / "out"
    for name in ("fast", "tiny/fast"):  # within its paper, or whole
        assert [r.name for r in many.recipes("laptop", [0], [name])] == ["tiny/fast"]
    reproduce(many, "laptop", [0], out, in_process, only=["slow"])
    folder = reproduce(many, "laptop", [0], out, in_process, add=True, only=["fast"])
    assert {r["recipe"] for r in read_rows(folder / "rows.csv")} == {"tiny/slow", "tiny/fast"}
    with pytest.raises(TenfoldError, match=r'recipe of tiny/many "fats"; did you mean "fast"'):
        many.recipes("laptop", [0], ["fats"])
    (both,) = experiments.find("tiny/both")
    with pytest.raises(TenfoldError, match="tiny/both measures over all that it trains"):
        both.recipes("laptop", [0], ["adder"])


EACH = """
from tenfold.runs.recipe_files import recipe

def grid(scale):
    whole = recipe("tiny/adder", scale)
    return [whole.replace(name=f"tiny/{k}", train={"lr": v}) for k, v in (("slow", 0.1), ("fast", 0.2))]

def measure_run(lab, run):
    yield {**lab.about(run), "metric": "steps-done", "value": run.result()["steps"]}
"""


def test_what_is_measured_of_each_run_goes_with_it(shelf, tmp_path):
    (shelf / "each.py").write_text(EACH)
    (each,) = experiments.find("tiny/each")
    out = tmp_path / "out"
    reproduce(each, "laptop", [0], out, in_process, only=["slow"])
    folder = reproduce(each, "laptop", [0], out, in_process, add=True, only=["fast"])
    done = [r["recipe"] for r in read_rows(folder / "rows.csv") if r["metric"] == "steps-done"]
    assert done == ["tiny/slow", "tiny/fast"]


def test_seeds_of_a_recipe_that_has_changed_are_not_added_to(shelf, tmp_path):
    (shelf / "both.py").write_text(BOTH.split("    (more,)")[0])
    (both,) = experiments.find("tiny/both")
    folder = reproduce(both, "laptop", [0], tmp_path / "out", in_process)
    changed = [each.replace(train={"steps": 13}) for each in both.recipes("laptop", [1])]
    with pytest.raises(TenfoldError, match=r"seed 0 of tiny/adder as it was before the recipe"):
        experiments.check_place(folder, changed, add=True)
    again = [each.replace(train={"steps": 13}) for each in both.recipes("laptop", [0, 1])]
    experiments.check_place(folder, again, add=True)  # none of the old ones would stay


def test_a_place_that_cannot_be_written_is_known_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TenfoldError, match="cannot write to"):
        experiments.check_place(tmp_path / "file" / "p" / "e" / "laptop", [])
