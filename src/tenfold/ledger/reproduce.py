"""Reproduce an experiment, or every experiment of a paper: train, measure, write results, judge the claims.

    tenfold reproduce bias/calibration --scale smoke
    tenfold.reproduce("bias/calibration", scale="smoke")

The path: `find` the experiments; check that their results can be written (`check_place`); for each of them train its
recipes and measure (`Experiment.run`), write rows, tables and figures, all or nothing (`commit`), fill in the pages,
and compare the statuses of the paper's claims before and after. Finished runs are not trained again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tenfold.core.errors import Stopped, TenfoldError
from tenfold.core.files import write_atomically
from tenfold.drawing.curves import results_table
from tenfold.drawing.run_groups import story_of
from tenfold.ledger.changed_experiment import (
    Changes,
    changed_folder,
    changed_recipes,
    run_changed,
)
from tenfold.ledger.claim_text import write_claims
from tenfold.ledger.experiments import DrawingContext, Experiment, Lab, find
from tenfold.ledger.paper_page import PAGE, fill_page
from tenfold.ledger.results_folder import beside, check_place, commit, keep_shown, shown_figures
from tenfold.ledger.statuses import ledger
from tenfold.results.committed import SHELVES
from tenfold.runs.recipe import Recipe
from tenfold.sweeps.sweep import sweep
from tenfold.sweeps.sweep_progress import Board


@dataclass(frozen=True)
class Reproduction:
    """One experiment: the folder of its results and the claims it bears on, or why it failed."""

    experiment: str
    scale: str
    folder: Path | None = None
    failed: str | None = None
    log: tuple[str, ...] = ()  # the last lines of failed runs
    claims: tuple[dict[str, str], ...] = ()  # id, status before, status after

    def as_json(self) -> dict[str, Any]:
        folder = None if self.folder is None else str(self.folder)
        return {"experiment": self.experiment, "scale": self.scale, "folder": folder, "failed": self.failed,
                "claims": list(self.claims)}  # fmt: skip


def reproduce(
    name: str,
    scale: str = "laptop",
    *,
    seeds: Sequence[int] | None = None,
    only: Sequence[str] = (),
    add: bool = False,
    changes: Changes | None = None,
    out: Path | str | None = None,
    runs: Path | str = "runs",
    on: str = "local",
    workers: int | None = None,
    address: str | None = None,
    callback: Callable[[Reproduction], object] | None = None,
    expect: Callable[[Sequence[Recipe]], object] | None = None,
) -> list[Reproduction]:
    """Run a paper's experiments and let their results decide its claims; the same call again completes it.

    An experiment that fails leaves its results as they were and says why in `failed`; the others go on.

    Arguments:
        name: a paper (`symmetry`), or one experiment (`symmetry/addition`).
        scale: "smoke", "laptop" or "paper".
        seeds: in place of the experiment's own.
        only: names of some of its recipes; needs `add`.
        add: keep committed recipes and seeds that are not run now, and put the new ones beside them.
        changes: settings laid over every recipe, such as `{"pe": "fire", "train": {"lr": 0.003}}`. The results are written
            apart, with figures over the committed curves (`changed_experiment.py`), and decide no claim.
        out: the folder of results; by default `results`, or `RUNS/tried` at smoke scale, which decides no claim, or
            `RUNS/changed` with changes.
        runs: the folder of the runs.
        on: "local", or "ray" with the `address` of a cluster.
        workers: how many cores to use; by default all of them.
        callback: is called with each experiment when it is done.
        expect: is called once with all recipes, when it is known that results can be written and before anything is trained.
    """
    chosen = find(name)
    if changes:
        chosen = _trained(chosen, scale)
    elif only and not add:
        raise TenfoldError(
            "--only would leave out committed results of other recipes; name --add too"
        )
    apart = Path(runs, "changed" if changes else "tried")
    shelf = Path(out or (apart if changes or scale == "smoke" else "results"))
    folders = [
        changed_folder(shelf, each, changes, scale) if changes else each.folder(shelf, scale)
        for each in chosen
    ]
    for experiment, folder in zip(chosen, folders, strict=True):
        check_place(folder, _planned(experiment, changes, scale, seeds, only), add)
    if expect is not None:
        expect(recipes_to_train(name, scale, seeds, only, changes))

    def train(recipes: Sequence[Recipe]) -> list[Any]:
        with Board() as board:
            return sweep(recipes, runs, on=on, workers=workers, address=address, progress=board)

    done: list[Reproduction] = []
    for experiment, folder in zip(chosen, folders, strict=True):
        decides = scale != "smoke" and not changes  # smoke runs are too small to decide a claim
        before = _statuses(experiment, shelf) if decides else {}
        lab = Lab(scale, seeds, train)
        if changes:
            work = partial(run_changed, experiment, lab, changes, folder, add, only)
        else:
            work = partial(run_and_commit, experiment, lab, shelf, add, only)
        result = _try(experiment, scale, work)
        if decides and result.folder is not None:
            _update_pages(experiment.paper, shelf)
            after = _statuses(experiment, shelf)
            claims = tuple(
                {"id": key, "before": before.get(key, "new"), "after": after[key]} for key in after
            )
            result = replace(result, claims=claims)
        done.append(result)
        if callback is not None:
            callback(result)
    return done


def recipes_to_train(
    name: str,
    scale: str,
    seeds: Sequence[int] | None = None,
    only: Sequence[str] = (),
    changes: Changes | None = None,
) -> list[Recipe]:
    """The recipes that experiments train before they measure, each once."""
    recipes = (
        recipe for each in find(name) for recipe in _planned(each, changes, scale, seeds, only)
    )
    return list({recipe.run_name: recipe for recipe in recipes}.values())


def steps_later(
    name: str, scale: str, seeds: Sequence[int] | None = None, only: Sequence[str] = ()
) -> dict[str, int]:
    """By the name of a run, the steps of further trainings that follow from it, which `recipes_to_train` cannot know."""
    steps: Counter[str] = Counter()
    for each in find(name):
        for recipe in each.recipes(scale, seeds, only):
            steps[recipe.run_name] += each.steps_later(recipe)
    return dict(steps)


def _planned(
    experiment: Experiment,
    changes: Changes | None,
    scale: str,
    seeds: Sequence[int] | None,
    only: Sequence[str],
) -> list[Recipe]:
    if changes:
        return changed_recipes(experiment, changes, scale, seeds, only)
    return experiment.recipes(scale, seeds, only)


def _trained(chosen: Sequence[Experiment], scale: str) -> list[Experiment]:
    """Those experiments that train recipes, which can be changed."""
    trained = [each for each in chosen if each.recipes(scale)]
    if not trained:
        raise TenfoldError(f"{chosen[0].id} trains no recipes, so there is nothing to change")
    return trained


def run_and_commit(
    experiment: Experiment, lab: Lab, shelf: Path, add: bool = False, only: Sequence[str] = ()
) -> Path:
    """Train, measure and write the results of one experiment; a failure leaves what was there before.

    The folder has the rows (`rows.csv`), the runs (`runs.json`), their tables (`results.md`) and the experiment's own
    figures; in the results of a checkout, of these figures only those that pages show. `tenfold redraw --out` writes
    every figure and a page.
    """
    collected = experiment.run(lab, only)
    folder = experiment.folder(shelf, lab.scale)
    together = beside(collected, folder) if add else collected

    def write_more(fresh: Path) -> None:
        if lab.runs:
            table = results_table(story_of(together).groups, experiment.title)
            write_atomically(fresh / "results.md", table.encode())
        experiment.draw(DrawingContext(lab.scale, together.rows, fresh, lab.kept))
        keep_shown(fresh, shown_figures(shelf, experiment.paper, experiment.name, lab.scale))

    return commit(together, folder, write_more)


def _try(experiment: Experiment, scale: str, work: Callable[[], Path]) -> Reproduction:
    try:
        folder = work()
    except Stopped:
        raise
    except TenfoldError as error:
        log = tuple(getattr(error, "lines", ()))
        return Reproduction(experiment.id, scale, failed=str(error), log=log)
    return Reproduction(experiment.id, scale, folder)


def _statuses(experiment: Experiment, shelf: Path) -> dict[str, str]:
    """The status of each claim that reads the rows of an experiment."""
    entries = ledger([experiment.paper], (shelf, *SHELVES))
    return {each.id: each.status for each in entries if experiment.name in each.claim.reads}


def _update_pages(paper: str, shelf: Path) -> None:
    """Where results stand beside a page of all claims, write it and the paper's own page anew."""
    if (claims := shelf / "CLAIMS.md").exists():
        write_claims(claims, ledger(results=(shelf, *SHELVES)))
        if (own := Path("papers", paper, PAGE)).is_file():
            fill_page(own, paper, (shelf, *SHELVES))
