"""Committed results are results too: one folder or all below one, their rows of no run, what is damaged."""

import functools
import json

import pytest

import tenfold
from tenfold.drawing.report_page import write_story
from tenfold.drawing.run_groups import gather
from tenfold.results.collect import collect, find_committed, read, write
from tenfold.results.committed import as_csv, as_runs
from tenfold.results.paired import compare
from tenfold.results.selection import select
from tenfold.results.summary import cells

ALONE = {
    "run": "", "paper": "paper", "claim": "", "recipe": "paper/theory", "task": "", "format": "",
    "encoding": "alibi", "scheme": "", "label": "", "seed": 0, "trained": None, "length": None,
    "slice": "uniform", "metric": "converges", "value": 1.0, "n": 0, "low": None, "high": None,
    "checkpoint": "", "steps": None, "fingerprint": "", "commit": "c", "date": "d", "evaluated_pe": "",
    "whole": None,
}  # fmt: skip


@pytest.fixture
def make(make):
    """As ever, at a known commit: text has no word for none."""
    made = {"tenfold": tenfold.__version__, "commit": "c", "date": "d"}
    return functools.partial(make, result={"environment": made})


@pytest.fixture
def commit(tmp_path):
    """`commit("sums", run, more=[...])`: `results/paper/sums/laptop` of these runs, with rows that an experiment adds."""

    def committed(name, *runs, more=()):
        collected = collect(runs)
        folder = tmp_path / "results/paper" / name / "laptop"
        folder.mkdir(parents=True)
        rows = [*collected.rows, *more]
        (folder / "rows.csv").write_text(as_csv(rows))
        (folder / "runs.json").write_text(as_runs(rows, collected.runs))
        return folder

    return committed


def test_one_folder_or_all_below_one(make, commit, tmp_path):
    first = commit("one", make(seed=0), make(seed=1))
    second = commit("two", make("rotary", right={5: 3, 7: 2}))
    assert find_committed(tmp_path) == [first, second]
    assert find_committed(first / "rows.csv") == [first]
    for place in (first, first / "rows.csv"):
        collected = collect([place])
        assert collected == collect([tmp_path / "runs" / run["run"] for run in collected.runs])
        assert len(collected.runs) == 2
    collected = collect([tmp_path / "results", first])  # named twice, there once
    assert (len(collected.rows), len(collected.runs), collected.problems) == (4, 3, [])


def test_a_run_of_two_experiments_has_the_rows_of_both(make, commit, tmp_path):
    run = make()
    (row,) = collect([run]).rows
    on_the_way = {**row, "checkpoint": "step-100", "value": 0.5}
    other = {**row, "metric": "lines", "length": None, "n": 0, "checkpoint": ""}
    commit("one", run, more=[on_the_way])
    commit("two", run, more=[other])
    collected = collect([run, tmp_path / "results"])
    assert (collected.rows, collected.problems) == ([row, on_the_way, other], [])
    assert len(collected.runs) == 1


def test_another_training_of_one_recipe_is_named(make, commit, tmp_path):
    first = commit("one", make())
    again = make(folder="again", right={5: 4})
    commit("two", again, more=[{**collect([again]).rows[0], "length": 9}])
    collected = collect([tmp_path / "results"])
    assert [row["value"] for row in collected.rows] == [1.0]
    (problem,) = collected.problems
    assert problem == (
        f"{tmp_path}/results/paper/two/laptop: {again.name}: the same recipe as {first} "
        "with other results; the first counts"
    )


def test_rows_of_no_run_are_results_and_no_problem_of_a_report(make, commit, tmp_path):
    seeds = [{**ALONE, "seed": seed, "value": value} for seed, value in enumerate((1.0, 0.0, 1.0))]
    commit("one", make(), more=seeds)
    commit("two", more=[*seeds[:1], {**ALONE, "recipe": "paper/other"}])
    collected = collect([tmp_path / "results"])
    assert (len(collected.rows), len(collected.runs), collected.problems) == (5, 1, [])
    other, theory = cells(select(collected.rows, ["recipe"], metric="converges").rows, ["recipe"])
    assert (other["recipe"], other["seeds"]) == ("paper/other", 1)
    assert (theory["seeds"], theory["median"], theory["worst"]) == (3, 1.0, 0.0)
    assert theory["samples_low"] is None  # nothing was measured
    story = gather([tmp_path / "results"])
    assert (len(story.groups), story.problems) == (1, [])
    written = write_story(story, tmp_path / "page")
    assert "paper/sums" in written["page"].read_text()


def test_rows_of_no_run_have_no_partner(make, commit):
    rows = [{**ALONE, "metric": "exact", "length": 5, "n": 10, "checkpoint": "best"}]
    collected = collect([commit("one", make(right={5: 7}), make("rotary"), more=rows)])
    (line,), notes = compare(collected, collected.rows, "alibi", "rotary", ["length"])
    assert (line["median_first"], line["seeds"], notes) == (0.7, 1, [])


def test_written_as_tables_they_come_back(make, commit, tmp_path):
    run = make()
    (row,) = collect([run]).rows
    collected = collect([commit("one", run, more=[{**row, "checkpoint": "step-1"}, ALONE])])
    write(collected, tmp_path / "kept")
    assert read(tmp_path / "kept") == collected
    collected.rows[0] = {**collected.rows[0], "length": None}  # which a run's own row must have
    write(collected, tmp_path / "kept")
    back = read(tmp_path / "kept")
    assert (back.rows, len(back.problems)) == ([ALONE], 1)
    assert "length is None" in back.problems[0]


def test_settings_that_came_later_are_no_difference(make, commit):
    """A recipe that was committed before a setting existed is the recipe with its default."""
    folder = commit("one", make())
    stored = json.loads((folder / "runs.json").read_text())
    assert stored["runs"][0]["recipe"]["data"].pop("noise") == 0.0
    (folder / "runs.json").write_text(json.dumps(stored))
    (run,) = collect([folder]).runs
    assert json.loads(run["recipe"])["data"]["noise"] == 0.0


def _cut(folder):
    rows = folder / "rows.csv"
    rows.write_bytes(rows.read_bytes()[:-5])


def _forget(folder):
    stored = json.loads((folder / "runs.json").read_text())
    del stored["runs"][0]["fingerprint"]
    (folder / "runs.json").write_text(json.dumps(stored))


DAMAGE = {
    "cut": (_cut, "rows.csv is damaged"),
    "other columns": (lambda p: (p / "rows.csv").write_text("a,b\n1,2\n"), "not a table of results"),
    "no JSON": (lambda p: (p / "runs.json").write_text("{"), "is damaged"),
    "no fingerprint": (_forget, "runs.json is damaged: a run has no fingerprint"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_named_and_left_out(make, commit, tmp_path, kind):
    damaged = commit("damaged", make(seed=0))
    commit("whole", make(seed=1))
    damage, said = DAMAGE[kind]
    damage(damaged)
    collected = collect([tmp_path / "results"])
    assert [row["seed"] for row in collected.rows] == [1]
    (problem,) = collected.problems
    assert problem.startswith(str(damaged))
    assert said in problem
    assert problem.isprintable()


def test_a_damaged_run_is_left_out_alone(make, commit):
    folder = commit("one", make(seed=0), make(seed=1))
    stored = json.loads((folder / "runs.json").read_text())
    stored["runs"][0]["recipe"]["colour"] = "red"
    (folder / "runs.json").write_text(json.dumps(stored))
    collected = collect([folder])
    assert [row["seed"] for row in collected.rows] == [1]
    (problem,) = collected.problems
    assert 'its recipe cannot be read: unknown recipe key "colour"' in problem


def test_the_commands(tenfold, make, commit):
    run = make(right={5: 7})
    commit("sums", run, more=[ALONE])
    commit("theory", more=[ALONE])
    code, out, err = tenfold("results", "results", "--by", "recipe,length")
    assert code == 0
    assert err == "note: 1 row of no run is left out: metric converges, not exact or perplexity\n"
    assert "paper/sums" in out
    code, out, err = tenfold(
        "results", "results/paper/theory", "--by", "recipe,metric", "--format", "csv"
    )
    assert code == 0
    assert err == "note: neither direction is better, the greatest counts as best: converges\n"
    assert out.splitlines()[1].startswith("paper/theory,converges,1,0,1.0,")
    code, out, err = tenfold("report", "results/paper/sums/laptop", "--out", "page")
    assert (code, err) == (0, "")
    code, _, err = tenfold("report", "results/paper/theory", "--out", "page")
    assert code == 2
    assert "there are no runs to report on" in err


def test_the_smallest_of_our_own(pytestconfig):
    """All of them are read where the ledger is tested; here, that the shape is the same."""
    place = pytestconfig.rootpath / "results/symmetry/long-addition/laptop"
    collected = collect([place])
    assert (len(collected.runs), collected.problems) == (2, [])
    assert len(collected.rows) == len((place / "rows.csv").read_text().splitlines()) - 1
