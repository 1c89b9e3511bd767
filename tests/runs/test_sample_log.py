"""Logs of samples: what is logged is what was graded, and a log is whole or not there."""

import json
import os
import shutil
from itertools import chain

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import TASKS
from tenfold.results.collect import collect, query
from tenfold.results.sample_tables import sample_log
from tenfold.results.tables import SAMPLES, as_parquet
from tenfold.runs.sample_log import SampleLog, describe
from tenfold.runs.train import train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    from tenfold.runs.recipe_files import recipe

    chosen = recipe("symmetry/addition-relative", scale="smoke", train={"steps": 60, "lr": 0.01})
    return train(chosen, tmp_path_factory.mktemp("samples") / "run")


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_is_logged_is_what_was_graded(run, tmp_path):
    path = tmp_path / "log.jsonl"
    with SampleLog(path) as log:
        rows = run.evaluate([1, 2, 4], ["uniform", "cascades", "nines"], 30, log=log)
    assert rows == run.evaluate([1, 2, 4], ["uniform", "cascades", "nines"], 30)
    logged = lines(path)
    exact = [row for row in rows if row.metric == "exact"]
    assert len(logged) == 30 * len(exact)
    assert any(sample["right"] for sample in logged)
    for row in exact:
        own = [s for s in logged if (s["length"], s["slice"]) == (row.length, row.slice)]
        assert sum(s["right"] for s in own) / 30 == row.value
        for sample in own:
            a, b = map(int, sample["prompt"].split("+"))
            assert sample["truth"] == str(a + b)
            assert sample["right"] == (sample["answer"] == sample["truth"])
            if row.slice == "cascade-1":
                assert sample["cascade"] == 1
            if row.slice == "cascade-all":
                assert sample["cascade"] == row.length
    for sample in logged[:10]:
        assert list(sample) == list(SAMPLES)
        assert run.ask(sample["prompt"]).answer == sample["answer"]
        known = (sample["run"], sample["seed"], sample["checkpoint"])
        assert known == ("run", run.recipe.seed, "best")


def test_batches_do_not_matter(run, monkeypatch):
    """A batch of one problem each gives the same log as one batch."""
    seen, alone = [], []
    run.evaluate([2], ["uniform"], 7, log=seen.append)
    monkeypatch.setattr("tenfold.evals.exact_match.Examiner.batches", _one_by_one)
    run.evaluate([2], ["uniform"], 7, log=alone.append)
    assert (len(seen), len(alone)) == (1, 7)
    assert [*chain(*seen)] == [*chain(*alone)]


def _one_by_one(self, examples, linear=False):

    for row in range(len(examples)):
        yield self.batcher(examples.rows(slice(row, row + 1)))


def test_one_measurement_for_two_checkpoints(run):
    seen = []
    reported = describe(seen.append, run.built.batcher, "me", 4, ["final", "best"])
    run.built.examiner().rows(run.answerer(), [2], n=3, log=reported)
    final, best = seen
    assert {sample["checkpoint"] for sample in final} == {"final"}
    assert [{**sample, "checkpoint": "final"} for sample in best] == final


def test_as_parquet(run, tmp_path):
    plain, table = tmp_path / "a.jsonl", tmp_path / "[b]*.parquet"
    for path in (plain, table):
        with sample_log(path) as log:
            run.evaluate([2], ["uniform"], 5, log=log)
    assert table.read_bytes() == as_parquet(SAMPLES, lines(plain))
    assert sorted(os.listdir(tmp_path)) == ["[b]*.parquet", "a.jsonl"]  # nothing temporary is left


@pytest.mark.parametrize("name", ["log.jsonl", "log.parquet"])
def test_a_log_is_whole_or_as_it_was(tmp_path, name):
    path = tmp_path / name
    path.write_text("old")

    def fails():
        with SampleLog(path) as log:
            log([{"run": "a"}])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [name]
    with pytest.raises(TenfoldError, match="is not open"):
        SampleLog(path)([])


def test_where_it_cannot_be_written(tmp_path):
    with (
        pytest.raises(TenfoldError, match="cannot write samples to"),
        SampleLog(tmp_path / "no" / "x"),
    ):
        pass


@pytest.mark.parametrize("name", ["addition", "modular-addition", "subtraction", "successor"])
@pytest.mark.parametrize("base", [2, 3, 10])
def test_the_longest_carry_is_what_the_slice_says(name, base):
    """Each task's slices draw problems of a stated cascade."""
    task = TASKS[name](base=base)
    checked = 0
    for label, sampler in task.hard(6)["cascades"].items():
        size = label.removeprefix("cascade-")
        if size.isdecimal():
            examples = task.sample(50, 6, np.random.default_rng(0), sampler)
            assert (task.cascade(examples) == int(size)).all()
            checked += 1
    assert checked


def test_the_longest_borrow_in_a_plain_loop(rng):
    """A borrow runs on over columns that are alike; of operands of all lengths."""
    task = TASKS["subtraction"]()
    examples = task.sample(300, 6, rng)
    for row, actual in enumerate(task.cascade(examples)):
        longest = run = 0
        for a, b in examples.operands[row].T.astype(int):
            run = 1 if a < b else run + 1 if run and a == b else 0
            longest = max(longest, run)
        assert actual == longest


@pytest.mark.parametrize("name", ["multiplication", "comparison", "parity"])
def test_tasks_without_carries(name, rng):
    task = TASKS[name]()
    assert task.cascade(task.sample(3, 4, rng)) is None


def test_logged_by_the_command_and_asked_in_sql(run, tenfold):
    log = run.folder / "samples.jsonl"
    words = ["--lengths", "2,4", "--slices", "uniform", "--n", "20", "--json", "--log-samples", log]
    code, out, _ = tenfold("eval", run.folder, *words)
    assert code == 0
    rows = json.loads(out)
    questions = "select length, avg(samples.right::int) as share from samples group by 1 order by 1"
    code, out, err = tenfold("results", run.folder, "--format", "json", "--sql", questions)
    assert (code, err) == (0, "")
    exact = [row["value"] for row in rows if row["metric"] == "exact"]
    assert [line["share"] for line in json.loads(out)] == pytest.approx(exact)
    joined = "select count(*) from samples s join runs r on s.run = r.run and s.seed = r.seed"
    assert query(collect([run.folder]), joined)[1] == [(40,)]
    with log.open("a") as file:
        file.write('{"run": ')
    with pytest.warns(UserWarning, match=r"samples\.jsonl is damaged and left out: .*Malformed"):
        assert query(collect([run.folder]), "select count(*) from samples")[1] == [(0,)]
    log.write_text('{"question": "1+1", "reply": "2"}\n')
    with pytest.warns(UserWarning, match=r"samples\.jsonl is damaged and left out: a line has not"):
        assert query(collect([run.folder]), "select count(*) from samples")[1] == [(0,)]
    log.unlink()


def test_a_folder_is_refused_before_anything_is_measured(run, tenfold, tmp_path, monkeypatch):
    def measures(*_, **__):
        raise AssertionError("measured")

    monkeypatch.setattr("tenfold.runs.run.Run.evaluate", measures)
    code, out, err = tenfold("eval", run.folder, "--log-samples", tmp_path)
    assert (code, out) == (2, "")
    assert err == f"error: cannot write samples to {tmp_path}: it is a folder; name a file\n"


def test_the_command_cannot_write(run, tenfold):
    code, out, err = tenfold("eval", run.folder, "--n", "2", "--log-samples", "no/where.jsonl")
    assert (code, out) == (2, "")
    assert err.startswith("error: cannot write samples to no/where.jsonl")


def test_off_it_costs_nothing(run, monkeypatch):
    """Without a log nothing is described."""

    def refuse(*_):
        raise AssertionError("described")

    monkeypatch.setattr("tenfold.runs.run.describe", refuse)
    assert run.evaluate([2], ["uniform"], 3)


def test_training_keeps_samples_of_both_checkpoints(tmp_path):
    from tenfold.runs.recipe_files import recipe as find

    recipe = find("symmetry/addition-relative", "smoke")
    run = train(recipe, tmp_path / "run", log_samples=True)
    samples = lines(run.folder / "samples.jsonl")
    rows = [row for row in run.result()["rows"] if row["metric"] == "exact"]
    for row in rows:
        key = (row["checkpoint"], row["length"], row["slice"])
        own = [s for s in samples if (s["checkpoint"], s["length"], s["slice"]) == key]
        assert len(own) == row["n"]
        assert sum(s["right"] for s in own) / len(own) == row["value"]
    assert len(samples) == sum(row["n"] for row in rows)
    train(recipe, run.folder, fresh=True)
    assert not (run.folder / "samples.jsonl").exists()


def test_a_log_counts_though_the_run_is_there_under_another_name(tmp_path, run):
    """The run counts once, its log too, in whichever folder it lies."""
    for name in ("a", "b", "c"):
        shutil.copytree(run.folder, tmp_path / name)
    for name in ("b", "c"):
        sample = {"run": name, "seed": 0, "checkpoint": "best", "length": 2, "slice": "uniform",
                  "prompt": "1+1", "truth": "2", "answer": "2", "right": True, "cascade": 0}  # fmt: skip
        (tmp_path / name / "samples.jsonl").write_text(json.dumps(sample) + "\n")
    actual = collect([tmp_path])
    assert len(actual.runs) == 1
    assert query(actual, "select run from samples")[1] == [("b",)]
