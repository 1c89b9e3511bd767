"""From finished runs to what a figure or a table shows: curves with their spread."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tenfold.errors import TenfoldError
from tenfold.lab.run import Run

COLUMNS = (
    "recipe", "pe", "label", "seed", "length", "slice", "checkpoint", "metric",
    "value", "n", "low", "high", "steps", "fingerprint", "commit", "date",
)  # fmt: skip


@dataclass(frozen=True)
class Point:
    """One length of a curve: the median over seeds, the worst and best seed, and the samples' interval."""

    length: int
    median: float
    worst: float
    best: float
    low: float  # 95% interval over samples, of the seed that is the median
    high: float
    seeds: int
    n: int


@dataclass(frozen=True)
class Curve:
    name: str
    points: tuple[Point, ...]
    trained: int  # the longest training length


def groups(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs that differ in their seed alone, by a name of their own.

    Where two groups have a recipe's name in common, what differs is part of the name.
    """
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.recipe.replace(seed=0).fingerprint, []).append(run)
    named: dict[str, list[Run]] = {}
    for group in found.values():
        seeds = [run.recipe.seed for run in group]
        if len(set(seeds)) < len(seeds):
            raise TenfoldError(f"{group[0].recipe.name} with seed {seeds[-1]} is there twice")
        first = group[0].recipe
        name = first.name
        if name in named:
            told = first.replace(seed=0).difference(named[name][0].recipe.replace(seed=0))
            name = f"{name} ({told})"
        if name in named:
            name = f"{name} ({first.fingerprint})"
        named[name] = group
    return named


def rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Every measurement of every run with its provenance, one flat row each."""
    found = []
    for name, group in groups(runs).items():
        for run in group:
            result, recipe = run.result(), run.recipe
            known = {
                "recipe": name,
                "pe": recipe.pe.name,
                "label": recipe.label,
                "seed": recipe.seed,
                "steps": result["steps"],
                "fingerprint": result["fingerprint"],
                "commit": result["environment"]["commit"],
                "date": result["environment"]["date"],
            }
            found += [{**known, **row} for row in result["rows"]]
    return found


def curves(
    runs: Sequence[Run], slice: str = "uniform", metric: str = "exact", checkpoint: str = "best"
) -> list[Curve]:
    """One curve a group of runs, over its seeds."""
    trained = {name: group[0].recipe.data.length for name, group in groups(runs).items()}
    found: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for row in rows(runs):
        if (row["slice"], row["metric"], row["checkpoint"]) == (slice, metric, checkpoint):
            found.setdefault(row["recipe"], {}).setdefault(row["length"], []).append(row)
    return [
        Curve(name, tuple(_point(length, group[length]) for length in sorted(group)), trained[name])
        for name, group in found.items()
    ]


def slices(runs: Sequence[Run]) -> list[str]:
    """The slices that the runs were measured on; the longest length has them all, in their order."""
    longest_first = sorted(rows(runs), key=lambda row: -row["length"])
    return list(dict.fromkeys(row["slice"] for row in longest_first))


def _point(length: int, found: list[dict[str, Any]]) -> Point:
    values = [row["value"] for row in found]
    middle = sorted(found, key=lambda row: row["value"])[(len(found) - 1) // 2]
    return Point(
        length,
        statistics.median(values),
        min(values),
        max(values),
        middle["low"],
        middle["high"],
        len(values),
        middle["n"],
    )


def as_csv(runs: Sequence[Run]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows(runs):
        writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()


def as_markdown(found: Sequence[Curve]) -> str:
    """Median % (worst-best seed) by length, a column a recipe."""
    lengths = sorted({point.length for curve in found for point in curve.points})
    lines = [
        "| digits | " + " | ".join(curve.name for curve in found) + " |",
        "|---" * (len(found) + 1) + "|",
    ]
    for length in lengths:
        cells = []
        for curve in found:
            point = next((p for p in curve.points if p.length == length), None)
            cells.append(cell(point) if point else "")
        lines.append(f"| {length} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def cell(point: Point) -> str:
    """`97.5 (96.0-98.8)`: with one seed the interval over samples, with more the worst and best seed."""
    low, high = (point.low, point.high) if point.seeds == 1 else (point.worst, point.best)
    return f"{100 * point.median:.1f} ({100 * low:.1f}-{100 * high:.1f})"
