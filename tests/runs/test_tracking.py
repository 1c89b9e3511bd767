"""Curves for other programs: TensorBoard's own reader sees each number once; off, nothing is touched."""

import builtins
import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.runs import tracking
from tenfold.runs.tracking import TRACKERS, TensorBoard, Tracker, scalars
from tenfold.runs.train import train

NEEDS = pytest.mark.skipif(find_spec("tensorboard") is None, reason="needs tensorboard")


class Crash(Exception):
    pass


def crash_at(step):
    def callback(line):
        if line.get("step") == step:
            raise Crash

    return callback


def curves(folder):
    """What TensorBoard shows of a run: {tag: [(step, value), ...]}, and its texts."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    read = reader.EventAccumulator(str(folder / "tensorboard"))
    read.Reload()
    actual = {
        tag: [(event.step, event.value) for event in read.Scalars(tag)]
        for tag in read.Tags()["scalars"]
    }
    return actual, {tag: read.Tensors(tag) for tag in read.Tags()["tensors"]}


def expected(run):
    """The same, of metrics.jsonl."""
    actual = {}
    for line in run.metrics():
        for tag, value in scalars(line).items():
            actual.setdefault(tag, []).append((line["step"], pytest.approx(value, rel=1e-6)))
    return actual


@NEEDS
def test_tensorboard(recipe, tmp_path):
    run = train(recipe, tmp_path, track="tensorboard")
    actual, texts = curves(tmp_path)
    assert set(actual) == {"loss", "lr", "grad_norm", "exact/3"}
    assert [step for step, _ in actual["loss"]] == list(range(1, 13))
    assert [step for step, _ in actual["exact/3"]] == [5, 10, 12]
    assert actual == expected(run)
    ((written,),) = texts.values()
    assert recipe.as_yaml() in written.tensor_proto.string_val[0].decode()


@NEEDS
@pytest.mark.parametrize("moment", [2, 6, 9])
def test_resumed_nothing_is_there_twice(recipe, tmp_path, moment):
    """Checkpoints at steps 4 and 8: what was told after the last is told again, and shown once."""
    with pytest.raises(Crash):
        train(recipe, tmp_path, track="tensorboard", progress=crash_at(moment))
    run = train(recipe, tmp_path, track="tensorboard")
    actual, texts = curves(tmp_path)
    assert [step for step, _ in actual["loss"]] == list(range(1, 13))
    assert actual == expected(run)
    assert [len(text) for text in texts.values()] == [1]


@NEEDS
def test_asked_for_when_half_is_done(recipe, tmp_path):
    with pytest.raises(Crash):
        train(recipe, tmp_path, progress=crash_at(6))
    run = train(recipe, tmp_path, track="tensorboard")
    assert curves(tmp_path)[0] == expected(run)


@pytest.mark.full
def test_a_killed_process_loses_nothing(recipe, tmp_path):
    """Kill -9, go on, and every step is there: also what was not yet flushed."""
    code = (
        "import os, signal, sys, json; from tenfold.runs.recipe import Recipe; from tenfold.runs.train import train;"
        "end = lambda line: os.kill(os.getpid(), signal.SIGKILL) if line.get('step') == 6 else None;"
        "train(Recipe.of(json.loads(sys.argv[1])), sys.argv[2], track='tensorboard', progress=end)"
    )
    words = [sys.executable, "-c", code, json.dumps(recipe.as_json()), str(tmp_path)]
    assert subprocess.run(words, check=False).returncode == -9
    run = train(recipe, tmp_path, track="tensorboard")
    assert curves(tmp_path)[0] == expected(run)


@NEEDS
def test_fresh_forgets(recipe, tmp_path):
    train(recipe, tmp_path, track="tensorboard")
    train(recipe, tmp_path, fresh=True)
    assert not (tmp_path / "tensorboard").exists()


@NEEDS
def test_it_is_no_part_of_the_recipe(recipe, tmp_path):
    tracked = train(recipe, tmp_path / "tracked", track="tensorboard")
    plain = train(recipe, tmp_path / "plain")
    assert tracked.result()["fingerprint"] == plain.result()["fingerprint"]
    assert tracked.result()["rows"] == plain.result()["rows"]
    assert not (plain.folder / "tensorboard").exists()


@pytest.mark.full
def test_off_it_costs_nothing(recipe, tmp_path, monkeypatch):
    def fail(*_):
        pytest.fail("it looked for trackers")

    monkeypatch.setattr("tenfold.core.registry.Registry.__getitem__", fail)
    with tracking.tracking(None, tmp_path, recipe) as tracker:
        assert tracker is None
    monkeypatch.undo()
    code = (
        "import sys, json; from tenfold.runs.recipe import Recipe; from tenfold.runs.train import train;"
        "train(Recipe.of(json.loads(sys.argv[1])), sys.argv[2]);"
        "print([name for name in sys.modules if name.startswith('tensorboard')])"
    )
    words = [sys.executable, "-c", code, json.dumps(recipe.as_json()), str(tmp_path)]
    reported = subprocess.run(words, capture_output=True, text=True, check=True)
    assert reported.stdout == "[]\n"


def test_without_tensorboard(recipe, tmp_path, monkeypatch):
    kept = builtins.__import__

    def missing(name, *rest, **named):
        if name.startswith("torch.utils.tensorboard"):
            raise ModuleNotFoundError(name)
        return kept(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(TenfoldError, match=r"pip install 'tenfold\[tensorboard\]'"):
        train(recipe, tmp_path, track="tensorboard")
    monkeypatch.undo()
    assert train(recipe, tmp_path).finished


def test_an_unknown_tracker(recipe, tmp_path):
    with pytest.raises(
        TenfoldError, match='unknown tracker "tensorbord"; did you mean "tensorboard"'
    ):
        train(recipe, tmp_path / "run", track="tensorbord")  # fmt: skip
    assert not (tmp_path / "run").exists()


@NEEDS
def test_a_folder_that_cannot_be_written(recipe, tmp_path):
    (tmp_path / "tensorboard").touch()
    with pytest.raises(TenfoldError, match=r"cannot write to .*tensorboard"):
        train(recipe, tmp_path, track="tensorboard")
    (tmp_path / "tensorboard").unlink()
    assert train(recipe, tmp_path, track="tensorboard").finished


PLUGIN = '''
"""Another package's tracker."""

from tenfold.runs.tracking import Tracker


class Plain(Tracker):
    """Steps and losses, a line each."""

    name = "plain"

    def __init__(self, folder, recipe):
        super().__init__(folder, recipe)
        folder.mkdir(exist_ok=True)
        self.file = (folder / "losses.txt").open("a")

    def __call__(self, metrics):
        print(metrics["step"], metrics["loss"], file=self.file)

    def close(self):
        print("closed", file=self.file)
        self.file.close()
'''


@pytest.mark.full
def test_another_package_adds_one(tmp_path):
    (tmp_path / "tenfold_plain.py").write_text(PLUGIN)
    info = tmp_path / "tenfold_plain-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tenfold-plain\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tenfold.trackers]\nplain = tenfold_plain:Plain\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    words = "-m tenfold train symmetry/addition-relative --scale smoke --track plain --out run"
    reported = subprocess.run(
        [sys.executable, *words.split()],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert reported.returncode == 0, reported.stderr
    lines = (tmp_path / "run" / "plain" / "losses.txt").read_text().splitlines()
    metrics = map(json.loads, (tmp_path / "run" / "metrics.jsonl").read_text().splitlines())
    assert lines == [*(f"{line['step']} {line['loss']}" for line in metrics), "closed"]


def test_what_there_is():
    assert TRACKERS.names() == ["tensorboard"]
    assert issubclass(TensorBoard, Tracker)
