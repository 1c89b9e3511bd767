"""The schema of results: the columns of a result row, of a run and of a sample, stated once.

Column names, DuckDB types, the parsing of CSV and all validation derive from the classes below. A row is a dict:

>>> list(RESULTS)[:4], RESULTS["value"], RESULTS["trained"]
(['run', 'paper', 'claim', 'recipe'], 'DOUBLE', 'BIGINT')
>>> "length" in NULLABLE, EMPTY["n"], EMPTY["length"]
(True, 0, None)
"""

from __future__ import annotations

import dataclasses
import json
import math
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import pydantic

from tenfold import __version__
from tenfold.core.errors import TenfoldError
from tenfold.core.registry import first_problem
from tenfold.evals.metrics import SHARES, TEXT
from tenfold.evals.statistics import Measurement
from tenfold.runs.environment import version_numbers
from tenfold.runs.recipe import Recipe

Row = Mapping[str, Any]  # values by the names of their columns

CHECKPOINTS = ("best", "final")
# columns that older files do not have, and what these mean by that
SINCE: dict[str, Any] = {"evaluated_pe": "", "whole": None}
Count = Annotated[int, pydantic.Field(ge=0, lt=2**63)]
Positive = Annotated[int, pydantic.Field(ge=1, lt=2**63)]
Seconds = Annotated[float, pydantic.Field(ge=0)]


class LeftOut(Exception):
    """Why a run is not among the results."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("characters that cannot be printed")
    return text


Word = Annotated[str, pydantic.AfterValidator(_printable)]


class _Checked(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


def _in_bounds(value: float, known: pydantic.ValidationInfo) -> float:
    check_share(known.data.get("metric", ""), value)
    return value


class ResultRow(_Checked):
    """A row of a table of results: a measurement, and where it comes from.

    An experiment may add rows that no run measures by itself: without a run, without a length, at any checkpoint.
    Columns with a default may be left out of such a row.
    """

    run: Word = ""
    paper: Word = ""
    claim: Word = ""
    recipe: Word
    task: Word = ""
    format: Word = ""
    encoding: Word = ""
    scheme: Word = ""
    label: Word = ""
    seed: Count = 0
    trained: Positive | None = None
    length: Positive | None = None
    slice: Word = ""
    metric: Word
    value: float
    n: Count = 0
    low: float | None = None
    high: float | None = None
    checkpoint: Annotated[str, pydantic.Field(pattern=r"^(best|final|step-\d+)?$")] = ""
    steps: Count | None = None
    fingerprint: Word = ""
    commit: Word | None = ""
    date: Word = ""
    evaluated_pe: Word = ""  # the encoding that was used in the place of the run's own
    whole: Count | None = None  # answers by tokens in sight that the whole sequence confirmed

    _in_bounds = pydantic.field_validator("value")(_in_bounds)


class MeasuredRow(ResultRow):
    """A row that a run measures by itself."""

    trained: Positive
    length: Positive
    n: Positive
    checkpoint: Literal["best", "final"]
    steps: Count
    evaluated_pe: Literal[""] = ""


MEASURED = (*(field.name for field in dataclasses.fields(Measurement)), "checkpoint")
_STORED: dict[str, Any] = {
    name: (MeasuredRow.model_fields[name].rebuild_annotation(), ...) for name in MEASURED
}
_STORED |= {name: (_STORED[name][0], default) for name, default in SINCE.items()}
StoredRow: Any = (
    pydantic.create_model(  # a row of `result.json`: what differs between rows of a run
        "StoredRow",
        __base__=_Checked,
        __validators__={"_in_bounds": pydantic.field_validator("value")(_in_bounds)},
        **_STORED,
    )
)


class _Environment(_Checked):
    model_config = pydantic.ConfigDict(extra="allow", strict=True, frozen=True)
    tenfold: Word
    commit: Word | None
    date: Word


class _Source(_Checked):
    run: Word
    recipe: str
    environment: str


class RunOutcome(_Checked):
    """What a run came to, its measurements apart."""

    parameters: Count
    steps: Count
    train_seconds: Seconds
    reason: Word | None
    best_step: Count | None
    fingerprint: Word
    seed: Count


class RunRow(RunOutcome, _Source):
    """A row of a table of runs; recipe and environment are JSON."""


class StoredResult(RunOutcome):
    """The content of a `result.json`."""

    rows: Annotated[list[StoredRow], pydantic.Field(min_length=1)]
    environment: _Environment


class SampleRow(_Checked):
    """A row of a table of samples: one problem, and what the model answered."""

    run: Word
    seed: Count
    checkpoint: str
    length: Positive
    slice: Word
    prompt: str
    truth: str
    answer: str
    right: bool
    cascade: Count | None
    evaluated_pe: Word | None = None  # logs of older versions have no such field


KINDS = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}  # of DuckDB


def _types(schema: type[_Checked]) -> dict[str, set[type]]:
    """The Python types that each column allows."""
    hints = typing.get_type_hints(schema)
    return {
        name: set(typing.get_args(hints[name])) or {hints[name]} for name in schema.model_fields
    }


def _columns(schema: type[_Checked]) -> dict[str, str]:
    """The DuckDB type of each column."""
    plain = {name: kinds - {type(None)} for name, kinds in _types(schema).items()}
    return {name: KINDS[kind] for name, (kind,) in plain.items()}


RESULTS, RUNS, SAMPLES = _columns(ResultRow), _columns(RunRow), _columns(SampleRow)
COLUMNS = tuple(RESULTS)
NULLABLE = {name for name, kinds in _types(ResultRow).items() if type(None) in kinds}
NULLABLE_OF_RUNS = {name for name, kinds in _types(RunRow).items() if type(None) in kinds}
NULLABLE_OF_SAMPLES = {name for name, kinds in _types(SampleRow).items() if type(None) in kinds}
_FIELDS = ResultRow.model_fields.items()
EMPTY: Row = {name: None if field.is_required() else field.default for name, field in _FIELDS}
NEEDED = [name for name, field in _FIELDS if field.is_required()] + ["seed"]
ADDED = pydantic.TypeAdapter(list[ResultRow])
OWN = pydantic.TypeAdapter(list[MeasuredRow])


def parse_value(column: str, text: str) -> Any:
    """A value of a CSV file; an empty number is None.

    >>> parse_value("length", "5"), parse_value("low", ""), parse_value("slice", "")
    (5, None, '')
    """
    parsers = {"BIGINT": int, "DOUBLE": float}
    if (parser := parsers.get(RESULTS[column])) is None:
        return text
    return parser(text) if text else None


def check_row(row: Row) -> None:
    """Raise where a row lacks what a claim is decided by."""
    for key in NEEDED:
        if row.get(key) in (None, ""):
            raise ValueError(f"a row has no {key}")
    if not math.isfinite(row["value"]):
        raise ValueError(f"a row has the value {row['value']}")
    check_share(row["metric"], row["value"])


def check_share(metric: str, value: float) -> None:
    if metric in SHARES and not 0 <= value <= 1:
        raise ValueError(f"{metric} is a share, and {value} is none")


def check_version(made: object) -> None:
    """Raise if results were made by a newer version, which may mean something else by the same names."""
    if made == __version__ or not isinstance(made, str):
        return
    if version_numbers(made) > version_numbers(__version__):
        raise LeftOut(f"made by tenfold {short(made)}, newer than this {__version__}")


def by_itself(row: Row) -> bool:
    """Return whether a run measures this row itself; experiments add other metrics, checkpoints and rows without a run."""
    usual = row["metric"] in (*SHARES, *TEXT) and row["checkpoint"] in CHECKPOINTS
    return bool(row["fingerprint"]) and usual and not row["evaluated_pe"]


def check_run(run: Row | None, rows: Sequence[Row]) -> None:
    """Check a run of a table and its rows; `run` is None if only its rows are known."""
    made = None if run is None else _loaded(run, "environment")
    if made is not None:
        check_version(made.get("tenfold"))
    try:
        OWN.validate_python([row for row in rows if by_itself(row)])
        ADDED.validate_python([row for row in rows if not by_itself(row)])
        if run is not None:
            RunOutcome.model_validate({key: run[key] for key in RunOutcome.model_fields})
            _Environment.model_validate(made)
    except pydantic.ValidationError as error:
        raise LeftOut(f"damaged: {short(first_problem(error))}") from None
    check_once(rows)
    if run is not None:
        _check_recipe(run)


def _check_recipe(run: Row) -> None:
    try:
        recipe = Recipe.of(_loaded(run, "recipe"))
    except (TenfoldError, RecursionError) as error:
        raise LeftOut(f"its recipe cannot be read: {short(str(error))}") from None
    if (recipe.fingerprint, recipe.seed) != (run["fingerprint"], run["seed"]):
        raise LeftOut(f"damaged: its recipe is {recipe.fingerprint}, not {run['fingerprint']}")


def _loaded(run: Row, key: str) -> dict[str, Any]:
    try:
        loaded = json.loads(run[key])
    except (ValueError, RecursionError) as error:
        raise LeftOut(f"its {key} cannot be read: {short(str(error))}") from None
    if not isinstance(loaded, dict):
        raise LeftOut(f"its {key} cannot be read: it is {short(run[key])}")
    return loaded


def check_once(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of a run, each once; two rows with one key and different values are an error."""
    by_key: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        if by_key.setdefault(row_key(row), row) != row:
            named = " ".join(str(value) for value in row_key(row) if value != "")
            raise LeftOut(f"damaged: {named} is there twice")
    return list(by_key.values())


def row_key(row: Row) -> tuple[Any, ...]:
    """Return what identifies a row within its run; a row without a run is identified by all its values."""
    own = ("checkpoint", "length", "slice", "metric", "evaluated_pe")
    keys = own if row["fingerprint"] else tuple(row)
    return tuple(row[key] for key in keys)


def short(text: str, longest: int = 160) -> str:
    """Shorten text to one line of a terminal."""
    text = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
