"""Which rows a table is about: one slice, checkpoint and metric, with a note on every run that is left out.

Runs of a language model have no `exact`. By default each run is shown by the main metric that it has; where these
differ, the table has a column `metric` and shows each apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tenfold.core.errors import unknown
from tenfold.evals.metrics import MAIN, direction
from tenfold.results.row_schema import Row

CHOSEN = {"slice": "uniform", "checkpoint": "best", "evaluated_pe": ""}  # by default
NAMED = 4  # values that a note names


@dataclass(frozen=True)
class Selection:
    """The selected rows, the columns that make a cell of them, and notes on what was chosen and left out."""

    rows: list[Row]
    by: list[str]
    notes: list[str]


def select(
    rows: Sequence[Row],
    by: Sequence[str],
    *,
    slice: str | None = None,
    metric: str | None = None,
    checkpoint: str | None = None,
) -> Selection:
    """Select one slice, checkpoint and metric, unless `by` groups by these.

    Rows of an evaluation with another encoding are left out, unless `by` groups by `evaluated_pe`.
    """
    columns, notes = list(by), []
    chosen = {"evaluated_pe": None, "slice": slice, "checkpoint": checkpoint, "metric": metric}
    kept = list(rows)
    for column, requested in chosen.items():
        value = requested or (None if column in by else CHOSEN.get(column))
        if value is not None:
            before, kept = kept, _having(kept, column, value, exactly=requested is not None)
            notes += _left_out(before, kept, column, value, computed=requested is None)
    if metric is None and "metric" not in by:
        before, kept = kept, _by_main_metric(kept)
        notes += _left_out(before, kept, "metric", " or ".join(MAIN), computed=True)
        metrics = list(dict.fromkeys(row["metric"] for row in kept))
        if len(metrics) > 1:
            columns.insert(0, "metric")
            notes.append(f"metrics are shown apart: {_some(metrics)}")
        elif metrics and metrics[0] != MAIN[0]:
            notes.append(f"the metric is {metrics[0]}: no run has {MAIN[0]}")
    neither = {row["metric"] for row in kept if direction(row["metric"]) == 0}
    if neither:
        notes.append(f"neither direction is better, the greatest counts as best: {_some(neither)}")
    return Selection(kept, columns, notes)


def run_of(row: Row) -> str:
    """The run of a row; where it has none, its recipe and seed."""
    return row["fingerprint"] or f"{row['recipe']} {row['seed']}"


def _having(rows: Sequence[Row], column: str, value: str, exactly: bool) -> list[Row]:
    free = value if exactly else ""  # what an experiment adds may have none
    known = {row[column] for row in rows}
    if known and known.isdisjoint({value, free}):
        raise unknown(f"{column} of these runs", value, known)
    return [row for row in rows if row[column] in (value, free)]


def _by_main_metric(rows: Sequence[Row]) -> list[Row]:
    """The rows of each run's main metric; of a run without one, all rows.

    Rows of no run, which an experiment computed, are left out beside rows of a main metric.
    """
    metrics: dict[str, set[str]] = {}
    for row in rows:
        metrics.setdefault(run_of(row), set()).add(row["metric"])
    main = {run: next((m for m in MAIN if m in own), None) for run, own in metrics.items()}
    alone = all(metric is None for metric in main.values())
    return [
        row
        for row in rows
        if row["metric"] == main[run_of(row)]
        or (main[run_of(row)] is None and (alone or row["fingerprint"]))
    ]


def _left_out(
    before: Sequence[Row], after: Sequence[Row], column: str, value: str, computed: bool
) -> list[str]:
    """One line on the runs that have no row left, and with `computed` one on such rows of no run."""
    left = {run_of(row) for row in after}
    lost = [row for row in before if run_of(row) not in left]
    runs = [row for row in lost if row["fingerprint"]]
    others = [row for row in lost if not row["fingerprint"]]
    notes = []
    if runs:
        count = len({run_of(row) for row in runs})
        which = "1 run is" if count == 1 else f"{count} runs are"
        notes.append(
            f"{which} left out: {column} {_some(row[column] for row in runs)}, not {value or 'none'}"
        )
    if others and computed:
        which = "1 row of no run is" if len(others) == 1 else f"{len(others)} rows of no run are"
        has = _some(row[column] for row in others)
        notes.append(f"{which} left out: {column} {has}, not {value or 'none'}")
    return notes


def _some(values: Iterable[str]) -> str:
    names = sorted({value or "none" for value in values}, key=lambda name: (len(name), name))
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" * (len(names) > NAMED))
