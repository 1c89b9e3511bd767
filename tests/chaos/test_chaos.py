"""A short form of the harness; `make chaos N=1000` is the full one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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
