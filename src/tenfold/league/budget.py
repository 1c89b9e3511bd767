"""Equal compute: the steps that a budget of operations allows, and the trial of learning rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenfold.evals.metrics import direction
from tenfold.league.tracks import ROUNDED, TRIED, Track
from tenfold.runs.build import build
from tenfold.runs.cost import count
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run


def flops_per_step(recipe: Recipe) -> int:
    """Operations of one step on problems of the longest trained length; a multiplication and an addition are two."""
    alike = recipe.replace(seed=0, data={"lengths": "longest"})
    return count(build(alike)).flops_per_step


def within_budget(track: Track, recipe: Recipe, share: float = 1.0) -> Recipe:
    """The recipe with the steps that a share of the budget allows: a costlier method has fewer."""
    steps = int(track.budget * share / flops_per_step(recipe)) // ROUNDED * ROUNDED
    steps = max(steps, ROUNDED)
    train = {"steps": steps, "warmup": min(recipe.train.warmup, steps // 4)}
    return recipe.replace(train=train, eval={"every": min(recipe.eval.every, steps)})


def trials(track: Track, recipe: Recipe) -> list[Recipe]:
    """The recipes that learning rates are tried with: seed 0, a share of the budget each, no ladder. None for one rate."""
    if len(track.rates) < 2:
        return []
    short = within_budget(track, recipe.replace(seed=0, stop=None), TRIED)
    few = {"lengths": list(short.validated), "n": short.eval.validation_n}
    return [
        short.replace(name=f"{recipe.name}-rate-{rate:g}", train={"lr": rate}, eval=few)
        for rate in track.rates
    ]


def tried(track: Track, runs: Sequence[Run]) -> dict[float, float]:
    """What each rate reached on validation problems of trained lengths: the mean over lengths."""
    scores: dict[float, float] = {}
    for run in runs:
        source, recipe = run.built.source, run.recipe
        rows = source.measure(
            run.answerer("final"),
            recipe.validated,
            ["uniform"],
            recipe.eval.validation_n,
            validation=True,
        )
        values = [row.value for row in rows if row.metric == track.tried_by]
        scores[recipe.train.lr] = sum(values) / len(values)
    return scores


def chosen_rate(track: Track, scores: Mapping[float, float]) -> float:
    """The best rate, the lowest of equal ones; with one rate, that one."""
    if not scores:
        return track.rates[0]
    sign = direction(track.tried_by)
    return max(sorted(scores), key=lambda rate: sign * scores[rate])


def signature(recipe: Recipe) -> str:
    """What identifies the recipe of an entry, whatever its seed, its rate and the steps of its budget."""
    free = {"steps": 1, "lr": 0.001, "warmup": 0}
    return recipe.replace(seed=0, train=free, eval={"every": 1}).fingerprint
