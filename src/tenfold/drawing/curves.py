"""From groups of runs to what a figure or a table shows: curves with their spread."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tenfold.drawing.run_groups import Group, band, environment
from tenfold.evals.exact_match import pair_of
from tenfold.evals.statistics import SUCCESS, Interval, MedianInterval, median_interval
from tenfold.results.result_text import as_markdown as markdown_table
from tenfold.results.result_text import markdown_text
from tenfold.results.row_schema import Row
from tenfold.runs.build import counted

MAIN = "uniform"  # the slice that curves show if nothing else is said


@dataclass(frozen=True)
class Point:
    """One length of a curve: the value of every seed, and the interval over samples of the median seed."""

    length: int
    values: tuple[float, ...]
    low: float  # 95%, Wilson
    high: float
    n: int  # problems a seed

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def spread(self) -> Interval:
        """The worst and the best seed; of one seed, the interval over samples."""
        return (
            (min(self.values), max(self.values)) if len(self.values) > 1 else (self.low, self.high)
        )

    @property
    def interval(self) -> MedianInterval | None:
        """An interval for the median over all possible seeds, with its coverage; None of one seed."""
        return median_interval(self.values)

    @property
    def solved(self) -> int:
        """How many seeds are right on 99% or more."""
        return sum(value >= SUCCESS for value in self.values)


@dataclass(frozen=True)
class Curve:
    name: str
    label: str
    points: tuple[Point, ...]
    trained: int | None  # the longest training length; none where the axis is not of lengths
    counted: str  # what a length counts: `digits of the longer operand`
    encoding: str = ""  # its registered name, which decides the colour and the marker


def curves(
    groups: Sequence[Group], slice: str = MAIN, metric: str = "exact", checkpoint: str = "best"
) -> list[Curve]:
    """One curve a group that was measured so, over its seeds."""
    curves = []
    for group in groups:
        measured = [row for row in group.rows if _is(row, slice, metric, checkpoint)]
        by_length: dict[int, list[Row]] = {}
        for row in measured:
            by_length.setdefault(row["length"], []).append(row)
        points = tuple(_point(length, by_length[length]) for length in sorted(by_length))
        if points:
            trained, counts = group.recipe.data.length, counted(group.recipe.task)
            curves.append(
                Curve(group.name, group.label, points, trained, counts, group.recipe.pe.name)
            )
    return curves


def _is(row: Row, slice: str, metric: str = "exact", checkpoint: str = "best") -> bool:
    chosen = (row["slice"], row["metric"], row["checkpoint"]) == (slice, metric, checkpoint)
    return chosen and row["length"] is not None and not row.get("evaluated_pe")


def _point(length: int, rows: list[Row]) -> Point:
    middle = sorted(rows, key=lambda row: row["value"])[(len(rows) - 1) // 2]
    low, high = (middle["value"] if middle[key] is None else middle[key] for key in ("low", "high"))
    return Point(length, tuple(row["value"] for row in rows), low, high, middle["n"])


def slices(groups: Sequence[Group]) -> list[str]:
    """The slices that were measured, pairs of lengths left out; the longest length has them all, in their order."""
    rows = [row for group in groups for row in group.rows if _is(row, row["slice"])]
    rows.sort(key=lambda row: -row["length"])
    return [name for name in dict.fromkeys(row["slice"] for row in rows) if pair_of(name) is None]


def pairs(group: Group) -> dict[tuple[int, int], float]:
    """By the lengths of the first and the second operand, the median over seeds of the share exactly right."""
    by_pair: dict[tuple[int, int], list[float]] = {}
    for row in group.rows:
        lengths = pair_of(row["slice"])
        if lengths is not None and _is(row, row["slice"]):
            by_pair.setdefault(lengths, []).append(row["value"])
    return {lengths: statistics.median(values) for lengths, values in by_pair.items()}


def as_csv(rows: Sequence[Row]) -> str:
    """Every measurement of every run with its provenance."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()


def as_markdown(shown: Sequence[Curve]) -> str:
    """Median % (worst-best seed) by length, a column a recipe."""
    lengths = sorted({point.length for curve in shown for point in curve.points})
    points = [{point.length: cell(point) for point in curve.points} for curve in shown]
    rows = [[length, *(cells.get(length, "") for cells in points)] for length in lengths]
    return markdown_table(["digits", *(curve.name for curve in shown)], rows)


def cell(point: Point) -> str:
    """`97.5 (96.0-98.8)`: with one seed the interval over samples, with more the worst and best seed."""
    return f"{100 * point.median:.1f} ({percents(point.spread)})"


def percents(bounds: Interval) -> str:
    """
    >>> percents((0.96, 0.988))
    '96.0-98.8'
    """
    return "-".join(f"{100 * bound:.1f}" for bound in bounds)


def results_table(groups: Sequence[Group], title: str) -> str:
    """The tables of all slices as Markdown, and the runs they come from: `results.md`."""
    text = f"# {markdown_text(title)}\n"
    if curves(groups):
        text += f"\n% exactly right, median ({band(groups)}).\n"
    for name in slices(groups):
        for checkpoint in ("best", "final") if name == MAIN else ("best",):
            if lines := curves(groups, name, checkpoint=checkpoint):
                text += f"\n## Slice {markdown_text(name)}, {checkpoint} checkpoint\n\n{as_markdown(lines)}"
    if any(row["metric"] == "perplexity" for group in groups for row in group.rows):
        from tenfold.drawing import perplexity_curves  # which draws curves of this module

        text += perplexity_curves.markdown(groups)
    columns = ["recipe", "seed", "fingerprint", "steps", "seconds", "commit", "date"]
    return f"{text}\n## Runs\n\n{markdown_table(columns, [_run_cells(g, run) for g in groups for run in g.runs])}"


def _run_cells(group: Group, run: Row) -> list[object]:
    made, seconds = environment(run), round(run["train_seconds"])
    values = [run[key] for key in ("seed", "fingerprint", "steps")]
    return [group.name, *values, seconds, made["commit"], made["date"]]
