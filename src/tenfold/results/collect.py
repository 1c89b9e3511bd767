"""Collect the measurements of many runs: checked rows from run folders, committed results and tables.

>>> from pathlib import Path
>>> collected = collect("runs")  # doctest: +SKIP
>>> (
...     collected.rows[0]["encoding"],
...     collected.rows[0]["length"],
...     collected.rows[0]["value"],
... )  # doctest: +SKIP
('alibi', 5, 0.93)
>>> query(collected, "select encoding, max(value) from results group by all")  # doctest: +SKIP
(['encoding', 'max("value")'], [('alibi', 0.93)])
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import first_problem
from tenfold.core.stored_files import check_inside, read_json_mapping, stored_mapping
from tenfold.results.committed import ROWS, read_committed
from tenfold.results.compact_rows import compact
from tenfold.results.row_schema import (
    RESULTS,
    RUNS,
    LeftOut,
    Row,
    StoredResult,
    check_once,
    check_version,
    row_key,
    short,
)
from tenfold.results.tables import (
    ROWS_FILE,
    Collected,
    query,
    read,
    rows_by_run,
    write,
)
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import recipe_hash
from tenfold.runs.run import Run
from tenfold.runs.sample_log import SAMPLES_FILE

__all__ = [
    "RESULTS",
    "RUNS",
    "Collected",
    "collect",
    "find_committed",
    "find_runs",
    "query",
    "read",
    "write",
]


RUN_FILES = {"recipe.yaml", "result.json"}  # either makes a folder a run's
Known = dict[str, tuple[str, list[Row]]]  # by fingerprint: where the run was first, its rows


def find_runs(path: Path | str) -> list[Path]:
    """Return the run folder itself, or every run folder below it, sorted by name. Hidden folders are skipped.

    A folder that cannot be listed is included, so that opening it reports the reason.
    """
    return _below(Path(path), set(), RUN_FILES)


def find_committed(path: Path | str) -> list[Path]:
    """Return the folder of committed results itself (or of its `rows.csv`), or every such folder below it."""
    path = Path(path)
    if path.name == ROWS and path.is_file():
        return [path.parent]
    folders = _below(path, set(), {*RUN_FILES, ROWS})  # within a run there are none
    return [folder for folder in folders if os.path.isfile(folder / ROWS)]


def _below(path: Path, seen: set[str], marks: set[str]) -> list[Path]:
    if (real := os.path.realpath(path)) in seen:  # a link to a folder above it
        return []
    seen.add(real)
    try:
        names = sorted(os.listdir(path))
    except NotADirectoryError:
        return []
    except FileNotFoundError:
        raise TenfoldError(
            f"there is no folder {path}; train a run first, or name another"
        ) from None
    except OSError:
        return [path]
    if not marks.isdisjoint(names):
        return [path]
    folders = [path / name for name in names if not name.startswith(".")]
    return [run for folder in folders if folder.is_dir() for run in _below(folder, seen, marks)]


def collect(places: Path | str | Sequence[Path | str] = "runs") -> Collected:
    """All measurements in one or several places.

    A place is a run folder, a folder of runs, a folder of committed results or one that holds such folders, or
    tables that `write` left (a folder or a file).

    A run that is damaged, unfinished or of a newer version is named in `problems` and left out. A run that occurs
    twice counts once, with the rows of both places. Rows that an experiment computed without a run have no
    fingerprint.
    """
    collected = Collected()
    known_runs: Known = {}
    logs: dict[str, Path] = {}
    for place in map(Path, [places] if isinstance(places, str | Path) else places):
        paths = find_runs(place)  # before any table, which may be older than they are
        for path in paths:
            try:
                run, rows = _read_run(path)
            except LeftOut as reason:
                collected.problems.append(f"{path}: {reason}")
            else:
                _add(collected, known_runs, str(path), run, rows)
                if _has_samples(path):  # of a run that is there twice, the first log
                    logs.setdefault(run["fingerprint"], path / SAMPLES_FILE)
        committed = find_committed(place)
        for path in committed:
            _add_table(collected, known_runs, path, read_committed)
        if place.suffix == ".parquet" or (place / ROWS_FILE).is_file():
            _add_table(collected, known_runs, place, read)
        elif not paths and not committed:
            collected.problems.append(f"{place}: there are no runs in it")
    collected.logs.extend(logs.values())
    return collected


def _has_samples(folder: Path) -> bool:
    """Whether a run has a log of samples; one that leads out of its folder is none."""
    try:
        return check_inside(folder, SAMPLES_FILE).is_file()
    except TenfoldError:
        return False


def _add_table(
    collected: Collected, known_runs: Known, place: Path, reads: Callable[[Path], Collected]
) -> None:
    """Add the runs of a table, and its rows of no run."""
    try:
        table = reads(place)
    except TenfoldError as error:
        collected.problems.append(short(str(error)))
        return
    collected.problems += table.problems
    for run, rows in rows_by_run(table):
        _add(collected, known_runs, str(place), run, rows, f"{place}: {rows[0]['run']}")


def _add(
    collected: Collected,
    known_runs: Known,
    where: str,
    run: Row | None,
    rows: list[Row],
    named: str | None = None,
) -> None:
    """Add a run, or only its new rows if the run is known; `named` is its name in a problem."""
    first, known = known_runs.setdefault(rows[0]["fingerprint"], (where, []))
    measured = {row_key(row): _value(row) for row in known}
    if any(measured.get(row_key(row), _value(row)) != _value(row) for row in rows if measured):
        collected.problems.append(
            f"{named or where}: the same recipe as {first} with other results; the first counts"
        )
        return
    if run is not None and not measured:
        collected.runs.append(run)
    new = [row for row in rows if row_key(row) not in measured]
    known += new
    collected.rows += new


def _value(row: Row) -> tuple[float, int]:
    return row["value"], row["n"]


def check_finished(folder: Path) -> None:
    """An error if the results of a finished run cannot be read, or are not what a run measures."""
    try:
        _read_run(folder)
    except LeftOut as reason:
        raise TenfoldError(f"{folder}: {reason}") from None


def checked_result(run: Run) -> dict[str, Any]:
    """What a run came to, after a check of all of it: a stranger may have written it."""
    check_finished(run.folder)
    return run.result()


def _read_run(folder: Path) -> tuple[Row, list[Row]]:
    """The run and its rows; raises `LeftOut` with the reason if it cannot be read."""
    stored = _load_result(folder)
    made = stored.get("environment")
    check_version(made.get("tenfold") if isinstance(made, dict) else None)
    recipe = _load_recipe(folder)
    try:
        result = StoredResult.model_validate(stored)
    except pydantic.ValidationError as error:
        raise LeftOut(f"result.json is damaged: {short(first_problem(error))}") from None
    if (result.fingerprint, result.seed) != (recipe.fingerprint, recipe.seed):
        raise LeftOut(
            f"result.json is of the recipe {short(result.fingerprint)}, but recipe.yaml is "
            f"{recipe.fingerprint}; train it again with --fresh"
        )
    known = _known(folder, recipe, result)
    rows = check_once([{**known, **row.model_dump()} for row in result.rows])
    return _run(folder, recipe, result), compact(rows)


def _known(folder: Path, recipe: Recipe, result: StoredResult) -> Row:
    """Return the columns that all rows of a run share."""
    stated = recipe.claim or ""  # a ledger's id, or its paper alone
    paper = stated or (recipe.name if "/" in recipe.name else "")
    known: Row = {
        "run": folder.resolve().name,
        "paper": paper.split("/")[0],
        "claim": stated if "/" in stated else "",
        "recipe": recipe.name,
        "task": recipe.task.name,
        "format": recipe.format.name,
        "encoding": recipe.pe.name,
        "scheme": "+".join(scheme.name for scheme in recipe.schemes),
        "label": recipe.label,
        "seed": recipe.seed,
        "trained": recipe.data.length,
        "steps": result.steps,
        "fingerprint": recipe.fingerprint,
        "commit": result.environment.commit,
        "date": result.environment.date,
    }
    for column, value in known.items():
        if isinstance(value, str) and not value.isprintable():
            raise LeftOut(
                f"its {column} has characters that cannot be printed: {short(repr(value))}"
            )
    return known


def _run(folder: Path, recipe: Recipe, result: StoredResult) -> Row:
    values = result.model_dump(include=RUNS.keys() - {"environment"})
    values["run"] = folder.resolve().name
    values["recipe"] = json.dumps(recipe.as_json())
    values["environment"] = json.dumps(result.environment.model_dump())
    return {column: values[column] for column in RUNS}


def _load_result(folder: Path) -> dict[str, Any]:
    try:
        return read_json_mapping(folder, "result.json", "a result")
    except FileNotFoundError:
        if (folder / "weights.safetensors").exists():
            reason = "published: weights and a recipe alone, without results"
        else:
            reason = "unfinished: there is no result.json yet"
        raise LeftOut(reason) from None
    except TenfoldError as error:
        raise LeftOut(short(_within(folder, error))) from None


def _load_recipe(folder: Path) -> Recipe:
    if not os.path.lexists(folder / "recipe.yaml"):
        raise LeftOut("there is no recipe.yaml beside its result.json")
    try:
        recipe = Recipe.of(stored_mapping(folder, "recipe.yaml", "a recipe", recipe_hash(folder)))
        return Recipe.of(recipe.as_json())  # what cannot be written again is refused too
    except (TenfoldError, ValueError, RecursionError) as error:
        text = _within(folder, error)
        raise LeftOut(
            short(text if text.startswith("recipe.yaml") else f"recipe.yaml: {text}")
        ) from None


def _within(folder: Path, error: Exception) -> str:
    """An error about a file of a folder, which need not be named again."""
    return str(error).replace(f"{folder}/", "")
