"""Experiments: files below `papers/PAPER/` that say what to train and what to measure.

`addition.py` or `addition.grid.yaml` is the experiment `symmetry/addition`. A Python file gives `grid`, the
recipes to train (a list, or a function of the scale), or `measure(lab)`, rows that no run measures by itself
(theory in closed form, a second stage of training), or both. Beside a grid it may give `measure_run(lab, run)`,
more rows of one run (what attention looks at), and `draw(scale, rows, folder)`, which leaves figures.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.ledger.claims import papers, read_claims
from tenfold.results.collect import Collected, collect
from tenfold.results.committed import ROWS, RUNS, as_csv, as_runs, read_rows, read_runs
from tenfold.results.row_schema import COLUMNS, EMPTY, MEASURED, Row, check_row
from tenfold.runs.environment import environment
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import SHELVES
from tenfold.runs.run import Run
from tenfold.sweeps.grid import grid
from tenfold.sweeps.sweep import Failure

GRID = ".grid.yaml"
Sweep = Callable[[Sequence[Recipe]], list[Run]]  # trains all, or raises what failed


class Incomplete(TenfoldError):
    """Some runs of an experiment failed; the others are kept, and the same command tries again."""

    def __init__(self, failures: Sequence[Failure], of: int) -> None:
        super().__init__(
            f"{len(failures)} of {of} runs failed; {failures[0].name}: {failures[0].reason}"
        )
        self.failures = failures
        self.lines = [f"{each.name}: {line}" for each in failures for line in each.log]


@dataclass(frozen=True)
class Experiment:
    paper: str
    name: str
    path: Path

    @property
    def id(self) -> str:
        return f"{self.paper}/{self.name}"

    @cached_property
    def holds(self) -> dict[str, Any]:
        """What its Python file defines."""
        if self.path.suffix != ".py":
            return {"grid": self.path}
        try:
            held = runpy.run_path(str(self.path))
        except Exception as error:
            raise TenfoldError(f"{self.path} failed: {type(error).__name__}: {error}") from error
        if not held.keys() & {"grid", "measure"}:
            raise TenfoldError(f'{self.path} defines neither "grid" nor "measure"')
        return held

    @property
    def title(self) -> str:
        told = (self.holds.get("__doc__") or "").strip().splitlines()
        return told[0].rstrip(".") if told else self.id

    def folder(self, shelf: Path, scale: str) -> Path:
        """Where its results are."""
        return shelf / self.paper / self.name / scale

    def recipes(
        self, scale: str, seeds: Sequence[int] | None = None, only: Sequence[str] = ()
    ) -> list[Recipe]:
        """What it trains before anything is measured; nothing, if it is theory alone. `only`: those of these names."""
        found = grid(self.path, scale, seeds) if "grid" in self.holds else []
        if not only:
            return found
        if "measure" in self.holds:
            raise TenfoldError(
                f"{self.id} measures over all that it trains; some recipes alone can be run of an "
                "experiment that measures each run by itself"
            )
        wanted = [self._short(name) for name in only]
        known = {self._short(each.name) for each in found}
        for name in wanted:
            if name not in known:
                raise unknown(f"recipe of {self.id}", name, known)
        return [each for each in found if self._short(each.name) in wanted]

    def _short(self, recipe: str) -> str:
        """A recipe's name within its paper."""
        return recipe.removeprefix(f"{self.paper}/")


@dataclass
class Lab:
    """What `measure` works with. `lab.sweep(recipes)` trains more; their own rows are taken too."""

    scale: str
    seeds: Sequence[int] | None
    trains: Sweep
    runs: list[Run] = field(default_factory=list)

    def sweep(self, recipes: Sequence[Recipe]) -> list[Run]:
        finished = self.trains(recipes) if recipes else []
        self.runs += finished
        return finished

    def about(self, run: Run) -> Row:
        """The columns that rows of a run have in common, for rows that `measure` adds to them."""
        first = collect([run.folder]).rows[0]
        return {key: value for key, value in first.items() if key not in MEASURED}


def experiments(paper: str) -> list[Experiment]:
    """Every experiment of a paper, by name; a file that only holds a recipe is none."""
    found: dict[str, Experiment] = {}
    for shelf in SHELVES:
        for path in sorted((shelf / paper).glob("*")):
            if path.stem.endswith(("recipes", "__init__")):
                continue
            if path.suffix == ".py" or path.name.endswith(GRID):
                name = path.name.removesuffix(GRID).removesuffix(".py")
                found.setdefault(name, Experiment(paper, name, path))
    return [found[name] for name in sorted(found)]


def find(name: str) -> list[Experiment]:
    """`symmetry`: all its experiments; `symmetry/addition`: that one."""
    paper, slash, wanted = name.partition("/")
    if paper not in papers():
        raise unknown("paper", paper, papers())
    known = {each.name: each for each in experiments(paper)}
    if slash and wanted in known:
        return [known[wanted]]
    there = f"there is: {', '.join(known)}" if known else f"papers/{paper} has no experiment yet"
    if slash and wanted in {claim.experiment for claim in read_claims(paper).claims}:
        raise TenfoldError(f"the experiment {name} does not exist yet; {there}")
    if slash:
        raise unknown(f"experiment of {paper}", wanted, known) if known else TenfoldError(there)
    if not known:
        raise TenfoldError(there)
    return list(known.values())


def run(
    experiment: Experiment,
    scale: str,
    seeds: Sequence[int] | None,
    sweep: Sweep,
    only: Sequence[str] = (),
) -> tuple[Collected, list[Run]]:
    """Train and measure; all rows, and the runs they came from."""
    lab = Lab(scale, seeds, sweep)
    lab.sweep(experiment.recipes(scale, seeds, only))
    measured = [_whole(experiment, row) for row in measure(experiment, lab)]
    found = collect([each.folder for each in lab.runs]) if lab.runs else Collected()
    if found.problems:
        raise TenfoldError(f"{experiment.id}: {found.problems[0]}")
    return Collected(found.rows + measured, found.runs), lab.runs


def measure(experiment: Experiment, lab: Lab) -> list[Row]:
    """What it measures of its runs, one by one and over all."""
    rows: list[Row] = []
    with _telling(experiment):
        if "measure_run" in experiment.holds:
            rows += [row for run in lab.runs for row in experiment.holds["measure_run"](lab, run)]
        if "measure" in experiment.holds:
            rows += experiment.holds["measure"](lab)
    return rows


def draw(experiment: Experiment, scale: str, rows: Sequence[Row], folder: Path) -> None:
    """The experiment's own figures, if it has any."""
    if "draw" in experiment.holds:
        with _telling(experiment):
            experiment.holds["draw"](scale, rows, folder)


@contextmanager
def _telling(experiment: Experiment) -> Iterator[None]:
    """What goes wrong in an experiment's file, in a line with its name."""
    try:
        yield
    except TenfoldError:
        raise
    except Exception as error:
        told = f"{experiment.path} failed: {type(error).__name__}: {error}"
        raise TenfoldError(told) from error


def _whole(experiment: Experiment, row: Row) -> Row:
    """A measured row with every column; what is not said is empty."""
    for key in row:
        if key not in COLUMNS:
            raise unknown(f"column of {experiment.id}", key, COLUMNS)
    made = environment()
    known = {"paper": experiment.paper, "commit": made["commit"] or "", "date": made["date"]}
    whole = {**EMPTY, **known, **row}
    try:
        if whole["value"] not in (None, ""):
            whole["value"] = float(whole["value"])
        check_row(whole)
    except (TypeError, ValueError) as error:
        raise TenfoldError(f"{experiment.id}, as measured: {error}") from None
    return whole


def check_place(folder: Path, recipes: Sequence[Recipe], add: bool = False) -> None:
    """Before hours of training: can results be written there, and would they drop seeds that are there?

    With `add` these stay, if they came of the recipes as they are now.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder.parent).close()
        _settle(folder)
    except OSError as error:
        raise TenfoldError(f"cannot write to {folder}: {error.strerror or error}") from None
    if not (folder / ROWS).is_file():
        return
    ours = {(each.name, each.seed) for each in recipes}
    names = {each.name for each in recipes}
    others = {
        (row["recipe"], row["seed"])
        for row in read_rows(folder / ROWS)
        if row["recipe"] in names and (row["recipe"], row["seed"]) not in ours
    }
    if add:
        _check_alike(folder, recipes, others)
    elif others:
        told = ", ".join(map(str, sorted({seed for _, seed in others})))
        raise TenfoldError(
            f"{folder} holds seeds {told}, which this command would leave out; keep them with --add, "
            "name them too with --seeds, or another place with --out"
        )


def _check_alike(folder: Path, recipes: Sequence[Recipe], kept: set[tuple[str, int]]) -> None:
    """Seeds stand side by side only if nothing but the seed differs."""
    now = {each.name: each.replace(seed=0).fingerprint for each in recipes}
    for run in read_runs(folder / RUNS):
        then = Recipe.of(json.loads(run["recipe"]))
        if (then.name, then.seed) in kept and then.replace(seed=0).fingerprint != now[then.name]:
            raise TenfoldError(
                f"{folder} holds seed {then.seed} of {then.name} as it was before the recipe changed; "
                "seeds that differ in more cannot stand side by side: run all of them, without --add"
            )


def beside(found: Collected, folder: Path) -> Collected:
    """What was found, and what is committed of other recipes and seeds."""
    if not (folder / ROWS).is_file():
        return found
    new = {(row["recipe"], row["seed"]) for row in found.rows}
    rows = [r for r in read_rows(folder / ROWS) if (r["recipe"], r["seed"]) not in new]
    kept = {row["fingerprint"] for row in rows}
    runs = [run for run in read_runs(folder / RUNS) if run["fingerprint"] in kept]
    return Collected(rows + found.rows, runs + found.runs)


def commit(found: Collected, folder: Path, write_more: Callable[[Path], object]) -> Path:
    """Write a results folder whole, or leave the old one as it was."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _settle(folder)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise TenfoldError(f"cannot write to {folder}: {error.strerror or error}") from None
    try:
        fresh.chmod(0o755)
        write_more(fresh)
        (fresh / ROWS).write_text(as_csv(found.rows))
        (fresh / RUNS).write_text(as_runs(found.rows, found.runs))
        _swap(fresh, folder)
    except OSError as error:
        raise TenfoldError(f"cannot write to {folder}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _swap(fresh: Path, folder: Path) -> None:
    try:
        if folder.exists():
            os.replace(folder, _aside(folder))
        os.replace(fresh, folder)
    except OSError:
        _settle(folder)
        raise
    shutil.rmtree(_aside(folder), ignore_errors=True)


def _settle(folder: Path) -> None:
    """Old results that a failure, or a kill, left aside: back to their place if it is empty, else they go."""
    old = _aside(folder)
    if old.exists() and folder.exists():
        shutil.rmtree(old)
    elif old.exists():
        os.replace(old, folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-old")
