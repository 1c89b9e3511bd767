"""The second stage of calibration, as experiments train it: a run's own lines, and a part of its steps again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tenfold.features.calibration.calibrate import ENOUGH, calibrate, with_lines
from tenfold.features.calibration.calibration import Calibration, Positions
from tenfold.ledger.experiments import Lab
from tenfold.ledger.measurements import looked_at
from tenfold.results.collect import collect
from tenfold.results.row_schema import Row
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run

PART = 4  # of the first training's steps, a quarter


@dataclass(frozen=True)
class Second:
    """A finished run, its calibration, and the recipe of the second training with these lines."""

    first: Run
    calibration: Calibration
    recipe: Recipe


def second(
    first: Run,
    name: str,
    *,
    positions: Positions = "drop",
    steps: int | None = None,
    tuned: bool = False,
    **options: Any,
) -> Second:
    """Calibrate a run, however accurate it is, for a second training under this name; `options` are those of `calibrate`.

    The second training begins anew, or if `tuned`, with the weights of the first.
    """
    calibration = calibrate(first, allow_imperfect=True, **options)
    trained = first.recipe
    changes: dict[str, Any] = {
        "name": name,
        # so few steps at a constant rate end anywhere: N x 1 was 86% right at ten times its length, and is 98% with this
        "train": {"steps": steps or steps_again(trained), "schedule": "cosine"},
        "eval": {
            "every": max(1, trained.eval.every // 2)
        },  # to see when it is as good as the first
    }
    if tuned:
        changes["train"]["from"] = str(first.folder)
    return Second(
        first, calibration, with_lines(trained, calibration, positions).replace(**changes)
    )


def steps_again(recipe: Recipe) -> int:
    """The steps of a second training of this recipe, if an experiment does not say otherwise."""
    return max(1, recipe.train.steps // PART)


def train_second(lab: Lab, stages: Sequence[Second]) -> Iterator[tuple[Second, Run]]:
    """Train all of them; each with its run."""
    finished = {run.recipe.run_name: run for run in lab.sweep([each.recipe for each in stages])}
    for each in stages:
        yield each, finished[each.recipe.run_name]


def rows_of_all(lab: Lab, stages: Sequence[Second]) -> Iterator[Row]:
    """Train every different recipe once; the rows of all stages, each under its own name.

    Two settings may keep the same lines, and then they are one training. Collected rows have it under its first name alone.
    """
    alike: dict[str, list[Second]] = {}
    for stage in stages:
        alike.setdefault(stage.recipe.fingerprint, []).append(stage)
    for first, run in train_second(lab, [same[0] for same in alike.values()]):
        for stage in alike[first.recipe.fingerprint]:
            name = {"recipe": stage.recipe.name}
            yield from ({**row, **name} for row in calibrated_rows(lab, stage, run))
            if stage is not first:
                yield from ({**row, **name} for row in collect([run.folder]).rows)


def calibrated_rows(lab: Lab, stage: Second, run: Run) -> Iterator[Row]:
    """Rows of the calibration and of what the second training cost.

    `first-exact`: what the first model had right of problems as it was trained on; `lines` kept, `transparent` heads (all heads
    see something, or everything); `share-of-steps` until 99% are right at the training length, of those the first needed,
    where both came that far.
    """
    about = {**lab.about(run), "checkpoint": ""}
    calibration, right = stage.calibration, stage.calibration.accuracy
    yield {
        **about, "metric": "first-exact", "value": right.value, "n": right.n, "low": right.low, "high": right.high,
    }  # fmt: skip
    yield {**about, "metric": "lines", "value": calibration.kept}
    yield {
        **about,
        "metric": "transparent",
        "value": len(calibration.transparent) / len(calibration.heads),
    }
    ours, before = steps_until(run), steps_until(stage.first)
    if ours is not None and before is not None:
        yield {**about, "metric": "share-of-steps", "value": ours / before}


def steps_until(run: Run, enough: float = ENOUGH) -> int | None:
    """The first step whose evaluation at the training length was this accurate; None where there is none."""
    trained = run.recipe.data.length
    return next((step for step, exact in looked_at(run) if exact[trained] >= enough), None)
