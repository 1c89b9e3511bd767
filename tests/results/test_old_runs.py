"""A run folder of version 0.1 opens, is measured as then, and stands in results and reports beside new runs."""

import shutil
from pathlib import Path

import pytest
import torch

import tenfold

OLD = Path(__file__).with_name("run-0.1")  # trained by 0.1.0 for 60 steps; its width is 8


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(OLD, tmp_path / "runs" / "symmetry-addition-relative-old"))


def test_it_opens_and_measures_what_it_measured_then(folder):
    run = tenfold.Run.open(folder)
    assert run.recipe.fingerprint == run.result()["fingerprint"]
    assert run.finished
    stored = [row for row in run.result()["rows"] if row["checkpoint"] == "best"]
    rows = [row.as_json() | {"checkpoint": "best"} for row in run.evaluate()]
    assert rows == [pytest.approx(row) for row in stored]
    assert any(0 < row["value"] < 1 for row in rows)  # it has learned something, and not all
    assert run.ask("12+34").truth == "46"


def test_training_it_again_finds_it_finished(folder):
    run = tenfold.Run.open(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert tenfold.train(run.recipe, folder).result() == run.result()
    assert before.items() <= {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}.items()


def test_an_unfinished_one_goes_on_to_the_same_weights(folder):
    (folder / "result.json").unlink()
    shutil.rmtree(folder / "checkpoints" / "step-000000060")
    run = tenfold.train(tenfold.Run.open(folder).recipe, folder)
    now, then = run.checkpoint().tensors, tenfold.Run.open(OLD).checkpoint().tensors
    assert now.keys() == then.keys()
    for part, tensors in then.items():
        for name, tensor in tensors.items():
            torch.testing.assert_close(now[part][name], tensor, msg=f"{part}: {name}")


@pytest.fixture
def call(tenfold):  # the command line; the package has the same name
    return tenfold


def test_the_commands(folder, tmp_path, call):
    assert "symmetry/addition-relative" in call("results", "--format", "csv")[1]
    assert call("eval", folder, "--lengths", "2", "--n", "5")[0] in (0, None)
    assert "report.html" in call("report", folder, "--out", "page")[1]
    assert (tmp_path / "page" / "report.html").is_file()
    assert folder.name in call("ls", "runs")[1]
