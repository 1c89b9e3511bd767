"""Sweeps: the runs are those that would have been made alone; what dies, fails or is busy stops nothing else."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.runs.lease import Lease
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import Run
from tenfold.runs.train import train
from tenfold.sweeps import worker as work
from tenfold.sweeps.local_pool import LocalPool
from tenfold.sweeps.sweep import plan, read_status, run_sweep

SMOKE = recipe("symmetry/addition-relative", "smoke")
LONG = SMOKE.replace(train={"steps": 10**6, "checkpoint_every": 10**6})


def states(received):
    """Every state of every run, in order, without repetitions."""
    actual = [[] for _ in received[0]]
    for moment in received:
        for seen, state in zip(actual, moment, strict=True):
            if not seen or seen[-1] != state:
                seen.append(state)
    return actual


def listen(received):
    return lambda entries: received.append([entry.state for entry in entries])


@pytest.mark.full
def test_together_equals_one_after_another(tmp_path):
    recipes = [SMOKE.replace(seed=seed) for seed in range(3)]
    received = []
    outcome = run_sweep(recipes, tmp_path / "runs", workers=2, progress=listen(received))
    assert states(received)[0][-1] == "finished"
    assert outcome.kept == 0
    for run in outcome.complete():
        alone = train(run.recipe, tmp_path / f"alone-{run.recipe.seed}")
        assert run.result()["rows"] == alone.result()["rows"]
        assert (run.folder / "log.txt").exists()
        assert not (run.folder / "status.json").exists()
    assert [run.recipe.seed for run in outcome.runs] == [0, 1, 2]
    assert not list((tmp_path / "runs").glob(".*"))

    before = {run.folder: (run.folder / "result.json").stat().st_mtime_ns for run in outcome.runs}
    again = run_sweep([*recipes, SMOKE.replace(seed=3)], tmp_path / "runs", workers=1)
    assert (again.kept, len(again.complete())) == (3, 4)
    for folder, time_then in before.items():
        assert (folder / "result.json").stat().st_mtime_ns == time_then

    fresh = run_sweep(recipes[:1], tmp_path / "runs", fresh=True)
    assert fresh.kept == 0
    assert (fresh.runs[0].folder / "result.json").stat().st_mtime_ns > before[fresh.runs[0].folder]


@pytest.mark.full
def test_a_failure_is_told_and_stops_nothing_else(tmp_path):
    (tmp_path / "file").write_text("")
    diverges = SMOKE.replace(train={"lr": 1e30, "clip": 1e30, "warmup": 0}, seed=1)
    folders = [tmp_path / name for name in ("bad", "file/run", "good")]
    outcome = run_sweep([diverges, SMOKE, SMOKE.replace(seed=2)], folders=folders, workers=1)
    assert [run.folder for run in outcome.runs] == [tmp_path / "good"]
    first, second = outcome.failures
    assert "the loss is" in first.reason
    assert "the loss is" in first.log[-1]
    assert "cannot write" in second.reason
    with pytest.raises(TenfoldError, match="cannot write"):
        outcome.complete()


def test_what_is_wrong_is_told_before_anything_starts(tmp_path):
    with pytest.raises(
        TenfoldError, match='unknown place for a sweep "lokal"; did you mean "local"'
    ):
        run_sweep([SMOKE], tmp_path, on="lokal")
    with pytest.raises(TenfoldError, match="empty sweep"):
        run_sweep([], tmp_path)
    with pytest.raises(TenfoldError, match="is there twice"):
        run_sweep([SMOKE, SMOKE], tmp_path)
    with pytest.raises(TenfoldError, match="use it with --on ray"):
        run_sweep([SMOKE], tmp_path, address="auto")
    with pytest.raises(TenfoldError, match="0 workers; at least 1"):
        run_sweep([SMOKE], tmp_path, workers=0)
    with pytest.raises(TenfoldError, match="1000000 workers; this machine starts at most"):
        run_sweep([SMOKE], tmp_path, workers=10**6)
    with pytest.raises(TenfoldError, match=r'"symmetry/addition-relative": unknown task'):
        run_sweep([SMOKE, SMOKE.replace(task="addishun")], tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    for seed in range(2):
        each = SMOKE.replace(seed=seed)
        train(each, folder / each.run_name)
    return folder


@pytest.mark.parametrize(
    "wrong",
    [
        {"workers": 0},
        {"on": "lokal"},
        {"track": "nope"},
        {"address": "auto"},
        {"on": "ray", "address": "127.0.0.1:1"},
    ],
)
def test_fresh_removes_nothing_until_all_is_right(finished, wrong):
    recipes = [SMOKE.replace(seed=seed) for seed in range(2)]
    with pytest.raises(TenfoldError):
        run_sweep(recipes, finished, fresh=True, **wrong)
    assert len(list(finished.glob("*/result.json"))) == 2


def test_fresh_removes_nothing_while_another_has_one_of_the_runs(finished):
    recipes = [SMOKE.replace(seed=seed) for seed in range(2)]
    with Lease(finished / recipes[1].run_name):
        with pytest.raises(TenfoldError, match="in use by process"):
            run_sweep(recipes, finished, fresh=True)
    assert len(list(finished.glob("*/result.json"))) == 2


def test_what_a_killed_driver_left_goes(finished):
    left, live = finished / ".sweep-left", finished / ".sweep-live"
    with Lease(left):
        pass
    with Lease(live):
        assert run_sweep([SMOKE], finished).kept == 1
        assert not left.exists()
        assert live.exists()


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TenfoldError, match=f"cannot write to {tmp_path}/file: "):
        run_sweep([SMOKE], tmp_path / "file")


@pytest.mark.full
def test_damaged_and_foreign_results_fail_alone(tmp_path):
    recipes = [SMOKE.replace(seed=seed) for seed in range(3)]
    folders = [tmp_path / str(seed) for seed in range(3)]
    for folder in folders[:2]:
        folder.mkdir()
    (folders[0] / "result.json").write_text("{")
    (folders[1] / "result.json").write_text('{"fingerprint": "abc"}')
    outcome = run_sweep(recipes, folders=folders)
    assert [run.folder.name for run in outcome.runs] == ["2"]
    assert "result.json is damaged" in outcome.failures[0].reason
    assert "another recipe (abc)" in outcome.failures[1].reason


@pytest.mark.full
def test_a_run_that_another_process_has_is_waited_for(tmp_path):
    recipes = [SMOKE.replace(seed=seed) for seed in range(2)]
    folder = tmp_path / recipes[0].run_name
    lease, received = Lease(folder), []
    lease.__enter__()

    def callback(entries):
        received.append([entry.state for entry in entries])
        if received[-1] == ["elsewhere", "finished"]:
            lease.__exit__(None, None, None)

    outcome = run_sweep(recipes, tmp_path, workers=1, progress=callback)
    assert len(outcome.complete()) == 2
    assert "elsewhere" in states(received)[0]
    assert states(received)[0][-1] == "finished"


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_ends_is_replaced_and_its_run_goes_on(tmp_path, number):
    """From its last checkpoint, not from the start: the second attempt begins past step 100."""
    slow = SMOKE.replace(train={"steps": 1000, "checkpoint_every": 10})
    received, ended = [], []  # steps, and the process that told of them; the process that we ended

    def callback(entries):
        step, stored = entries[0].status.get("step", 0), holder(entries[0].folder)
        if step and "pid" in stored:
            received.append((stored["pid"], step))
            if step > 100 and not ended:
                ended.append(stored["pid"])
                os.kill(stored["pid"], number)
                (entries[0].folder / "status.json").unlink(missing_ok=True)

    (run,) = run_sweep([slow], tmp_path, progress=callback).complete()
    assert min(step for pid, step in received if pid not in ended) > 100
    assert (run.folder / "lease-000002").exists()
    alone = train(slow, tmp_path / "alone")
    assert alone.result()["rows"] == run.result()["rows"]


@pytest.mark.full
def test_a_worker_that_always_dies_fails_after_three_tries(tmp_path):
    def callback(entries):
        if entries[0].status.get("step", 0) >= 1 and entries[0].state == "running":
            with_lease = holder(entries[0].folder)
            if "pid" in with_lease:
                os.kill(int(with_lease["pid"]), signal.SIGKILL)
            (entries[0].folder / "status.json").unlink(missing_ok=True)

    outcome = run_sweep([LONG, SMOKE], tmp_path, workers=1, progress=callback)
    (failure,) = outcome.failures
    assert "ended by SIGKILL" in failure.reason
    assert "3 times" in failure.reason
    assert len(outcome.runs) == 1


def holder(folder):
    actual = sorted(folder.glob("lease-*"))
    return json.loads(actual[-1].read_text() or "{}") if actual else {}


DRIVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored
from tenfold.runs.recipe_files import recipe
from tenfold.sweeps.sweep import plan, run_sweep

if __name__ == "__main__":
    smoke = recipe("symmetry/addition-relative", "smoke")
    endless = smoke.replace(train={"steps": 10**6, "checkpoint_every": 10**6})
    run_sweep([endless], sys.argv[1], progress=lambda entries: print(entries[0].status.get("step"), flush=True))
"""


def gone(pid):
    """Ended, or a zombie that nobody waits for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_driver_and_all_save(tmp_path, number):
    """Even one whose driver was killed saves what it did before it stops by itself."""
    (tmp_path / "driver.py").write_text(DRIVER)
    words = [sys.executable, str(tmp_path / "driver.py"), str(tmp_path / "runs")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as driver:
        while driver.stdout.readline() in (b"None\n", b"0\n"):
            pass
        (folder,) = (tmp_path / "runs").glob("symmetry-*")
        worker = int(holder(folder)["pid"])
        driver.send_signal(number)
        driver.wait(timeout=200)
    deadline = time.monotonic() + 200
    while not gone(worker):
        assert time.monotonic() < deadline, "the worker goes on without its driver"
        time.sleep(0.1)
    assert list((folder / "checkpoints").glob("step-*"))
    assert not (folder / "result.json").exists()
    with Lease(folder) as lease:  # nobody holds it any more
        lease.confirm()


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_worker_that_hangs_is_ended_in_the_end(tmp_path):
    (tmp_path / "driver.py").write_text(
        DRIVER.replace(
            "import signal, sys",
            "import signal, sys\nimport tenfold.sweeps.local_pool\ntenfold.sweeps.local_pool.GRACE = 1.0",
        )
    )
    words = [sys.executable, str(tmp_path / "driver.py"), str(tmp_path / "runs")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as driver:
        while driver.stdout.readline() in (b"None\n", b"0\n"):
            pass
        (folder,) = (tmp_path / "runs").glob("symmetry-*")
        worker = int(holder(folder)["pid"])
        os.kill(worker, signal.SIGSTOP)
        driver.send_signal(signal.SIGTERM)
        driver.wait(timeout=200)
    assert gone(worker)


def test_the_guard_goes_on_when_it_cannot_look(tmp_path, monkeypatch):
    """A full disk is not the end of the driver, nor of the guard."""
    answers = iter([OSError("full"), True, OSError("full"), False])
    stopped = []

    def there(_):
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(work, "LOOK", 0.01)
    monkeypatch.setattr(work, "_there", there)
    monkeypatch.setattr(work.os, "kill", lambda *sent: stopped.append(sent))
    with Lease(tmp_path), work._guarded(tmp_path):
        deadline = time.monotonic() + 200
        while not stopped and time.monotonic() < deadline:
            time.sleep(0.01)
    assert stopped == [(os.getpid(), signal.SIGTERM)]


def test_many_runs_are_planned_in_no_time(monkeypatch):
    """Kinds are counted once; nothing is compared with everything."""
    received = []
    entries = plan(
        [SMOKE.replace(seed=s) for s in range(300)],
        progress=lambda *counts: received.append(counts),
    )
    assert len({entry.folder for entry in entries}) == 300
    assert len({id(entry.counted) for entry in entries}) == 1
    assert received[-1] == (300, 300)


def test_as_many_as_fit(monkeypatch):
    """By cores and by memory; a first run is always started."""
    local = LocalPool(4)
    monkeypatch.setattr(LocalPool, "_working", lambda self: working)
    monkeypatch.setattr("tenfold.sweeps.local_pool.taken", lambda pid: 1_000)
    monkeypatch.setattr("tenfold.sweeps.local_pool.available", lambda: 10_000)

    class Process:
        pid = 1

    class Busy:
        process, threads, memory = Process, 1, 3_000

    working = []
    assert local.ready(threads=8, memory=10**9)
    working = [Busy]
    assert local.ready(threads=3, memory=7_999)  # the one that runs will take 2,000 more
    assert not local.ready(threads=3, memory=8_001)
    assert not local.ready(threads=4, memory=0)
    monkeypatch.setattr("tenfold.sweeps.local_pool.available", lambda: None)
    assert local.ready(threads=3, memory=10**12)


def test_a_status_that_is_not_there_or_damaged(tmp_path):
    assert read_status(tmp_path) == {}
    (tmp_path / "status.json").write_text('{"st')
    assert read_status(tmp_path) == {}
    assert Run(tmp_path, SMOKE).finished is False
