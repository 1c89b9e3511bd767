"""The ladder: a run is measured at longer and longer lengths, until it has no right answer at two lengths in a row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.core.registry import described, first_problem
from tenfold.core.stored_files import read_json_mapping, sealed
from tenfold.encodings import ENCODINGS
from tenfold.league.tracks import LeagueTrack
from tenfold.results.collect import collect
from tenfold.results.row_schema import Row, StoredRow, row_key, short
from tenfold.results.tables import Collected
from tenfold.runs.run import Run

LADDER_FILE = "ladder.json"  # in the folder of a run
IN_A_ROW = 2  # lengths without a right answer that end a ladder


@dataclass(frozen=True)
class Climb:
    """The measurements of a ladder; `ended` says where and why it was left, or is empty."""

    rows: list[dict[str, Any]]
    ended: str = ""


class StoredLadder(pydantic.BaseModel):
    """The content of a `ladder.json`."""

    model_config = pydantic.ConfigDict(strict=True)
    asked: dict[str, Any]
    rows: list[dict[str, Any]]
    ended: str


def climb(track: LeagueTrack, run: Run) -> Climb:
    """Measure a run at the lengths of the ladder, or read what was measured."""
    asked = {"lengths": list(track.ladder), "slices": list(track.slices), "n": track.n}
    stored = _read(run.folder)
    if stored is not None and stored.asked == asked:
        return Climb(stored.rows, stored.ended)
    climbed = _climb(track, run)
    content = {"asked": asked, "rows": climbed.rows, "ended": climbed.ended}
    write_atomically(run.folder / LADDER_FILE, sealed(content))
    return climbed


def _read(folder: Path) -> StoredLadder | None:
    """What was measured, its seal and its rows checked; None if nothing was."""
    try:
        values = read_json_mapping(folder, LADDER_FILE, "a ladder")
        stored = StoredLadder.model_validate(values)
        for row in stored.rows:
            StoredRow.model_validate({**row, "checkpoint": "best"})
    except FileNotFoundError:
        return None
    except pydantic.ValidationError as error:
        raise TenfoldError(
            f"{folder / LADDER_FILE} is damaged: {short(first_problem(error))}"
        ) from None
    return stored


def _climb(track: LeagueTrack, run: Run) -> Climb:
    rows: list[dict[str, Any]] = []
    without = 0
    for length in track.ladder:
        try:
            first = run.evaluate([length], track.slices[:1], track.n)
            right = max(row.value for row in first if row.metric == track.metric)
            others = run.evaluate([length], track.slices[1:], track.n) if right else []
        except TenfoldError as error:  # such as a position beyond what an encoding can represent
            return Climb(rows, f"length {length} cannot be answered: {error}")
        except Exception as error:
            component = ENCODINGS[run.recipe.pe.name]
            if component.__module__.startswith("tenfold."):
                raise  # our own fault, which needs its traceback
            return Climb(rows, f"length {length} cannot be answered: {described(error, component)}")
        rows += [row.as_json() for row in (*first, *others)]
        without = 0 if right else without + 1
        if without == IN_A_ROW and length < track.ladder[-1]:
            return Climb(rows, f"no right answer at {IN_A_ROW} lengths in a row, up to {length}")
    return Climb(rows)


def measured(track: LeagueTrack, run: Run, folder: Path | None = None) -> tuple[Collected, str]:
    """All rows of a run's best checkpoint, those of its ladder included, and why the ladder ended."""
    collected = collect(folder or run.folder)
    if collected.problems:
        raise TenfoldError(collected.problems[0])
    rows: list[Row] = [row for row in collected.rows if row["checkpoint"] == "best"]
    climbed = climb(track, run)
    known = {row_key(row) for row in rows}
    more = [{**rows[0], "low": None, "high": None, "whole": None, **row} for row in climbed.rows]
    rows += [row for row in more if row_key(row) not in known]
    return Collected(rows, collected.runs), climbed.ended
