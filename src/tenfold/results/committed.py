"""Committed results: `results/PAPER/EXPERIMENT/SCALE/rows.csv`, text in which git shows every difference."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import LARGEST_TEXT, read_json, read_stored
from tenfold.results.row_schema import COLUMNS, SINCE, Row, check_row, parse_value
from tenfold.results.row_schema import RUNS as RUN
from tenfold.results.tables import Collected, sound
from tenfold.runs.recipe import Recipe

ROWS, RUNS = "rows.csv", "runs.json"
SCALES = ("paper", "laptop")  # the larger first; smoke decides nothing and is not committed
_HERE = Path(__file__).resolve().parents[1]
INSTALLED = _HERE / "committed"  # the wheel's copy: rows and provenance, no figures
SHELVES = (Path("results"), INSTALLED, _HERE.parents[1] / "results")  # as of the papers


def committed(paper: str, experiment: str, shelves: Sequence[Path] = ()) -> dict[str, list[Row]]:
    """Return the rows of an experiment by scale, the larger scale first."""
    by_scale: dict[str, list[Row]] = {}
    for scale in SCALES:
        for shelf in shelves or SHELVES:
            path = shelf / paper / experiment / scale / ROWS
            if scale not in by_scale and path.is_file():
                by_scale[scale] = read_rows(path)
    return by_scale


def read_committed(folder: Path) -> Collected:
    """Read rows and runs of one folder. A damaged or newer run is named and left out; a damaged file is an error."""
    rows, runs = read_rows(folder / ROWS), read_runs(folder / RUNS)
    current: list[Row] = [
        {key: run[key] for key in RUN} | {"recipe": _as_now(run["recipe"])} for run in runs
    ]
    return sound(Collected(rows, current), folder / ROWS)


def _as_now(text: str) -> str:
    """Return a stored recipe with the settings that were added since, at their defaults."""
    try:
        return json.dumps(Recipe.of(json.loads(text)).as_json())
    except (TenfoldError, ValueError):  # the check of the run reports it
        return text


def as_csv(rows: Sequence[Row]) -> str:
    """Write rows as CSV text. Every number reads back exactly. An empty column of `SINCE` is left out."""
    text = io.StringIO()
    empty = (None, "")
    columns = [
        name
        for name in COLUMNS
        if name not in SINCE or any(row.get(name) not in empty for row in rows)
    ]
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: repr(v) if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()


def as_runs(rows: Sequence[Row], runs: Sequence[Row]) -> str:
    """Write the runs as JSON text, with recipe and environment as values, and the number of rows."""
    values = [
        {**run, **{key: json.loads(run[key]) for key in ("recipe", "environment")}} for run in runs
    ]
    return json.dumps({"rows": len(rows), "runs": values}, indent=1) + "\n"


def read_runs(path: Path) -> list[Row]:
    """Read the runs that `as_runs` wrote, with recipe and environment as text. No file means no runs."""
    try:
        stored = read_json(path.parent, path.name)
        runs = (
            stored["runs"] if isinstance(stored, dict) else stored
        )  # before rows were counted: a list
        for run in runs:
            if lacking := [column for column in RUN if column not in run]:
                raise ValueError(f"a run has no {lacking[0]}")
        return [
            {**run, **{key: json.dumps(run[key]) for key in ("recipe", "environment")}}
            for run in runs
        ]
    except FileNotFoundError:
        return []
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise TenfoldError(f"{path} is damaged: {error}") from None


def read_rows(path: Path) -> list[Row]:
    """Read and check the rows. Their number must be the one stated in `runs.json`, if that file exists."""
    try:
        text = read_stored(path.parent, path.name, LARGEST_TEXT).decode()
        reader = csv.DictReader(io.StringIO(text, newline=""))
        lines = list(reader)
        columns = tuple(reader.fieldnames or ())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TenfoldError(f"{path} cannot be read: {error}") from None
    expected = tuple(name for name in COLUMNS if name not in SINCE or name in columns)
    if columns != expected:
        lacking = [name for name in expected if name not in columns] or ["their order"]
        raise TenfoldError(f"{path} is not a table of results: it lacks {', '.join(lacking)}")
    try:
        rows = [_row(row) for row in lines]
        if not text.endswith("\n"):
            raise ValueError("a line is cut short")
        if (stated := _stated(path.with_name(RUNS))) not in (None, len(rows)):
            raise ValueError(f"{len(rows)} rows, but {RUNS} says {stated}")
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise TenfoldError(f"{path} is damaged: {error}") from None
    return rows


def _row(texts: dict[str, str]) -> Row:
    if None in texts:
        raise ValueError("a line has too many values")
    if None in texts.values():
        raise ValueError("a line is cut short")
    given = SINCE | {key: parse_value(key, text) for key, text in texts.items()}
    row = {key: given[key] for key in COLUMNS}
    check_row(row)
    return row


def _stated(path: Path) -> int | None:
    """Return the stated number of rows; older results do not state it."""
    if not path.is_file():
        return None
    stored = read_json(path.parent, path.name)
    return int(stored["rows"]) if isinstance(stored, dict) else None
