"""Every measurement of every run in one place: rows from run folders and committed results, checked; what is damaged is named.

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
import yaml

from tenfold.core.errors import TenfoldError
from tenfold.core.files import parsed
from tenfold.core.registry import first_problem
from tenfold.results.committed import ROWS, read_committed
from tenfold.results.row_schema import (
    RESULTS,
    RUNS,
    LeftOut,
    Row,
    StoredResult,
    asked,
    check_once,
    check_version,
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
Held = dict[str, tuple[str, dict[tuple[Any, ...], tuple[float, int]]]]


def find_runs(path: Path | str) -> list[Path]:
    """The run folder itself, or every run folder below it, by name; hidden folders are passed over.

    A folder that cannot be listed is among them, so that whoever opens it tells why.
    """
    return _below(Path(path), set(), RUN_FILES)


def find_committed(path: Path | str) -> list[Path]:
    """The folder of committed results itself (or of its `rows.csv`), or every one below it, by name."""
    path = Path(path)
    if path.name == ROWS and path.is_file():
        return [path.parent]
    found = _below(path, set(), {*RUN_FILES, ROWS})  # within a run there are none
    return [folder for folder in found if os.path.isfile(folder / ROWS)]


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

    A run that is damaged, unfinished or of a newer version is named in `problems` and left out; one that is
    there twice counts once, with what was measured of it in either place. Rows that an experiment computed without
    a run have no fingerprint.
    """
    found = Collected()
    held: Held = {}  # by fingerprint: where the run was first, what it came to
    logs: dict[str, Path] = {}
    for place in map(Path, [places] if isinstance(places, str | Path) else places):
        paths = find_runs(place)  # before any table, which may be older than they are
        for path in paths:
            try:
                run, rows = _read_run(path)
            except LeftOut as reason:
                found.problems.append(f"{path}: {reason}")
            else:
                _add(found, held, str(path), run, rows)
                if (path / SAMPLES_FILE).is_file():  # of a run that is there twice, the first log
                    logs.setdefault(run["fingerprint"], path / SAMPLES_FILE)
        committed = find_committed(place)
        for path in committed:
            _add_table(found, held, path, read_committed)
        if place.suffix == ".parquet" or (place / ROWS_FILE).is_file():
            _add_table(found, held, place, read)
        elif not paths and not committed:
            found.problems.append(f"{place}: there are no runs in it")
    found.logs.extend(logs.values())
    return found


def _add_table(
    found: Collected, held: Held, place: Path, reads: Callable[[Path], Collected]
) -> None:
    """Add the runs of a table, and its rows of no run."""
    try:
        table = reads(place)
    except TenfoldError as error:
        found.problems.append(short(str(error)))
        return
    found.problems += table.problems
    for run, rows in rows_by_run(table):
        _add(found, held, str(place), run, rows, f"{place}: {rows[0]['run']}")


def _add(
    found: Collected,
    held: Held,
    where: str,
    run: Row | None,
    rows: list[Row],
    named: str | None = None,
) -> None:
    """Add a run, or what was measured of it beyond what is there already; `named` is what a problem calls it."""
    first, known = held.setdefault(rows[0]["fingerprint"], (where, {}))
    came = {asked(row): (row["value"], row["n"]) for row in rows}
    if any(known.get(key, value) != value for key, value in came.items()):
        found.problems.append(
            f"{named or where}: the same recipe as {first} with other results; the first counts"
        )
        return
    if run is not None and not known:
        found.runs.append(run)
    found.rows += [row for row in rows if asked(row) not in known]
    known.update(came)


def _read_run(folder: Path) -> tuple[Row, list[Row]]:
    """What one run came to, or why it is left out."""
    held = _load_json(folder)
    made = held.get("environment")
    check_version(made.get("tenfold") if isinstance(made, dict) else None)
    recipe = _load_recipe(folder)
    try:
        result = StoredResult.model_validate(held)
    except pydantic.ValidationError as error:
        raise LeftOut(f"result.json is damaged: {short(first_problem(error))}") from None
    if (result.fingerprint, result.seed) != (recipe.fingerprint, recipe.seed):
        raise LeftOut(
            f"result.json is of the recipe {short(result.fingerprint)}, but recipe.yaml is "
            f"{recipe.fingerprint}; train it again with --fresh"
        )
    known = _known(folder, recipe, result)
    rows = check_once([{**known, **row.model_dump()} for row in result.rows])
    ordered = [{column: row[column] for column in RESULTS} for row in rows]
    return _run(folder, recipe, result), ordered


def _known(folder: Path, recipe: Recipe, result: StoredResult) -> Row:
    """What all rows of a run have in common."""
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
    told = result.model_dump(include=RUNS.keys() - {"environment"})
    told["run"] = folder.resolve().name
    told["recipe"] = json.dumps(recipe.as_json())
    told["environment"] = json.dumps(result.environment.model_dump())
    return {column: told[column] for column in RUNS}


def _load_json(folder: Path) -> dict[str, Any]:
    path = folder / "result.json"
    if not path.exists() and (folder / "weights.safetensors").exists():
        raise LeftOut("published: weights and a recipe alone, without results")
    try:
        held = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise LeftOut("unfinished: there is no result.json yet") from None
    except OSError as error:
        raise LeftOut(f"result.json cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise LeftOut(f"result.json is damaged: {short(str(error))}") from None
    if not isinstance(held, dict):
        raise LeftOut("result.json is damaged: it does not hold a result")
    return held


def _load_recipe(folder: Path) -> Recipe:
    try:
        values = parsed((folder / "recipe.yaml").read_bytes().decode())
    except FileNotFoundError:
        raise LeftOut("there is no recipe.yaml beside its result.json") from None
    except OSError as error:
        raise LeftOut(f"recipe.yaml cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: a day such as 2026-99-99
        raise LeftOut("recipe.yaml is damaged: it is not YAML") from None
    if not isinstance(values, dict):
        raise LeftOut("recipe.yaml is damaged: it does not hold a recipe")
    try:
        return Recipe.of(Recipe.of(values).as_json())  # what cannot be written again is refused too
    except (TenfoldError, ValueError, RecursionError) as error:
        raise LeftOut(f"recipe.yaml: {short(str(error))}") from None
