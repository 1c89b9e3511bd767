"""Eight equal runs: one single-threaded process a core, against one run after the other with one thread or all.

The arms are whole sweeps, so what they start (processes that import torch) counts. Each run trains and is
measured as any other. Wall time; the other clock sees only this process.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.paired import bootstrap
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import recipe
from tenfold.runs.train import train
from tenfold.sweeps.local_pool import cores
from tenfold.sweeps.sweep import sweep

RUNS = 8
STEPS = {True: 10, False: 120}  # quick or not


def run(quick: bool, full: bool) -> dict[str, Any]:
    base = recipe("symmetry/addition-relative", "smoke" if quick else None)
    base = base.replace(
        train={"steps": STEPS[quick], "checkpoint_every": 10**6},
        eval={"n": 100, "slices": ["uniform"], "every": 10**6},
    )
    ours = [base.replace(seed=seed) for seed in range(RUNS)]
    threaded = [each.replace(train={"threads": cores()}) for each in ours]
    arms: dict[str, Callable[[Path], object]] = {
        "one after the other, one thread": lambda folder: _serial(ours, folder),
        f"a process a core ({cores()}), one thread": lambda folder: sweep(ours, folder),
        f"one after the other, {cores()} threads": lambda folder: _serial(threaded, folder),
    }
    rounds = 3 if full else 1
    seconds = {name: np.zeros(rounds) for name in arms}
    for number in range(rounds):
        for name in [*arms, *reversed(arms)]:  # ABCCBA: a slow moment hits all alike
            with tempfile.TemporaryDirectory() as folder:
                began = time.perf_counter()
                arms[name](Path(folder) / "runs")
                seconds[name][number] += (time.perf_counter() - began) / 2
    first = next(iter(arms))
    return {
        "runs": RUNS,
        "steps": STEPS[quick],
        "rounds": rounds,
        "seconds": {name: list(taken) for name, taken in seconds.items()},
        "ratios": {
            name: vars(bootstrap(seconds[first] / taken)) for name, taken in seconds.items()
        },
    }


def _serial(recipes: list[Recipe], folder: Path) -> None:
    for each in recipes:
        train(each, folder / each.run_name)


def table(result: dict[str, Any]) -> list[str]:
    lines = [
        f"{result['runs']} runs of `symmetry/addition-relative` with {result['steps']} steps each, trained and "
        f"measured; {result['rounds']} round(s) of all arms there and back.",
        "",
        "| eight runs | seconds | times as fast as one after the other |",
        "|---|---|---|",
    ]
    for name, taken in result["seconds"].items():
        ratio = result["ratios"][name]
        spread = f" [{ratio['low']:.2f}, {ratio['high']:.2f}]" if result["rounds"] > 1 else ""
        lines.append(f"| {name} | {np.median(taken):.0f} | {ratio['median']:.2f}{spread} |")
    return lines
