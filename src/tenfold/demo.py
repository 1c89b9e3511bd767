"""The demo: an adder trained on five digits until it is proved right at every length, its rivals, a million digits."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import exact
from tenfold.data.tasks.task import Examples
from tenfold.drawing.report_page import write_report
from tenfold.features.explorer.explore import explore
from tenfold.features.proofs.certify import certify, write_certificate
from tenfold.features.proofs.long_problems import (
    LongProblem,
    integer,
    solve_long_problem,
    write_long_problems,
)
from tenfold.features.proofs.machine_files import describe_machine, write_machine
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import Run
from tenfold.sweeps.sweep import run_sweep
from tenfold.sweeps.sweep_progress import Board

ADDER = "certified"
RECIPES = {
    ADDER: "certified/addition",
    "learned": "certified/addition-absolute",
    "relative": "certified/addition-relative",
    "rotary": "certified/addition-rotary",
    "alibi": "certified/addition-index-alibi",
}
LONGEST = {"smoke": (2_000, 500)}  # digits of the random sum and of 99...9+1, at a scale
USUAL = (1_000_000, 100_000)


def demo(out: Path, scale: str = "demo", fresh: bool = False) -> dict[str, Path]:
    """Train, prove, add a million digits, compare; write a figure, a report and the explorer, and return their paths."""
    recipes = [recipe(source, scale, name=name) for name, source in RECIPES.items()]
    folders = [out / name for name in RECIPES]
    with Board() as board:
        runs = run_sweep(recipes, folders=folders, fresh=fresh, progress=board).complete()
    proved = runs[0]
    certificate = certify(proved)
    write_certificate(proved, certificate)
    print(certificate.summary())
    machine = extract_machine(proved)
    print(describe_machine(machine, proved.built.batcher.task))
    write_machine(machine, proved.built.batcher.task, proved.folder)
    problems = list(map(_solve, _long_problems(proved, *LONGEST.get(scale, USUAL))))
    write_long_problems(problems, proved.folder)
    length = recipes[0].data.length
    written = write_report(runs, out, f"Addition, trained on up to {length} digits")
    return {**written, "explorer": explore(*runs, out=out / "explorer.html")}


def _long_problems(run: Run, random: int, nines: int) -> list[tuple[Run, str, Examples]]:
    task = run.built.batcher.task
    drawn = task.sample(1, random, np.random.default_rng(0), exact)
    return [
        (run, f"two random numbers of {random:,} digits", drawn),
        (run, f"99...9+1 with {nines:,} nines", task.parse("9" * nines + "+1")),
    ]


def _solve(problem: tuple[Run, str, Examples]) -> LongProblem:
    run, what, examples = problem
    solved = solve_long_problem(run, what, examples)
    print(solved.summary())
    began = time.monotonic()
    first, second = (integer(digits) for digits in examples.operands[0])
    if integer(examples.answer[0]) != first + second:
        raise TenfoldError(f"{what}: Python's integers have another sum")
    print(f"  the truth was checked with Python's integers, {time.monotonic() - began:.1f} s")
    return solved
