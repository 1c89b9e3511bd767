"""A short form of the harness; `make chaos N=1000` is the full one."""

import ctypes
import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.chaos.forked import run, signal_after
from tests.chaos.fuzz import turns

ROOT = Path(__file__).parents[2]


def test_a_command_is_fuzzed_as_often_as_it_has_parameters():
    order = turns({("ls",): 0, ("show",): 2, ("train",): 3})
    assert order == [("ls",), ("show",), ("train",), ("show",), ("train",), ("train",)]


def test_a_case_that_is_interrupted_at_its_end_does_not_come_back(tmp_path):
    """Else it would go on as a second harness, and remove the folder of the first."""

    class Late:
        def flush(self):
            signal.raise_signal(signal.SIGINT)

    def action():
        sys.stderr = Late()

    assert run(action, tmp_path).code == 0


def test_a_case_that_is_interrupted_while_its_objects_are_freed_does_not_come_back(tmp_path):
    interrupt = getattr(ctypes.CDLL(None), "raise")  # unlike Python's, it leaves the rest to later

    class Freed:
        __del__ = functools.partial(interrupt, signal.SIGINT)

    def action():
        end = SystemExit(2)
        end.held = Freed()
        try:
            raise end
        finally:
            del end  # a cycle would keep it

    assert run(action, tmp_path).code == 2


def test_a_signal_comes_after_computing_and_not_after_waiting(tmp_path):
    """Else all kills would come before the first step where other work has the cores."""

    def action():
        time.sleep(0.2)  # as a process that waits for a core
        (tmp_path / "computes").touch()
        while True:
            pass

    ended = run(action, tmp_path, during=lambda pid: signal_after(pid, 0.05, signal.SIGKILL))
    assert ended.code == -signal.SIGKILL
    assert (tmp_path / "computes").exists()
    assert 0.04 < ended.seconds < 5.0


def test_a_signal_is_not_waited_for_by_a_process_that_has_ended(tmp_path):
    ended = run(lambda: None, tmp_path, during=lambda pid: signal_after(pid, 60.0, signal.SIGKILL))
    assert ended.code == 0


@pytest.mark.full
def test_nothing_fails():
    command = [sys.executable, "-m", "tests.chaos", "--seed", "1", "--short"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("| 0 |") == 7  # attacks
