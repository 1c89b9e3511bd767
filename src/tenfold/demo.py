"""The demo: an adder trained on five digits until it is proved right at every length, its rivals, a million digits."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from tenfold.errors import TenfoldError
from tenfold.lab.feats import Feat, feat, integer
from tenfold.lab.recipes import recipe
from tenfold.lab.run import FEATS, Run
from tenfold.lab.sweep import sweep
from tenfold.report import write_report
from tenfold.report.board import Board
from tenfold.report.machines import write_machine
from tenfold.report.terminal import print_certificate, print_feat, print_machine
from tenfold.tasks.base import Examples
from tenfold.tasks.samplers import exact
from tenfold.training.checkpoint import write_atomically

ADDER = "certified"
RECIPES = {
    ADDER: "certified/addition",
    "absolute": "certified/addition-absolute",
    "relative": "certified/addition-relative",
    "rotary": "certified/addition-rotary",
    "alibi": "certified/addition-alibi",
}
LONGEST = {"smoke": (2_000, 500)}  # digits of the random sum and of 99...9+1, at a scale
USUAL = (1_000_000, 100_000)


def demo(out: Path, scale: str = "demo", fresh: bool = False) -> dict[str, Path]:
    """Train, prove, add a million digits, compare; write a figure and a page, and say where they are."""
    recipes = [recipe(source, scale, name=name) for name, source in RECIPES.items()]
    folders = [out / name for name in RECIPES]
    with Board() as board:
        runs = sweep(recipes, folders=folders, fresh=fresh, tell=board).complete()
    proved = runs[0]
    certificate = proved.certify()
    proved.keep(certificate)
    print_certificate(certificate)
    found = proved.machine()
    print_machine(found, proved.built.batcher.task)
    write_machine(found, proved.built.batcher.task, proved.folder)
    feats = list(map(_shown, _feats(proved, *LONGEST.get(scale, USUAL))))
    told = json.dumps([each.as_json() for each in feats], indent=1)
    write_atomically(proved.folder / FEATS, told.encode())
    length = recipes[0].data.length
    return write_report(runs, out, f"Addition, trained on up to {length} digits")


def _feats(run: Run, random: int, nines: int) -> list[tuple[Run, str, Examples]]:
    task = run.built.batcher.task
    drawn = task.sample(1, random, np.random.default_rng(0), exact)
    return [
        (run, f"two random numbers of {random:,} digits", drawn),
        (run, f"99...9+1 with {nines:,} nines", task.parse("9" * nines + "+1")),
    ]


def _shown(asked: tuple[Run, str, Examples]) -> Feat:
    run, what, examples = asked
    found = feat(run, what, examples)
    print_feat(found)
    began = time.monotonic()
    first, second = (integer(digits) for digits in examples.operands[0])
    if integer(examples.answer[0]) != first + second:
        raise TenfoldError(f"{what}: Python's integers have another sum")
    print(f"  the truth was checked with Python's integers, {time.monotonic() - began:.1f} s")
    return found
