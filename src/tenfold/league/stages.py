"""Stages of an entry: trainings that follow each other and share the budget of one.

A stage is a change of the entry's recipe. It may begin with the weights of the stage before it, and it may take further
changes from that run, such as the lines of a calibration. Features add such ways by entry points of the group
`tenfold.league_stages`: a function that takes a finished run and returns changes of a recipe.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Registry
from tenfold.league.budget import flops_per_step, signature, within_budget
from tenfold.league.tracks import LeagueTrack
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run

FROM_RUN: Registry[Mapping[str, Any]] = Registry("way to a next stage", "tenfold.league_stages")


@dataclass(frozen=True)
class LeagueStage:
    """One training of an entry, with a share of its budget.

    `LeagueStage(0.1, {"pe": "none"}, warm=True)`: a tenth of the budget without positions, from the weights before.
    """

    share: float
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the entry's recipe
    warm: bool = False  # begins with the weights of the stage before
    takes: str | None = (
        None  # a name in `FROM_RUN`: further changes, from the run of the stage before
    )


WHOLE = (LeagueStage(1.0),)


def check_stages(name: str, stages: Sequence[LeagueStage]) -> None:
    """Raise for stages that do not share one budget, and for a first stage that has none before it."""
    total = math.fsum(stage.share for stage in stages)
    if not math.isclose(total, 1.0):
        raise TenfoldError(
            f'the stages of the entry "{name}" have {total:g} of the budget; 1 is right'
        )
    if stages[0].warm or stages[0].takes is not None:
        raise TenfoldError(f'the first stage of the entry "{name}" has no stage before it')


def declared(recipe: Recipe, stages: Sequence[LeagueStage]) -> str:
    """What identifies an entry's recipe and stages, whatever its seed, its rate and the steps of its budget."""
    first, *more = [
        (signature(recipe.replace(**stage.changes)), stage.share, stage.warm, stage.takes)
        for stage in stages
    ]
    if not more:
        return first[0]
    return hashlib.sha256(repr((first, *more)).encode()).hexdigest()[:12]


def stage_recipe(
    track: LeagueTrack,
    recipe: Recipe,
    stages: Sequence[LeagueStage],
    number: int,
    before: Run | None = None,
) -> Recipe:
    """The recipe of a stage within its share of the budget; the last one has the entry's own name."""
    stage = stages[number]
    changed = recipe.replace(**stage.changes)
    if number < len(stages) - 1:
        few = {"lengths": list(recipe.validated), "n": recipe.eval.validation_n}
        changed = changed.replace(name=f"{recipe.name}-stage-{number + 1}", stop=None, eval=few)
    if before is not None and stage.takes is not None:
        changed = changed.replace(**FROM_RUN[stage.takes](before))
    if before is not None and stage.warm:
        changed = changed.replace(train={"from": str(before.folder)})
    return within_budget(track, changed, stage.share)


def account(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What each stage took: steps, operations of a step, seconds."""
    return [
        {
            "fingerprint": run.recipe.fingerprint,
            "steps": (result := run.result())["steps"],
            "flops_per_step": flops_per_step(run.recipe),
            "seconds": result["train_seconds"],
        }
        for run in runs
    ]
