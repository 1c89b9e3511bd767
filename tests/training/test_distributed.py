"""Several processes train one run: the same numbers, one voice, no one left waiting.

Run as a program, this file is one of the processes.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED
from tenfold.models.layers import Dropout
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run
from tenfold.runs.train import train as train_recipe
from tenfold.training import distributed
from tenfold.training.checkpoint import Checkpoints
from tenfold.training.distributed import Place, Team, place, together
from tenfold.training.loop import Job, train
from tenfold.training.options import Training, stream

RAGGED = Recipe(
    format="reversed",
    schemes=[{"name": "shifted", "reach": 20}],
    pe={"name": "learned", "axis": "shifted", "limit": 64},
    data={"length": 4, "sampler": "lengths"},
    model={"kind": "decoder", "layers": 2, "width": 16, "heads": 2},
    train={"steps": 5, "batch": 7, "average": 0.9, "warmup": 2, "lr": 0.01},
    eval={"lengths": [3], "validation_n": 2},
)  # fmt: skip
WORLD = 2


def make_job(folder, team=None, **changes):
    """A training in float64; a parameter that takes no part where `idle`."""
    idle = changes.pop("idle", False)
    built = build(RAGGED.replace(**changes))
    model = built.model().double()
    if idle:
        model.register_parameter("idle", nn.Parameter(torch.ones(3)))
    folder.mkdir(parents=True, exist_ok=True)
    job = Job(model, built.batch_at, built.recipe.train, folder, seed=3, fingerprint="")
    job.team = team or Team()
    return job


CASES = {
    "one batch": {},
    "accumulated": {"train": {"accumulate": 3}},
    "encoder": {"format": "in-place", "schemes": [], "pe": "alibi", "model": {"kind": "encoder"}},
    "encoder-decoder": {"pe": "rotary", "model": {"kind": "seq2seq"}},
    "idle": {"idle": True},
}


def process(folder):
    """What each process does: every case, then what goes wrong; and what it saw."""
    seen = {"seeds": []}
    for name, changes in CASES.items():
        with together(RAGGED.train) as team:
            train(make_job(folder / name, team, **changes))
    with together(RAGGED.train) as team:
        job = make_job(folder / "dropout", team, model={"dropout": 0.5})
        dropout = next(m for m in job.model.modules() if isinstance(m, Dropout))
        drawn = job.batch_at

        def batch_at(number, generator):
            seen["seeds"].append(dropout.generator.initial_seed())
            return drawn(number, generator)

        job.batch_at = batch_at
        train(job)
    for key, refused in {
        "apart": lambda team: train(make_job(folder / ("one batch", "none")[team.rank], team)),
        "few": None,
    }.items():
        try:
            with together(Training(batch=1) if refused is None else RAGGED.train) as team:
                refused(team)
        except TenfoldError as error:
            seen[key] = [type(error).__name__, str(error)]
    (folder / f"seen-{team.rank}.json").write_text(json.dumps(seen))


class Crash(Exception):
    pass


def resume(folder):
    """Train, and train again with a break after a checkpoint; in float32, where the order of a sum tells."""
    changes = {
        "model": {"width": 64, "dropout": 0.1},
        "train": {"steps": 8, "checkpoint_every": 3, "log_every": 1},
    }
    with together(RAGGED.train) as team:
        for name, moment in (("undisturbed", None), ("broken", 5), ("broken", None)):
            job = make_job(folder / name, team, **changes)
            job.model.float()
            drawn = job.batch_at

            def batch_at(number, generator, drawn=drawn, moment=moment):
                if number == moment:
                    raise Crash
                return drawn(number, generator)

            job.batch_at = batch_at
            with contextlib.suppress(Crash):
                train(job)


def tensors(folder):
    newest = Checkpoints(folder / "checkpoints").latest()
    return {
        f"{group}/{k}": t for group, tensors in newest.tensors.items() for k, t in tensors.items()
    }


def start(*words, world=WORLD):
    """Start a program on several processes, as torchrun does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    variables = {"WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [
        subprocess.Popen(
            words,
            env={**os.environ, **variables, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world)
    ]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder that two processes left."""
    folder = tmp_path_factory.mktemp("processes")
    started = start(sys.executable, __file__, "process", str(folder))
    for each in started:
        _, error = each.communicate(timeout=120)
        assert each.returncode == 0, error
    return folder


@pytest.mark.parametrize("case", CASES)
def test_shares_of_a_batch_train_as_the_whole(trained, tmp_path, case):
    """7 rows are 3 and 4, with different numbers of graded tokens; weights, moments and average agree."""
    job = make_job(tmp_path, **CASES[case])
    batch = job.batch_at(0, torch.Generator())
    counts = [(batch.rows(part).target != IGNORED).sum() for part in (slice(3), slice(3, 7))]
    assert case == "encoder" or counts[0] * 4 != counts[1] * 3
    train(job)
    ours, theirs = tensors(tmp_path), tensors(trained / case)
    assert ours.keys() == theirs.keys()
    assert {name.split("/")[0] for name in ours} == {"model", "optimizer", "average"}
    for name, tensor in ours.items():
        assert_close(theirs[name], tensor, rtol=1e-10, atol=1e-12)
    before = make_job(tmp_path / "untrained", **CASES[case]).model.state_dict()
    assert sum(not torch.equal(ours[f"model/{k}"], v) for k, v in before.items()) > 10


def test_losses_are_those_of_the_whole_batch(trained, tmp_path):
    train(make_job(tmp_path))
    for line, other in zip(lines(tmp_path), lines(trained / "one batch"), strict=True):
        assert line["loss"] == pytest.approx(other["loss"], rel=1e-12)
        assert line["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-12)


def lines(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture
def seen(trained):
    return [json.loads((trained / f"seen-{rank}.json").read_text()) for rank in range(WORLD)]


def test_dropout_differs_between_processes(seen):
    first, other = (each["seeds"][1:] for each in seen)  # the first batch is only tried
    assert first == [stream(3, 2 * step + 1) for step in range(5)]
    assert len(set(first + other)) == 10


def test_a_folder_that_is_not_shared(seen):
    for each in seen:
        kind, message = each["apart"]
        assert kind == "TenfoldError"
        assert "must be a folder that all share" in message
    assert "process 1 goes on from step 0, another from step 5" in seen[1]["apart"][1]


def test_fewer_rows_than_processes(seen):
    kind, message = seen[0]["few"]
    assert (kind, message.split(";")[0]) == (
        "TenfoldError",
        "train.batch is 1, fewer rows than the 2 processes",
    )
    assert seen[1]["few"][0] == "LostProcess"  # and it did not wait


@pytest.mark.full
def test_three_resume_to_the_bit(tmp_path):
    """Three numbers have more than one sum in float32, so all that decides their order must come back."""
    for each in start(sys.executable, __file__, "resume", str(tmp_path), world=3):
        _, error = each.communicate(timeout=120)
        assert each.returncode == 0, error
    ours, theirs = tensors(tmp_path / "broken"), tensors(tmp_path / "undisturbed")
    assert [name for name in theirs if not torch.equal(ours[name], theirs[name])] == []
    assert len(lines(tmp_path / "broken")) == 8


@pytest.mark.parametrize(("count", "size"), [(7, 2), (7, 3), (4, 4), (64, 5)])
def test_every_row_belongs_to_one_process(count, size):
    batch = build(RAGGED.replace(train={"batch": count})).batch_at(0, torch.Generator())
    shares = [Team(rank, size).share(batch) for rank in range(size)]
    assert min(map(len, shares)) >= 1
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert torch.equal(torch.cat([share.target for share in shares]), batch.target)
    for axis in batch.sequence.places:
        whole = batch.sequence.places[axis].expand(count, -1)
        parts = [s.sequence.places[axis].expand(len(s), -1) for s in shares]
        assert torch.equal(torch.cat(parts), whole)


def test_alone(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert place() == Place(0, 1, 0)
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert place() == Place(0, 1, 0)


SET = {"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}  # fmt: skip


@pytest.fixture
def environment(monkeypatch):
    def set_all(**changes):
        for name, value in {**SET, **changes}.items():
            monkeypatch.setenv(name, value)

    return set_all


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"WORLD_SIZE": "two"}, 'WORLD_SIZE is "two"; a number of at least 1 is what torchrun sets'),
        ({"WORLD_SIZE": "0"}, 'WORLD_SIZE is "0"; a number of at least 1'),
        ({"RANK": ""}, "WORLD_SIZE is 2, but RANK is not set; start .*`torchrun --nproc-per-node 2"),
        ({"MASTER_PORT": ""}, "WORLD_SIZE is 2, but MASTER_PORT is not set"),
        ({"RANK": "2"}, 'RANK is "2"; 0 to 1 is what torchrun sets'),
        ({"LOCAL_RANK": "-1"}, 'LOCAL_RANK is "-1"; 0 to 1 is'),
    ],
)  # fmt: skip
def test_an_environment_that_is_off(environment, changes, message):
    environment(**changes)
    with pytest.raises(TenfoldError, match=message):
        place()


def test_nobody_to_meet(environment, monkeypatch):
    environment()
    monkeypatch.setattr(distributed, "MEETING", timedelta(seconds=1))
    with pytest.raises(
        TenfoldError, match=r"process 1 of 2 cannot meet the others at 127\.0\.0\.1:1: "
    ):
        with together(Training()):
            pytest.fail("it met somebody")  # fmt: skip


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cuda:1", 'train.device is "cuda:1", and there are 2 processes; it is one of cpu, cuda'),
        ("cuda", "torch sees 1 GPUs on this machine, and this is its process 2"),
    ],
)
def test_a_device_for_each(environment, monkeypatch, device, message):
    environment()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(TenfoldError, match=message):
        with together(Training(device=device)):
            pytest.fail("it met somebody")


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
TRAIN = (
    "-m", "tenfold", "train", "symmetry/addition-relative", "--scale", "smoke", "--train.steps", "120",
    "--train.log_every", "1", "--eval.every", "60", "--train.checkpoint_every", "50", "--json", "--out",
)  # fmt: skip


def torchrun(folder):
    words = [sys.executable, *TORCHRUN, *TRAIN, str(folder)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("torchrun") / "run"
    with torchrun(folder) as process:
        out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return folder, out


@pytest.mark.full
def test_through_the_command_line(undisturbed, tmp_path):
    """One result, said once; the numbers of a single process."""
    folder, out = undisturbed
    result = json.loads(out)
    assert result["environment"]["processes"] == 2
    alone = train_recipe(Run.open(folder).recipe, tmp_path / "alone")
    assert alone.result()["environment"]["processes"] == 1
    assert alone.result()["samples"] == result["samples"]
    for line, other in zip(lines(alone.folder), lines(folder), strict=True):
        assert line["loss"] == pytest.approx(other["loss"], rel=1e-5)
    ours, theirs = tensors(alone.folder), tensors(folder)
    for name, tensor in ours.items():  # Adam makes rounding larger where a gradient is next to 0
        assert_close(theirs[name], tensor, rtol=1e-4, atol=2e-3)
    assert result_rows(alone.folder) == result_rows(folder)


@pytest.mark.full
def test_stopped_and_started_again(undisturbed, tmp_path):
    folder, _ = undisturbed
    with torchrun(tmp_path) as process:
        path = tmp_path / "metrics.jsonl"
        while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") > 5):
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=60)
    assert process.returncode != 0
    assert out == ""
    assert error.count("stopped by SIGTERM at step") == 1
    (step,) = Checkpoints(tmp_path / "checkpoints").steps()
    assert 5 < step < 120
    assert not (tmp_path / "result.json").exists()
    printed = [
        each.communicate(timeout=120) for each in start(sys.executable, *TRAIN, str(tmp_path))
    ]
    assert [error for _, error in printed][1] == ""
    assert json.loads(printed[0][0])["steps"] == 120
    assert printed[1][0] == ""
    ours, theirs = tensors(tmp_path), tensors(folder)
    assert [name for name in theirs if not torch.equal(ours[name], theirs[name])] == []
    assert len(lines(tmp_path)) == 120
    assert result_rows(tmp_path) == result_rows(folder)


def result_rows(folder):
    return json.loads((folder / "result.json").read_text())["rows"]


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"process": process, "resume": resume}[sys.argv[1]](Path(sys.argv[2]))
