"""Kill -9 at any moment, then run the same command again: the same bits as if nothing had happened."""

import multiprocessing
import random
import signal
import time

import pytest

from tenfold.runs.train import train

STEPS = 40


@pytest.fixture
def long(recipe):
    return recipe.replace(train={"steps": STEPS, "checkpoint_every": 3}, eval={"every": 10})


@pytest.fixture
def processes():
    """Processes that start at once, with torch imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["tenfold.runs.run", "torch._dynamo"]
    )  # torch imports the latter late
    return context


def lines(folder):
    path = folder / "metrics.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def weights(folder):
    place = folder / "checkpoints" / f"step-{STEPS:09d}"
    return {path.name: path.read_bytes() for path in place.glob("*.safetensors")}


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.full)])
def test_kill_at_random_moments(kills, long, processes, tmp_path):
    train(long, tmp_path / "undisturbed")
    expected, random_ = weights(tmp_path / "undisturbed"), random.Random(0)
    assert set(expected) == {f"{n}.safetensors" for n in ("model", "optimizer", "best", "average")}
    resumed_from = set()
    for kill in range(kills):
        folder = tmp_path / f"killed-{kill}"
        process = processes.Process(target=train, args=(long, folder))
        process.start()
        moment = random_.randrange(STEPS - 8)
        while lines(folder) < moment and process.is_alive():
            time.sleep(0.0005)
        time.sleep(random_.uniform(0, 0.02))  # within a step, or while a checkpoint is written
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert not (folder / "result.json").exists()
        resumed_from.add(lines(folder))
        train(long, folder)
        assert weights(folder) == expected
        assert not list((folder / "checkpoints").glob(".writing-*"))
    assert len(resumed_from) >= kills // 2  # they were moments of all kinds; two may fall together
