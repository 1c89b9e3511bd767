"""The attacks of `python -m attacks`, in short: no error exceeds its bound, no changed weights are proved falsely."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tenfold

ROOT = Path(tenfold.__file__).parents[2]


def attacked(*words):
    """The rows of the table that an attack prints, by their first cell; and its exit code."""
    ran = subprocess.run(
        [sys.executable, "-m", "attacks", *words],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ran.stderr, ran.stderr
    rows = [line.strip("| ").split(" | ") for line in ran.stdout.splitlines() if line[:2] == "| "]
    head, *rest = rows
    return {row[0]: dict(zip(head, row, strict=True)) for row in rest}, ran.returncode


@pytest.mark.full
def test_sabotage():
    """Noise, flipped bits, replaced weights, gradient steps: verdicts equal brute force by the independent checker."""
    rows, code = attacked("sabotage", "parity", "addition-base-2", "--quick")
    assert code == 0
    everything = rows["all"]
    assert int(everything["cases"]) == 16
    assert (everything["false proofs"], everything["refuted, though right"]) == ("0", "0")
    assert int(everything["proved"]) > 0
    assert int(everything["refuted"]) == int(everything["wrong by brute force"]) > 0


@pytest.mark.full
def test_rounding():
    """Batches, order of units, threads, denormals, instruction sets: within the bound, and not zero."""
    rows, code = attacked("rounding", "parity", "--quick")
    assert code == 0
    row = rows["parity"]
    assert 0 < float(row["largest"]) <= float(row["bound"])
    for way in ("batches", "units", "threads", "denormals", "long", "instructions"):
        assert 0 < float(row[way]) <= float(row["largest"])


@pytest.mark.full
def test_wrong_names_are_one_line():
    ran = subprocess.run(
        [sys.executable, "-m", "attacks", "sabotage", "nobody"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "nobody: not attacked here" in ran.stderr
