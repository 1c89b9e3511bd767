"""Experiments: modules of `tenfold.papers.PAPER.experiments` that say what to train, what to measure and what to draw.

The module `least_data` of the paper `principled` is the experiment `principled/least-data`. It offers some of:

    grid(scale)            the recipes to train
    measure_run(lab, run)  rows of one run beyond those that training measures
    measure(lab)           rows over all runs, or of none: theory, a second stage of training
    draw(drawing)          figures and tables, from rows and from values that measuring kept

    of_each_run = True     `measure` takes nothing from two runs of the grid together, so that `--only` may leave out some

`grid` or `measure` is required. `lab.kept` is a dictionary for values that `draw` needs and rows cannot hold, such as
attention maps; it is empty when figures are drawn again from committed rows.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.ledger.claims import papers, read_claims
from tenfold.results.collect import Collected, collect
from tenfold.results.row_schema import COLUMNS, EMPTY, MEASURED, Row, check_row
from tenfold.runs.environment import environment
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import experiment_files
from tenfold.runs.run import Run
from tenfold.sweeps.grid import check_grid

Sweep = Callable[[Sequence[Recipe]], list[Run]]  # trains all recipes, or raises an error


@dataclass
class Lab:
    """What an experiment measures with: the runs so far, and a way to train more."""

    scale: str
    seeds: Sequence[int] | None
    train: Sweep
    runs: list[Run] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)  # handed to `draw`

    def sweep(self, recipes: Sequence[Recipe]) -> list[Run]:
        """Train these recipes too; the rows of their runs become part of the results."""
        finished = self.train(recipes) if recipes else []
        self.runs += finished
        return finished

    def about(self, run: Run) -> Row:
        """The columns that all rows of a run have in common."""
        first = collect([run.folder]).rows[0]
        return {key: value for key, value in first.items() if key not in MEASURED}


@dataclass(frozen=True)
class DrawingContext:
    """What an experiment draws from, and the folder that it draws into."""

    scale: str
    rows: Sequence[Row]
    folder: Path
    kept: dict[str, Any] = field(default_factory=dict)  # values of `Lab.kept`


@dataclass(frozen=True)
class Experiment:
    paper: str
    name: str

    @property
    def id(self) -> str:
        return f"{self.paper}/{self.name}"

    @cached_property
    def module(self) -> ModuleType:
        name = f"tenfold.papers.{self.paper}.experiments.{self.name.replace('-', '_')}"
        with _failures_of(self):
            module = importlib.import_module(name)
        if not hasattr(module, "grid") and not hasattr(module, "measure"):
            raise TenfoldError(f'{name} defines neither "grid" nor "measure"')
        return module

    @property
    def title(self) -> str:
        lines = (self.module.__doc__ or "").strip().splitlines()
        return lines[0].rstrip(".") if lines else self.id

    def folder(self, shelf: Path, scale: str) -> Path:
        """The folder of its results."""
        return shelf / self.paper / self.name / scale

    def recipes(
        self, scale: str, seeds: Sequence[int] | None = None, only: Sequence[str] = ()
    ) -> list[Recipe]:
        """The recipes that are trained before anything is measured; `only` selects some of them by name."""
        if not hasattr(self.module, "grid"):
            return []
        with _failures_of(self):
            grid = self.module.grid(scale)
        recipes = check_grid(self.id, grid, seeds)
        if not only:
            return recipes
        if hasattr(self.module, "measure") and not getattr(self.module, "of_each_run", False):
            raise TenfoldError(
                f"{self.id} measures over all that it trains; some recipes alone can be run of an "
                "experiment that measures each run by itself"
            )
        return self.chosen(recipes, only)

    def chosen(self, recipes: Sequence[Recipe], only: Sequence[str]) -> list[Recipe]:
        """Those of its recipes that `only` names, with or without the name of the paper; all if it names none."""
        if not only:
            return list(recipes)
        short = {each: each.removeprefix(f"{self.paper}/") for each in only}
        known = {each.name.removeprefix(f"{self.paper}/") for each in recipes}
        for name in short.values():
            if name not in known:
                raise unknown(f"recipe of {self.id}", name, known)
        return [r for r in recipes if r.name.removeprefix(f"{self.paper}/") in short.values()]

    def steps_later(self, recipe: Recipe) -> int:
        """The steps of the second trainings that follow from a run of this recipe; 0 where it defines no `later`."""
        if not hasattr(self.module, "later"):
            return 0
        with _failures_of(self):
            return int(self.module.later(recipe))

    def run(self, lab: Lab, only: Sequence[str] = ()) -> Collected:
        """Train and measure; all rows, and the runs they came from."""
        lab.sweep(self.recipes(lab.scale, lab.seeds, only))
        measured = [_complete(self, row) for row in self.measure(lab)]
        collected = collect([run.folder for run in lab.runs]) if lab.runs else Collected()
        if collected.problems:
            raise TenfoldError(f"{self.id}: {collected.problems[0]}")
        return Collected(collected.rows + measured, collected.runs)

    def measure(self, lab: Lab) -> list[Row]:
        """The rows that the experiment adds: of its runs one by one, then over all of them."""
        rows: list[Row] = []
        with _failures_of(self):
            if hasattr(self.module, "measure_run"):
                rows += [row for run in lab.runs for row in self.module.measure_run(lab, run)]
            if hasattr(self.module, "measure"):
                rows += self.module.measure(lab)
        return rows

    def draw(self, drawing: DrawingContext) -> None:
        """The experiment's own figures, if it has any."""
        if hasattr(self.module, "draw"):
            with _failures_of(self):
                self.module.draw(drawing)


def experiments(paper: str) -> list[Experiment]:
    """Every experiment of a paper, by name."""
    return [Experiment(paper, name) for name in experiment_files(paper)]


def find(name: str) -> list[Experiment]:
    """`symmetry`: all experiments of this paper; `symmetry/addition`: that one."""
    paper, slash, wanted = name.partition("/")
    known = {each.name: each for each in experiments(paper)}
    if slash and wanted in known:
        return [known[wanted]]
    if paper not in papers():
        raise unknown("paper", paper, papers())
    there = f"there is: {', '.join(known)}" if known else f"papers/{paper} has no experiment yet"
    if slash and wanted in {claim.experiment for claim in read_claims(paper).claims}:
        raise TenfoldError(f"the experiment {name} does not exist yet; {there}")
    if slash:
        raise unknown(f"experiment of {paper}", wanted, known) if known else TenfoldError(there)
    if not known:
        raise TenfoldError(there)
    return list(known.values())


@contextmanager
def _failures_of(experiment: Experiment) -> Iterator[None]:
    """Turn an error in an experiment's module into one line with the experiment's name."""
    try:
        yield
    except (TenfoldError, KeyboardInterrupt):
        raise
    except BaseException as error:
        message = f"{experiment.id} failed: {type(error).__name__}: {error}"
        raise TenfoldError(message) from error


def _complete(experiment: Experiment, row: Row) -> Row:
    """A measured row with every column; columns that the experiment leaves out are empty."""
    for key in row:
        if key not in COLUMNS:
            raise unknown(f"column of {experiment.id}", key, COLUMNS)
    complete = {**EMPTY, "paper": experiment.paper, **row}
    if not row.keys() >= {"commit", "date"}:  # a row of no run: made here and now
        made = environment()
        complete = {**complete, "commit": made["commit"] or "", "date": made["date"], **row}
    try:
        if complete["value"] not in (None, ""):
            complete["value"] = float(complete["value"])
        check_row(complete)
    except (TypeError, ValueError) as error:
        raise TenfoldError(f"{experiment.id}, as measured: {error}") from None
    return complete
