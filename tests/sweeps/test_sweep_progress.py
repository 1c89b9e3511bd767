"""What a sweep shows while it runs."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from tenfold.runs.cost import Count
from tenfold.runs.recipe_files import recipe
from tenfold.sweeps import sweep_progress as module
from tenfold.sweeps.sweep import SweepEntry
from tenfold.sweeps.sweep_progress import Board

SMOKE = recipe("symmetry/addition-relative", "smoke")  # 20 steps


def entry(name, state, seed=0, **status):
    made = SweepEntry(SMOKE.replace(name=name, seed=seed), Path(name), Count(1, 100, 1), state)
    made.status = status
    return made


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only when we say so."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_time_left_goes_by_the_work_that_we_did(clock):
    """Two runs of 20 steps; one was resumed at step 10, which was not our work."""
    board = Board()
    assert board.left([entry("a", "running"), entry("b", "waiting")]) is None
    board.left([entry("a", "running", step=10), entry("b", "waiting")])
    clock[0] += 5
    left = board.left([entry("a", "running", step=15), entry("b", "waiting")])
    assert left == pytest.approx(25)  # a step a second, 5 and 20 to go
    clock[0] += 5
    assert board.left([entry("a", "finished"), entry("b", "running")]) == pytest.approx(20)
    assert board.left([entry("a", "finished"), entry("b", "kept")]) is None


def test_lines_without_a_terminal(clock, capsys):
    board = Board()
    board([entry("a", "running", step=5, loss=1.0), entry("b", "kept")])
    assert capsys.readouterr().err == ""
    clock[0] += 11
    failed = entry("a", "failed", step=5)
    failed.reason = "the loss is nan"
    board([failed, entry("b", "kept"), entry("c", "running", step=4, loss=0.5, exact={"5": 0.25})])
    reported = capsys.readouterr().err.splitlines()
    assert reported[0] == "a, seed 0: failed: the loss is nan"
    assert reported[1].startswith("1 of 3 done (1 before), 1 running, 1 failed")
    assert reported[1].endswith("c, seed 0: step 4/20, loss 0.5000, right at 5: 25%")
    board([failed, entry("b", "kept"), entry("c", "finished")])
    assert capsys.readouterr().err == "c, seed 0: finished\n"


def test_the_table_shows_what_runs_first_and_what_differs(clock):
    """On a narrow terminal too: names lose what they have in common, reasons are cut, not wrapped."""
    failures = [entry(f"a-very-long-name-of-a-grid/case-{n}", "failed") for n in range(30)]
    for each in failures:
        each.reason = "a long story " * 20
    running = entry("a-very-long-name-of-a-grid/late", "running", step=3, loss=0.25)
    console = Console(file=io.StringIO(), width=80, height=24)
    console.print(Board()._table([*failures, running]))
    lines = console.file.getvalue().splitlines()
    assert "0 of 31 done, 1 running, 30 failed" in lines[0]
    assert lines[2].split()[:4] == ["late", "0", "3/20", "0.2500"]
    assert lines[3].split()[0] == "case-0"
    assert "and 11 more" in lines[-1]
    assert len(lines) == 2 + 20 + 1
    assert max(map(len, lines)) <= 80


def test_planning_is_told(clock, capsys):
    board = Board()
    board.planning(1, 3)
    clock[0] += 11
    board.planning(2, 3)
    assert capsys.readouterr().err == "2 of 3 recipes counted\n"
