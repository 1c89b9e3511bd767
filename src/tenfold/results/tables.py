"""Results as tables: written to Parquet, read back and queried in SQL by DuckDB.

The table `results` has one row per measurement, `runs` one row per run, `samples` one row per evaluated problem.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenfold import __version__
from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.core.stored_files import read_json_mapping, size_and_hash
from tenfold.results.row_schema import (
    NULLABLE,
    NULLABLE_OF_RUNS,
    NULLABLE_OF_SAMPLES,
    RESULTS,
    RUNS,
    SAMPLES,
    SINCE,
    LeftOut,
    Row,
    check_run,
    check_version,
)

if TYPE_CHECKING:  # imported where it is used: reading committed rows does not need it
    import duckdb

ROWS_FILE, RUNS_FILE = "rows.parquet", "runs.parquet"
QUIET: dict[str, str | bool | int | float | list[str]] = {  # nothing is downloaded
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
BOUNDED: dict[str, str] = {"memory_limit": "1GB"}  # of a query, which has a file for what is more
QUERIES = ("SELECT", "EXPLAIN", "MULTI")  # kinds of statements
# SQL sees the tables, and neither files nor the variables of this program
LOCKED = "SET enable_external_access = false; SET lock_configuration = true"


@dataclass
class Collected:
    """The results of runs: one row per measurement, one row per run, one line per run that was left out."""

    rows: list[Row] = field(default_factory=list)  # columns: RESULTS
    runs: list[Row] = field(default_factory=list)  # columns: RUNS
    problems: list[str] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)  # of samples


def write(collected: Collected, folder: Path | str) -> dict[str, Path]:
    """Write `rows.parquet` and `runs.parquet` to a folder, each atomically."""
    folder = Path(folder)
    tables = {ROWS_FILE: (RESULTS, collected.rows), RUNS_FILE: (RUNS, collected.runs)}
    data = {name: as_parquet(*table) for name, table in tables.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in data.items():
            write_atomically(folder / name, content)
    except OSError as error:
        raise TenfoldError(f"cannot write to {folder}: {error.strerror or error}") from None
    return {"rows": folder / ROWS_FILE, "runs": folder / RUNS_FILE}


def as_parquet(columns: dict[str, str], rows: Sequence[Row]) -> bytes:
    """Return rows as the bytes of a Parquet file."""

    with tempfile.TemporaryDirectory() as place:
        return lines_as_parquet(_write_lines(rows, Path(place) / "rows.jsonl"), columns)


def lines_as_parquet(path: Path, columns: dict[str, str]) -> bytes:
    """Return the rows of a JSON-lines file as the bytes of a Parquet file."""
    import duckdb

    with tempfile.TemporaryDirectory() as place, duckdb.connect(config=QUIET) as connection:
        with _plainly_named(path) as lines:
            _fill(connection, "written", columns, lines)
        to = Path(place) / "written.parquet"
        made = f"KV_METADATA {{tenfold: '{__version__}'}}"
        connection.execute(f"COPY written TO {_quoted(to)} (FORMAT parquet, {made})")
        return to.read_bytes()


def read(place: Path | str) -> Collected:
    """Read what `write` wrote: a folder or a file of rows. A damaged or newer run is named and left out."""
    path = Path(place)
    path = path / ROWS_FILE if path.is_dir() else path
    beside = path.with_name(RUNS_FILE)
    runs = _from_parquet(beside, RUNS) if path.name == ROWS_FILE and beside.exists() else []
    return sound(Collected(_from_parquet(path, RESULTS), runs), path)


def sound(collected: Collected, path: Path) -> Collected:
    """Return the valid runs of a file with their rows; the others are named in `problems`."""
    whole = Collected()
    for run, rows in rows_by_run(collected):
        try:
            check_run(run, rows)
        except LeftOut as reason:
            whole.problems.append(f"{path}: {rows[0]['run'] or 'rows of no run'}: {reason}")
        else:
            whole.rows += rows
            whole.runs += [run] if run else []
    return whole


def rows_by_run(collected: Collected) -> list[tuple[Row | None, list[Row]]]:
    """Return each run, or None if it is unknown, with its rows."""
    runs = {run["fingerprint"]: run for run in collected.runs}
    groups: dict[str, list[Row]] = {}
    for row in collected.rows:
        groups.setdefault(row["fingerprint"], []).append(row)
    return [(runs.get(fingerprint), rows) for fingerprint, rows in groups.items()]


def query(collected: Collected, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Run a query over the tables `results`, `runs` and `samples`; return its columns and rows.

    >>> query(Collected(), "select count(*) as n from results")
    (['n'], [(0,)])
    """
    import duckdb

    with (
        tempfile.TemporaryDirectory() as place,
        duckdb.connect(Path(place) / "tables.duckdb", config={**QUIET, **BOUNDED}) as connection,
    ):
        tables = {"results": (RESULTS, collected.rows), "runs": (RUNS, collected.runs)}
        for name, (columns, rows) in tables.items():
            _fill(connection, name, columns, _write_lines(rows, Path(place) / f"{name}.jsonl"))
        if collected.logs and re.search(r"\bsamples\b", sql, re.IGNORECASE):
            _fill_samples(connection, collected.logs)
        connection.execute(LOCKED)
        try:
            answer = connection.execute(_question(connection, sql))
            for name, kind, *_ in answer.description:
                if "TIME ZONE" in str(kind):
                    raise TenfoldError(
                        f'the SQL failed: "{name}" is a time with a zone; write it as cast({name} as timestamp)'
                    )
            return _numbered([column[0] for column in answer.description]), answer.fetchall()
        except duckdb.Error as error:
            raise TenfoldError(f"the SQL failed: {_reason(error)}") from None
        except (ArithmeticError, ValueError, TypeError, ImportError) as error:  # no Python value
            reason = " ".join(str(error).split())[:160]
            raise TenfoldError(f"the SQL failed: a value cannot be shown: {reason}") from None


def _question(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """Return the single statement of the SQL, which must be a query."""
    stated = connection.extract_statements(sql)
    if len(stated) != 1:
        problem = f"holds {len(stated)} statements; write one" if stated else "asks nothing"
        raise TenfoldError(f'the SQL {problem}, such as "select * from results"')
    if (kind := stated[0].type.name) not in QUERIES:
        raise TenfoldError(f'the SQL may ask, not {kind}; such as "select * from results"')
    return stated[0]


def _numbered(names: Sequence[str]) -> list[str]:
    """Make column names unique: `n`, `n_2`. In JSON one of two equal names would hide the other."""
    unique: list[str] = []
    for name in names:
        free = (f"{name}_{number}" for number in itertools.count(2))
        unique.append(
            name if name not in unique else next(n for n in free if n not in (*names, *unique))
        )
    return unique


def _reason(error: duckdb.Error) -> str:
    """Return DuckDB's message on one line, without the marked query."""
    message = " ".join(str(error).partition("\n\nLINE ")[0].split())
    if "Table with name samples does not exist" in message:
        return "there is no table samples, since none of the runs has a log of samples"
    return message


def _write_lines(rows: Sequence[Row], path: Path) -> Path:
    with path.open("w") as file:
        file.writelines(f"{json.dumps(dict(row))}\n" for row in rows)  # never all in memory
    return path


def _fill(
    connection: duckdb.DuckDBPyConnection, name: str, columns: dict[str, str], *files: Path
) -> None:
    """A table of lines of JSON, which is a hundred times as fast as inserting rows."""
    stated = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    kinds = ", ".join(f"'{column}': '{kind}'" for column, kind in columns.items())
    connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({stated})")
    for file in files:
        connection.execute(
            f"INSERT INTO {name} SELECT * FROM read_json({_quoted(file)}, "
            f"format = 'newline_delimited', columns = {{{kinds}}}, maximum_object_size = {2**26})"
        )


def _fill_samples(connection: duckdb.DuckDBPyConnection, logs: Sequence[Path]) -> None:
    import duckdb

    _fill(connection, "samples", SAMPLES)
    lacking = " OR ".join(
        f'"{column}" IS NULL' for column in SAMPLES if column not in NULLABLE_OF_SAMPLES
    )
    for log in logs:
        if not _as_stated(log):
            _leave_out(log, "it was changed after it was written")
            continue
        with _plainly_named(log) as path:
            try:
                _fill(connection, "log", SAMPLES, path)
                if connection.execute(f"SELECT 1 FROM log WHERE {lacking} LIMIT 1").fetchone():
                    _leave_out(log, f"a line has not all of {', '.join(SAMPLES)}")
                else:
                    connection.execute("INSERT INTO samples FROM log")
            except duckdb.Error as error:
                _leave_out(log, _reason(error).replace(str(path), log.name)[:160])
            connection.execute("DROP TABLE log")


def _as_stated(log: Path) -> bool:
    """Whether a log of samples is as the result beside it states; results of earlier versions state nothing."""
    try:
        files = read_json_mapping(log.parent, "result.json", "a result").get("files")
    except FileNotFoundError:  # a log that is beside no run
        return True
    known = files.get(log.name) if isinstance(files, dict) else None
    return known is None or known == size_and_hash(log.parent, log.name)


def _leave_out(log: Path, why: str) -> None:
    warnings.warn(f"{log} is damaged and left out: {why}", stacklevel=4)


def _from_parquet(path: Path, columns: dict[str, str]) -> list[Row]:
    if not path.is_file():
        raise TenfoldError(f"there are no results in {path}")
    import duckdb

    with _plainly_named(path) as named, duckdb.connect(config=QUIET) as connection:
        try:
            made = f"SELECT decode(value) FROM parquet_kv_metadata({_quoted(named)}) WHERE key = 'tenfold'"
            for (version,) in connection.execute(made).fetchall():
                check_version(version)
            table = f"read_parquet({_quoted(named)})"
            present = {name for name, *_ in connection.execute(f"DESCRIBE FROM {table}").fetchall()}
            wanted = ", ".join(
                f'"{column}"::{kind}'
                if column in present or column not in SINCE
                else ("NULL" if SINCE[column] is None else f"'{SINCE[column]}'")
                for column, kind in columns.items()
            )
            selection = f"SELECT {wanted} FROM {table}"
            values = connection.execute(selection).fetchall()
        except LeftOut as reason:
            raise TenfoldError(f"{path}: {reason}") from None
        except duckdb.Error as error:
            message = _reason(error).replace(str(named), str(path))[:160]
            raise TenfoldError(f"{path} holds no results: {message}") from None
    rows: list[Row] = [dict(zip(columns, row, strict=True)) for row in values]
    for column in columns.keys() - NULLABLE - NULLABLE_OF_RUNS:
        if not all(_is_there(row[column]) for row in rows):
            raise TenfoldError(f"{path} is damaged: a row has no {column}")
    return rows


def _is_there(value: Any) -> bool:
    return value is not None and (not isinstance(value, float) or math.isfinite(value))


@contextmanager
def _plainly_named(path: Path) -> Iterator[Path]:
    """The file under a name without `*`, `[` or `?`, which DuckDB would take for a pattern."""
    with tempfile.TemporaryDirectory() as place:
        link = Path(place) / f"file{path.suffix}"
        os.symlink(path.resolve(), link)
        yield link


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
