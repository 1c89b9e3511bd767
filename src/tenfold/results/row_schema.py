"""What a measurement, a run and its result must look like, wherever they were kept: in a run's folder or a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pydantic

from tenfold import __version__
from tenfold.core.errors import TenfoldError
from tenfold.core.registry import first_problem
from tenfold.evals.metrics import LOWER, SHARES
from tenfold.runs.environment import version_numbers
from tenfold.runs.recipe import Recipe

Fields = dict[str, Any]  # a row by the names of its columns

CHECKPOINTS = ("best", "final")
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


class Measured(_Checked):
    """A row of a result."""

    length: Positive
    slice: Word
    metric: Word
    value: float
    n: Positive
    low: float | None
    high: float | None
    checkpoint: Literal["best", "final"]

    @pydantic.field_validator("value")
    @classmethod
    def _in_bounds(cls, value: float, known: pydantic.ValidationInfo) -> float:
        check_share(known.data.get("metric", ""), value)
        return value


class Environment(_Checked):
    model_config = pydantic.ConfigDict(extra="allow", strict=True, frozen=True)
    tenfold: Word
    commit: Word | None
    date: Word


class Ran(_Checked):
    """What a run came to, its measurements apart."""

    fingerprint: Word
    seed: Count
    steps: Count
    reason: Word | None
    best_step: Count | None
    parameters: Count
    train_seconds: Seconds


class Result(Ran):
    """What a `result.json` must say."""

    rows: Annotated[list[Measured], pydantic.Field(min_length=1)]
    environment: Environment


class _Told(_Checked):
    """What a row of a table says of where it comes from."""

    run: Word
    paper: Word
    claim: Word
    recipe: Word
    task: Word
    format: Word
    encoding: Word
    scheme: Word
    label: Word
    seed: Count
    fingerprint: Word
    commit: Word | None
    date: Word


class _Row(Measured, _Told):
    """A row of a table: a measurement, and the run it is of."""

    trained: Positive
    steps: Count


class _Added(_Told):
    """A row that an experiment adds to what runs measure by themselves: of no run, of no length, at any checkpoint."""

    trained: Positive | None
    steps: Count | None
    length: Positive | None
    slice: Word
    metric: Word
    value: float
    n: Count
    low: float | None
    high: float | None
    checkpoint: Annotated[str, pydantic.Field(pattern=r"^(best|final|step-\d+)?$")]


ROWS, ADDED = pydantic.TypeAdapter(list[_Row]), pydantic.TypeAdapter(list[_Added])


def check_share(metric: str, value: float) -> None:
    if metric in SHARES and not 0 <= value <= 1:
        raise ValueError(f"{metric} is a share, and {value} is none")


def check_version(made: object) -> None:
    """A newer version may mean other things by the same words."""
    if isinstance(made, str) and version_numbers(made) > version_numbers(__version__):
        raise LeftOut(f"made by tenfold {short(made)}, newer than this {__version__}")


def by_itself(row: Fields) -> bool:
    """Whether a run measures this by itself; what an experiment adds is another metric, a checkpoint on the way, or of no run."""
    usual = row["metric"] in (*SHARES, *LOWER) and row["checkpoint"] in CHECKPOINTS
    return bool(row["fingerprint"]) and usual


def check_run(run: Fields | None, rows: Sequence[Fields]) -> None:
    """The same checks for a run in a table, `run` as in `RUNS`, if it is told, `rows` as in `RESULTS`."""
    made = None if run is None else _loaded(run, "environment")
    if made is not None:
        check_version(made.get("tenfold"))
    try:
        ROWS.validate_python([row for row in rows if by_itself(row)])
        ADDED.validate_python([row for row in rows if not by_itself(row)])
        if run is not None:
            Ran.model_validate({key: run[key] for key in Ran.model_fields})
            Environment.model_validate(made)
    except pydantic.ValidationError as error:
        raise LeftOut(f"damaged: {short(first_problem(error))}") from None
    check_once(rows)
    if run is not None:
        _check_recipe(run)


def _check_recipe(run: Fields) -> None:
    try:
        recipe = Recipe.of(_loaded(run, "recipe"))
    except (TenfoldError, RecursionError) as error:
        raise LeftOut(f"its recipe cannot be read: {short(str(error))}") from None
    if (recipe.fingerprint, recipe.seed) != (run["fingerprint"], run["seed"]):
        raise LeftOut(f"damaged: its recipe is {recipe.fingerprint}, not {run['fingerprint']}")


def _loaded(run: Fields, key: str) -> dict[str, Any]:
    try:
        held = json.loads(run[key])
    except (ValueError, RecursionError) as error:
        raise LeftOut(f"its {key} cannot be read: {short(str(error))}") from None
    if not isinstance(held, dict):
        raise LeftOut(f"its {key} cannot be read: it is {short(run[key])}")
    return held


def check_once(rows: Sequence[Fields]) -> list[Fields]:
    """The rows of a run, each once; two that differ are damage."""
    found: dict[tuple[Any, ...], Fields] = {}
    for row in rows:
        if found.setdefault(asked(row), row) != row:
            raise LeftOut(f"damaged: {' '.join(map(str, asked(row)))} is there twice")
    return list(found.values())


def asked(row: Fields) -> tuple[Any, ...]:
    """What tells a row from the others of its run; of a row of no run, nothing less than all of it."""
    keys = ("checkpoint", "length", "slice", "metric") if row["fingerprint"] else tuple(row)
    return tuple(row[key] for key in keys)


def short(text: str, longest: int = 160) -> str:
    """Fit for a line on a terminal."""
    text = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
