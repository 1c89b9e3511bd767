"""What the runs of a method cost: parameters, operations of training, seconds of processor cores."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tenfold.core.errors import TenfoldError
from tenfold.results.row_schema import Row
from tenfold.runs.recipe import Recipe


@dataclass(frozen=True)
class MethodCost:
    """Medians over the runs of a method. None: the runs do not say it."""

    parameters: int | None = None
    flops: float | None = None  # of the whole training
    core_seconds: float | None = None  # of the whole training, on processors


def method_cost(runs: Sequence[Row], *, count: bool = True) -> MethodCost:
    """Return what runs that differ in their seed alone cost; with `count`, operations are counted from the recipe."""
    recipes = [Recipe.of(json.loads(run["recipe"])) for run in runs]
    per_step = _flops_per_step(runs[0]["recipe"], runs[0]["parameters"]) if count else None
    seconds = [_core_seconds(*each) for each in zip(runs, recipes, strict=True)]
    known = [value for value in seconds if value is not None]
    return MethodCost(
        round(statistics.median(run["parameters"] for run in runs)),
        None if per_step is None else per_step * statistics.median(run["steps"] for run in runs),
        statistics.median(known) if len(known) == len(runs) else None,
    )


@cache
def _flops_per_step(recipe: str, parameters: int) -> int | None:
    """Count the operations of one training step; None where the model cannot be built as it was trained."""
    from tenfold.runs.build import build
    from tenfold.runs.cost import count

    try:
        counted = count(build(Recipe.of(json.loads(recipe))))
    except TenfoldError:  # such as a component that is not installed here
        return None
    return counted.flops_per_step if counted.parameters == parameters else None


def _core_seconds(run: Row, recipe: Recipe) -> float | None:
    """Seconds of training times the cores that it kept; None where a device other than the processor computed."""
    if recipe.train.device != "cpu":
        return None
    processes = json.loads(run["environment"]).get("processes", 1)
    return float(run["train_seconds"] * recipe.train.threads * processes)
