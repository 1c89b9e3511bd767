"""Committed results: `results/PAPER/EXPERIMENT/SCALE/rows.csv`, text in which git shows every difference."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tenfold.errors import TenfoldError
from tenfold.lab.tables import REAL, RESULTS, WHOLE

ROWS = "rows.csv"
COLUMNS = tuple(RESULTS)
SCALES = ("paper", "laptop")  # the larger first; smoke decides nothing and is not committed
_HERE = Path(__file__).resolve().parents[1]
SHELVES = (Path("results"), _HERE / "results", _HERE.parents[1] / "results")  # as of the papers

Row = dict[str, Any]


def committed(paper: str, experiment: str, shelves: Sequence[Path] = ()) -> dict[str, list[Row]]:
    """The rows of an experiment by scale, the larger first."""
    found: dict[str, list[Row]] = {}
    for scale in SCALES:
        for shelf in shelves or SHELVES:
            path = shelf / paper / experiment / scale / ROWS
            if scale not in found and path.is_file():
                found[scale] = read_rows(path)
    return found


def as_csv(rows: Sequence[Row]) -> str:
    """Rows as text; every number reads back as it was."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: repr(v) if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    try:
        with path.open(newline="") as lines:
            reader = csv.DictReader(lines)
            found = list(reader)
            columns = tuple(reader.fieldnames or ())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TenfoldError(f"{path} cannot be read: {error}") from None
    if columns != COLUMNS:
        lacking = [name for name in COLUMNS if name not in columns] or ["their order"]
        raise TenfoldError(f"{path} is not a table of results: it lacks {', '.join(lacking)}")
    try:
        return [{key: _value(key, text) for key, text in row.items()} for row in found]
    except (TypeError, ValueError) as error:
        raise TenfoldError(f"{path} is damaged: {error}") from None


def _value(key: str, text: str | None) -> Any:
    if text is None:
        raise ValueError("a line is cut short")
    if RESULTS[key] == WHOLE:
        return int(text) if text else None
    if RESULTS[key] == REAL:
        return float(text) if text else None
    return text
