"""A run's folder: finished, resumed, started over, claimed, damaged."""

import errno
import json
import os
import subprocess
import sys

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.runs import source
from tenfold.runs.run import Answer, Run
from tenfold.runs.train import train


class Crash(Exception):
    pass


@pytest.fixture
def run(recipe, tmp_path):
    return train(recipe, tmp_path / "run")


@pytest.fixture
def broken(recipe, tmp_path):
    """A folder in which a run broke off at step 6."""

    def callback(line):
        if line.get("step") == 6:
            raise Crash

    with pytest.raises(Crash):
        train(recipe, tmp_path / "broken", progress=callback)
    return tmp_path / "broken"


def files(folder):
    actual = (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("lease-"))
    return {p.relative_to(folder): p.read_bytes() for p in actual}


def equal(one, other):
    ours, theirs = one.state_dict(), other.state_dict()
    return all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize(("stated", "asked"), [((), {3}), ((2, 7), {2, 7})])
def test_the_best_checkpoint_is_chosen_at_the_training_length(
    recipe, tmp_path, monkeypatch, stated, asked
):
    """Unless the recipe names other lengths; never at a test length by default."""
    asked_at = set()
    real = source.Problems.measure

    def watch(self, answerer, lengths, *rest, validation=False, **more):
        if validation:
            asked_at.update(lengths)
        return real(self, answerer, lengths, *rest, validation=validation, **more)

    monkeypatch.setattr(source.Problems, "measure", watch)
    chosen = recipe.replace(eval={"lengths": [2, 5, 6], "validation": stated})
    train(chosen, tmp_path / "run")
    assert asked_at == asked


def test_what_a_run_leaves(run, recipe):
    names = {path.name for path in run.folder.iterdir()} - {"lease-000001"}
    assert names == {
        "recipe.yaml",
        "environment.json",
        "metrics.jsonl",
        "checkpoints",
        "result.json",
    }
    result = run.result()
    assert result["fingerprint"] == recipe.fingerprint
    assert result["steps"] == 12
    assert result["parameters"] == run.model().parameter_count()
    measured = {(row["checkpoint"], row["length"], row["metric"]) for row in result["rows"]}
    assert measured == {
        (c, n, m) for c in ("final", "best") for n in (2, 3) for m in ("exact", "digit")
    }
    assert all(
        row["n"] >= 8 and (row["low"] or 0) <= row["value"] <= (row["high"] or 1)
        for row in result["rows"]
    )
    assert {"tenfold", "torch", "python", "commit", "date"} <= set(result["environment"])
    assert result["environment"]["processor"].endswith(torch.backends.cpu.get_cpu_capability())
    assert [line["step"] for line in run.metrics()] == list(range(1, 13))


@pytest.mark.parametrize("which", ["final", "best"])
def test_only_the_checkpoint_that_is_asked_for(recipe, tmp_path, which):
    """It is the same run, with fewer rows."""
    less = recipe.replace(eval={"checkpoints": [which]})
    assert less.fingerprint == recipe.fingerprint
    rows = train(less, tmp_path / "less").result()["rows"]
    both = train(recipe, tmp_path / "both").result()["rows"]
    assert rows == [row for row in both if row["checkpoint"] == which]


def test_a_finished_run_is_returned_as_it_is(run, recipe):
    before = files(run.folder)
    again = train(recipe, run.folder, progress=lambda line: pytest.fail("it trained"))
    assert files(run.folder) == before
    assert again.result() == run.result()


def test_resume(broken, run, recipe):
    lines = []
    resumed = train(recipe, broken, progress=lines.append)
    assert [line["step"] for line in lines if "step" in line] == list(range(5, 13))
    for which in ("final", "best"):
        assert equal(resumed.model(which), run.model(which))
    assert resumed.result()["rows"] == run.result()["rows"]


def test_fresh(broken, recipe):
    lines = []
    train(recipe, broken, fresh=True, progress=lines.append)
    assert [line["step"] for line in lines if "step" in line] == list(range(1, 13))


def test_fresh_with_another_recipe(run, recipe):
    (run.folder / "ladder.json").write_text("measured on the first weights")
    other = train(recipe.replace(train={"lr": 0.02}), run.folder, fresh=True)
    assert not (run.folder / "ladder.json").exists()
    assert Run.open(run.folder).recipe.train.lr == 0.02
    assert other.finished


def test_a_folder_of_another_recipe(run, recipe):
    before = files(run.folder)
    with pytest.raises(TenfoldError, match=r"another recipe \(train\.lr is 0\.01, not 0\.02\)"):
        train(recipe.replace(train={"lr": 0.02}), run.folder)
    assert files(run.folder) == before


def test_a_reason_to_stop(recipe, tmp_path):
    stopped = train(
        recipe, tmp_path / "run", stop=lambda model, step: "enough" if step == 3 else None
    )
    assert (stopped.result()["steps"], stopped.result()["reason"]) == (3, "enough")


def test_open(run, recipe):
    opened = Run.open(run.folder)
    assert opened.recipe == recipe
    assert equal(opened.model(), run.model())
    assert not opened.model().training
    assert repr(opened) == f"Run('{run.folder}')"


def test_which_model(run):
    checkpoint = run.checkpoint()
    for which, group in (("final", "average"), ("best", "best")):
        expected = checkpoint.tensors[group]
        assert all(torch.equal(v, expected[k]) for k, v in run.model(which).state_dict().items())
    assert any(
        not torch.equal(v, checkpoint.tensors["average"][k])
        for k, v in checkpoint.tensors["model"].items()
    )


def test_evaluate(run):
    rows = run.evaluate()
    best = [row for row in run.result()["rows"] if row["checkpoint"] == "best"]
    assert [{**row.as_json(), "checkpoint": "best"} for row in rows] == best
    rows = run.evaluate([4], ["nines"], 5)
    assert [(row.length, row.slice, row.metric) for row in rows] == [
        (4, "nines", "exact"),
        (4, "nines", "digit"),
    ]


@pytest.mark.parametrize("length", [0, -2])
def test_evaluate_no_length(run, length):
    with pytest.raises(TenfoldError, match=f"length of {length} is too short"):
        run.evaluate([3, length])


def test_ask(run):
    answer = run.ask("012+345")
    assert (answer.question, answer.truth) == ("12+345", "357")
    assert run.ask("12+345").answer == answer.answer
    assert answer.right == (answer.answer == "357")


@pytest.mark.parametrize("question", ["", "abc", "1+2+3", "1+", "one+two"])
def test_ask_what_is_no_question(run, question):
    with pytest.raises(TenfoldError, match="is not a sum of 2 numbers"):
        run.ask(question)


def test_ask_ten_thousand_digits(run):
    with pytest.raises(TenfoldError) as caught:
        run.ask("9" * 10_000 + "+1")
    assert len(str(caught.value)) < 200


def test_examples(run):
    examples = run.examples(3, 4)
    assert len(examples) == 4
    assert all(sum(map(int, e.question.split("+"))) == int(e.truth) for e in examples)
    assert run.examples(3, 4) == examples


@pytest.mark.parametrize(
    ("answer", "truth", "wrong"),
    [("357", "357", [0, 0, 0]), ("347", "357", [0, 1, 0]), ("1357", "357", [1, 0, 0, 0]),
     ("57", "357", [0, 0]), ("", "357", [])],
)  # fmt: skip
def test_wrong_digits(answer, truth, wrong):
    actual = Answer("?", answer, truth)
    assert actual.wrong_digits() == wrong
    assert actual.right == (answer == truth)


def test_no_run(tmp_path):
    with pytest.raises(TenfoldError, match="there is no run in"):
        Run.open(tmp_path / "nothing")
    with pytest.raises(TenfoldError, match=r"is not a run: recipe\.yaml"):
        Run.open(tmp_path)


@pytest.mark.parametrize("content", [b"a: [", b"just words", b"\xff\xfe", b"", b"- 1"])
def test_a_damaged_recipe(run, content):
    (run.folder / "recipe.yaml").write_bytes(content)
    with pytest.raises(TenfoldError, match="damaged"):
        Run.open(run.folder)


def test_not_finished(broken):
    with pytest.raises(TenfoldError, match="has not finished"):
        Run.open(broken).result()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]"])
def test_a_damaged_result(run, content):
    (run.folder / "result.json").write_bytes(content)
    with pytest.raises(TenfoldError, match=r"result\.json"):
        run.result()


def test_no_checkpoint(recipe, tmp_path):
    with pytest.raises(TenfoldError, match="has no checkpoint yet"):
        Run(tmp_path, recipe).model()


def test_a_checkpoint_of_another_recipe(run, recipe):
    other = Run(run.folder, recipe.replace(seed=9))
    with pytest.raises(TenfoldError, match="belongs to another recipe"):
        other.model()


def test_metrics_cut_short(run):
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 13, "lo')
    with pytest.raises(TenfoldError, match=r"metrics.jsonl has \d+ bytes of \d+"):
        run.metrics()
    (run.folder / "result.json").unlink()  # only a run that goes on may be cut short
    assert len(run.metrics()) == 12


def test_in_use_by_another_process(broken, recipe):
    hold = (
        "import sys; from pathlib import Path; from tenfold.runs.lease import Lease\n"
        "with Lease(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", hold, str(broken)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        before = files(broken)
        for fresh in (False, True):
            with pytest.raises(TenfoldError, match=f"in use by process {other.pid}"):
                train(recipe, broken, fresh=fresh)
        assert files(broken) == before
        other.stdin.close()
    assert train(recipe, broken).finished


def test_below_a_file(recipe, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TenfoldError, match=r"cannot write to .*Not a directory"):
        train(recipe, tmp_path / "file" / "run")


def test_read_only(recipe, tmp_path, monkeypatch):
    """Permissions do not stop root, so the system's answer is imitated."""

    def refuse(*_args, **_kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(TenfoldError, match=r"cannot write to .*Read-only file system"):
        train(recipe, tmp_path / "run")


@pytest.mark.parametrize("when", [1, 3, 20, 27])
def test_full_disk(recipe, run, tmp_path, monkeypatch, when):
    """Whatever could not be written, the same call completes the run when there is space again."""
    calls, sync = iter(range(10_000)), os.fsync

    def fsync(handle):
        if next(calls) >= when:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    folder = tmp_path / "full"
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(TenfoldError, match="No space left on device"):
        train(recipe, folder)
    monkeypatch.undo()
    assert not list(folder.rglob(".*"))
    assert not (folder / "result.json").exists()
    assert equal(train(recipe, folder).model("final"), run.model("final"))


def test_result_is_written_last(recipe, tmp_path, monkeypatch):
    def fail(*_args, **_kwargs):
        raise Crash

    monkeypatch.setattr("tenfold.evals.exact_match.Examiner.grade", fail)
    folder = tmp_path / "run"
    with pytest.raises(Crash):
        train(recipe, folder)
    assert not (folder / "result.json").exists()
    monkeypatch.undo()
    assert json.loads((train(recipe, folder).folder / "result.json").read_text())["steps"] == 12
