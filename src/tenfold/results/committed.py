"""Committed results: `results/PAPER/EXPERIMENT/SCALE/rows.csv`, text in which git shows every difference."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.results.row_schema import COLUMNS, Row, check_row, parse_value
from tenfold.results.row_schema import RUNS as RUN
from tenfold.results.tables import Collected, sound
from tenfold.runs.recipe import Recipe

ROWS, RUNS = "rows.csv", "runs.json"
SCALES = ("paper", "laptop")  # the larger first; smoke decides nothing and is not committed
_HERE = Path(__file__).resolve().parents[1]
INSTALLED = _HERE / "committed"  # the wheel's copy: rows and provenance, no figures
SHELVES = (Path("results"), INSTALLED, _HERE.parents[1] / "results")  # as of the papers


def committed(paper: str, experiment: str, shelves: Sequence[Path] = ()) -> dict[str, list[Row]]:
    """The rows of an experiment by scale, the larger first."""
    found: dict[str, list[Row]] = {}
    for scale in SCALES:
        for shelf in shelves or SHELVES:
            path = shelf / paper / experiment / scale / ROWS
            if scale not in found and path.is_file():
                found[scale] = read_rows(path)
    return found


def read_committed(folder: Path) -> Collected:
    """Rows and runs of one folder. A damaged or newer run is named and left out; a damaged file, all of it."""
    rows, runs = read_rows(folder / ROWS), read_runs(folder / RUNS)
    for run in runs:
        if lacking := [column for column in RUN if column not in run]:
            raise TenfoldError(f"{folder / RUNS} is damaged: a run has no {lacking[0]}")
    held = [{key: run[key] for key in RUN} | {"recipe": _as_now(run["recipe"])} for run in runs]
    return sound(Collected(rows, held), folder / ROWS)


def _as_now(text: str) -> str:
    """A recipe with the settings that recipes have had since, at what they stood for then: their defaults."""
    try:
        return json.dumps(Recipe.of(json.loads(text)).as_json())
    except (TenfoldError, ValueError):  # whoever checks the run tells of it
        return text


def as_csv(rows: Sequence[Row]) -> str:
    """Rows as text; every number reads back as it was."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: repr(v) if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()


def as_runs(rows: Sequence[Row], runs: Sequence[Row]) -> str:
    """What stands beside the rows: every run, recipe and environment as values; how many rows there are."""
    told = [
        {**run, **{key: json.loads(run[key]) for key in ("recipe", "environment")}} for run in runs
    ]
    return json.dumps({"rows": len(rows), "runs": told}, indent=1) + "\n"


def read_runs(path: Path) -> list[Row]:
    """The runs that `as_runs` wrote, recipe and environment as text again; none, if nothing was trained."""
    try:
        held = json.loads(path.read_bytes())
        runs = held["runs"] if isinstance(held, dict) else held  # before rows were counted: a list
        return [
            {**run, **{key: json.dumps(run[key]) for key in ("recipe", "environment")}}
            for run in runs
        ]
    except FileNotFoundError:
        return []
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise TenfoldError(f"{path} is damaged: {error}") from None


def read_rows(path: Path) -> list[Row]:
    """The rows, every one whole; as many as `runs.json` beside them says, if it is there."""
    try:
        text = path.read_bytes().decode()
        reader = csv.DictReader(io.StringIO(text, newline=""))
        found = list(reader)
        columns = tuple(reader.fieldnames or ())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TenfoldError(f"{path} cannot be read: {error}") from None
    if columns != COLUMNS:
        lacking = [name for name in COLUMNS if name not in columns] or ["their order"]
        raise TenfoldError(f"{path} is not a table of results: it lacks {', '.join(lacking)}")
    try:
        rows = [_row(row) for row in found]
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
    row = {key: parse_value(key, text) for key, text in texts.items()}
    check_row(row)
    return row


def _stated(path: Path) -> int | None:
    """How many rows there should be; results from before that was told do not say."""
    if not path.is_file():
        return None
    held = json.loads(path.read_bytes())
    return int(held["rows"]) if isinstance(held, dict) else None
