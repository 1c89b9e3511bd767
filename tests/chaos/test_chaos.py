"""A short form of the harness; `make chaos N=1000` is the full one."""

import ctypes
import functools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.chaos.forked import run
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
