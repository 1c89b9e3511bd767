"""Rows summed up over seeds: a cell for every value of some columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.evals.statistics import Cell, MedianInterval, summarize
from tenfold.results.row_schema import RESULTS, Row, short
from tenfold.results.selection import run_of
from tenfold.results.tables import Collected
from tenfold.runs.own_files import SHOWN
from tenfold.runs.recipe import HOUSEKEEPING, PROSE

ALIASES = {"pe": "encoding", "hash": "fingerprint"}
MEASURED = ("value", "n", "low", "high")  # what cells sum up
GROUPS = [column for column in RESULTS if column not in MEASURED]
MEASUREMENT = (
    "length",
    "slice",
    "metric",
    "checkpoint",
    "evaluated_pe",
)  # in which rows of one run differ
STATED = ("recipe", "task", "format", "encoding", "scheme", "label", "trained", "steps")  # of a run
LONGEST = 60  # characters of a value that a note names
Key = tuple[Any, ...]


def columns_of(names: Iterable[str], known: Sequence[str] = GROUPS) -> list[str]:
    """Columns by their names or aliases, each once.

    >>> columns_of(["pe", "length"])
    ['encoding', 'length']
    """
    columns = [ALIASES.get(name.strip(), name.strip()) for name in names]
    for given in columns:
        if given in MEASURED:
            raise TenfoldError(
                f'"{given}" is measured, and cannot be grouped by; group by columns such as pe,length'
            )
        if given not in known:
            aliases = [alias for alias, column in ALIASES.items() if column in known]
            raise unknown("column", given, [*known, *aliases])
    return list(dict.fromkeys(columns))


def cells(rows: Sequence[Row], by: Sequence[str]) -> list[Row]:
    """Return one line per cell: the columns of `by`, then statistics over seeds.

    A seed counts once in a cell, with the mean of its rows there.
    """
    return [
        {**dict(zip(by, key, strict=True)), **_line(_cell(group))}
        for key, group in grouped(rows, by).items()
    ]


def grouped(rows: Sequence[Row], by: Sequence[str]) -> dict[Key, list[Row]]:
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in by), []).append(row)
    return dict(sorted(groups.items(), key=lambda item: [(v is None, v) for v in item[0]]))


def _cell(rows: list[Row]) -> Cell:
    metric = metric_of(rows)
    counted = metric == "exact" and all(row["n"] for row in rows)
    n: dict[str, int] = {}
    for row in rows:
        n[run_of(row)] = n.get(run_of(row), 0) + row["n"]
    values = by_run(rows)
    return summarize(
        list(values.values()), [n[run] for run in values], counted=counted, metric=metric
    )


def metric_of(rows: Sequence[Row]) -> str:
    """The one metric of these rows; "" if there are several, which has no direction."""
    metrics = {row["metric"] for row in rows}
    return metrics.pop() if len(metrics) == 1 else ""


def by_run(rows: list[Row]) -> dict[str, float]:
    """The mean of each run's rows; of no run, of each seed's of a recipe."""
    runs: dict[str, list[float]] = {}
    for row in rows:
        runs.setdefault(run_of(row), []).append(row["value"])
    return {run: sum(values) / len(values) for run, values in runs.items()}


def _line(cell: Cell) -> Row:
    return {
        "seeds": cell.seeds,
        "n": cell.n,
        "median": cell.median,
        "worst": cell.worst,
        "best": cell.best,
        "success": cell.success,
        **bounds("seeds", cell.interval),
        "samples_low": cell.samples and cell.samples[0],
        "samples_high": cell.samples and cell.samples[1],
    }


def bounds(of: str, interval: MedianInterval | None) -> Row:
    """The ends of an interval, and the probability that it covers what it is for."""
    return {
        f"{of}_low": interval and interval.low,
        f"{of}_high": interval and interval.high,
        f"{of}_coverage": interval and interval.coverage,
    }


def mixed(collected: Collected, rows: Sequence[Row], by: Sequence[str]) -> list[str]:
    """Name what the runs of one cell differ in, apart from the seed: one line per setting."""
    settings = {run["fingerprint"]: _settings(run) for run in collected.runs}
    differs = _measured_differently(rows, by)
    for group in grouped(rows, by).values():
        runs = {run_of(row): row for row in group}
        at_hand = all(run in settings for run in runs)
        known = [settings[run] if at_hand else _stated(row) for run, row in runs.items()]
        for key in dict.fromkeys(key for one in known for key in one):
            _note(differs, key, (one.get(key) for one in known))
    return _notes(differs)


def mixed_rows(rows: Sequence[Row], by: Sequence[str]) -> list[str]:
    """Name what was measured differently within a cell: the part of `mixed` that needs rows only."""
    return _notes(_measured_differently(rows, by))


def _measured_differently(rows: Sequence[Row], by: Sequence[str]) -> dict[str, set[str]]:
    differs: dict[str, set[str]] = {}
    for group in grouped(rows, by).values():
        for column in MEASUREMENT:
            _note(differs, column, (row[column] for row in group))
    return differs


def _notes(differs: dict[str, set[str]]) -> list[str]:
    return [
        _mixes(key, sorted(values, key=lambda value: (len(value), value)))
        for key, values in differs.items()
        if not any(key.startswith(f"{part}.") for part in differs)  # options of another component
    ]


def _mixes(key: str, values: list[str]) -> str:
    some = ", ".join(short(value, LONGEST) for value in values[:4]) + (
        ", ..." if len(values) > 4 else ""
    )
    return f"a cell mixes different values of {key}: {some}"


def _note(differs: dict[str, set[str]], key: str, values: Iterable[Any]) -> None:
    texts = {value if isinstance(value, str) else json.dumps(value) for value in values}
    if len(texts) > 1:
        differs.setdefault(key, set()).update(texts)


def _settings(run: Row) -> Row:
    """What decides a run but for its seed, by dotted keys; a component's key holds its name."""
    recipe = deciding(run)
    del recipe["seed"]
    return _leaves(recipe, "")


def deciding(run: Row) -> dict[str, Any]:
    recipe = json.loads(run["recipe"])
    kept = {key: value for key, value in recipe.items() if key not in PROSE}
    for part, keys in HOUSEKEEPING.items():
        kept[part] = {key: value for key, value in kept[part].items() if key not in keys}
    kept["include"] = [f"{each['file']} {each['sha256'][:SHOWN]}" for each in kept["include"]]
    return kept


def _leaves(values: Any, where: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        return {where: values}
    leaves: dict[str, Any] = {}
    for key, value in values.items():
        inner = where if key == "name" else f"{where}.{key}" if where else key
        leaves |= _leaves(value, inner)
    return leaves


def _stated(row: Row) -> Row:
    """Return the settings that rows state of a run whose recipe is unknown."""
    return {column: row[column] for column in STATED}
