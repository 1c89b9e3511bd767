"""What `tenfold sweep` prints: what a grid would cost, and what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tenfold.runs.build import build
from tenfold.runs.cost import USUAL_SHARE, Cost, cost, matmul_rate, span
from tenfold.runs.terminal import Watch
from tenfold.sweeps.local_pool import cores
from tenfold.sweeps.sweep import Outcome, SweepEntry


def print_plan(
    entries: Sequence[SweepEntry],
    workers: int | None,
    *,
    as_json: bool = False,
    later: Mapping[str, int] | None = None,
) -> None:
    """Every run of a grid with its parameters, FLOPs and expected time on one core here.

    `later` has, by the name of a run, the steps of further trainings that follow from it.
    """
    later = later or {}
    costs = _costs(entries)
    rows: list[dict[str, Any]] = [
        {
            "run": entry.folder.name,
            "recipe": entry.recipe.name,
            "seed": entry.recipe.seed,
            "finished": (entry.folder / "result.json").exists(),
            "steps": entry.recipe.train.steps,
            "steps_later": later.get(entry.recipe.run_name, 0),
            "flops": each.flops_per_step * entry.recipe.train.steps,
            **each.as_json(),
        }
        for entry, each in zip(entries, costs, strict=True)
    ]
    if as_json:
        return print(json.dumps(rows, indent=1))
    table = Table("recipe", "seed", "run", box=None)
    for heading in ("steps", "parameters", "FLOPs", "memory", "time"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row["recipe"], str(row["seed"]), row["run"], f"{row['steps']:,}", f"{row['parameters']:,}",
            f"{row['flops']:.1e}", f"{row['memory_bytes'] / 2**20:,.0f} MiB",
            "finished" if row["finished"] else span(row["seconds"]),
        )  # fmt: skip
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)
    left = [row for row in rows if not row["finished"]]
    print(
        f"{len(rows)} runs, {len(rows) - len(left)} of them finished; {sum(r['flops'] for r in left):.1e} FLOPs, "
        f"{_together([row['seconds'] for row in left], workers)}"
        + _then([row["seconds"] / row["steps"] * row["steps_later"] for row in rows], workers)
    )
    return None


def expected_line(
    entries: Sequence[SweepEntry], workers: int | None, later: Mapping[str, int] | None = None
) -> str:
    """One line before training starts: the runs that are left and the time that they take, by the matrix-multiply rate here.

    `later` is as that of `print_plan`.
    """
    later = later or {}
    rate = matmul_rate() * USUAL_SHARE
    left = [entry for entry in entries if not (entry.folder / "result.json").exists()]
    seconds = [each.counted.flops_per_step * each.recipe.train.steps / rate for each in left]
    done = len(entries) - len(left)
    first = _together(seconds, workers) if left else "the time to measure"
    again = _then(
        [
            each.counted.flops_per_step * later.get(each.recipe.run_name, 0) / rate
            for each in entries
        ],
        workers,
    )
    finished = f"{done}" if left else "all"
    return f"{len(entries)} runs, {finished} of them finished; expected: {first}{again}"


def _then(seconds: Sequence[float], workers: int | None) -> str:
    """The time of further trainings, of which is not known how many are finished."""
    if not any(seconds):
        return ""
    hands = workers or cores()
    return f"; then at most {span(sum(seconds) / hands)} of further trainings that follow from these runs"


def _together(seconds: Sequence[float], workers: int | None) -> str:
    """How long runs of so many seconds take side by side."""
    hands = min(workers or cores(), max(1, len(seconds)))
    longest = max([sum(seconds) / hands, *seconds])
    return f"{span(longest)} of training on {hands} cores here, and the time to measure"


def _costs(entries: Sequence[SweepEntry]) -> list[Cost]:
    """Steps of every kind of run are timed once; seeds do not matter."""
    kinds = [entry.recipe.replace(seed=0).fingerprint for entry in entries]
    costs: dict[str, Cost] = {}
    with Watch(["costs"], [len(set(kinds))]) as watch:
        progress = watch.counting("timing a few steps of every kind of run")
        for kind, entry in zip(kinds, entries, strict=True):
            if kind not in costs:
                costs[kind] = cost(build(entry.recipe))
                progress(len(costs), len(set(kinds)))
    return [costs[kind] for kind in kinds]


def print_outcome(outcome: Outcome, folder: Path, *, as_json: bool = False) -> None:
    """How many runs are done, and the end of the log of those that failed."""
    if as_json:
        summary = {
            "finished": [str(run.folder) for run in outcome.runs],
            "before": outcome.kept,
            "failed": [
                {"run": str(f.folder), "name": f.name, "reason": f.reason, "log": f.log}
                for f in outcome.failures
            ],
        }
        return print(json.dumps(summary, indent=1))
    for failure in outcome.failures:
        print(f"failed: {failure.name} ({failure.folder}): {failure.reason}", file=sys.stderr)
        for line in failure.log:
            print(f"    {line}", file=sys.stderr)
    before = f", {outcome.kept} of them before" if outcome.kept else ""
    failed = f"; {len(outcome.failures)} failed" if outcome.failures else ""
    print(f"{len(outcome.runs)} runs finished{before}{failed}: {folder}")
    if outcome.runs:
        print(f"try: tenfold results {folder} --by recipe,length\n     tenfold report {folder}")
    return None
