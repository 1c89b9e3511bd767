"""Complete the table of a track. This page is the whole path of `tenfold league run`:

run_league
  missing          the entries and seeds that no committed row has                league/entries.py, league/standing.py
  expected         the time that they will take, said first                      league/budget.py
  _with_rates      learning rates on problems of trained lengths, seed 0         league/budget.py
  _in_stages       training; most entries have one stage                          league/stages.py
  run_sweep        the runs of a stage, on this machine or on Ray                 sweeps/sweep.py
  measured         the ladder of lengths                                          league/ladder.py
  keep             rows and provenance, whole or not at all                       ledger/results_folder.py
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tenfold.core.errors import Stopped, TenfoldError
from tenfold.league.budget import (
    chosen_rate,
    flops_per_step,
    signature,
    trials,
    tried,
)
from tenfold.league.entries import LeagueEntry, entries_of
from tenfold.league.ladder import measured
from tenfold.league.run_details import DETAILS, read_details
from tenfold.league.stages import account, declared, stage_recipe
from tenfold.league.tracks import DEFAULT_SCALE, TRIED, LeagueTrack, track_at
from tenfold.ledger.results_folder import beside, commit
from tenfold.results.committed import ROWS, RUNS, read_runs
from tenfold.results.tables import Collected
from tenfold.runs.build import build
from tenfold.runs.cost import cost
from tenfold.runs.environment import environment
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run
from tenfold.runs.train import train
from tenfold.sweeps.sweep import Callback, Failure, Outcome, run_sweep

OUT, RESULTS = Path("runs/league"), Path("results")
Say = Callable[[str], None]


def tell(line: str) -> None:
    """Print a line at once, whatever it is written to."""
    print(line, flush=True)


@dataclass(frozen=True)
class LeaguePlace:
    """Where runs are trained and where rows are kept."""

    out: Path = OUT
    results: Path = RESULTS
    on: str = "local"
    workers: int | None = None
    address: str | None = None


@dataclass
class LeagueOutcome:
    done: list[str] = field(default_factory=list)  # entries and seeds that have a new row
    kept: int = 0  # that had one before
    failed: dict[str, str] = field(default_factory=dict)  # by entry: one line


@dataclass(frozen=True)
class Start:
    """An entry with one seed, to be trained. Its stages are changes of the recipe."""

    entry: LeagueEntry
    recipe: Recipe

    @property
    def declared(self) -> str:
        """What identifies it, whatever its seed, its rate and its steps."""
        return declared(self.recipe, self.entry.stages)

    @property
    def name(self) -> str:
        return f"{self.recipe.name.rpartition('/')[2]}, seed {self.recipe.seed}"


def run_league(
    track: str | LeagueTrack,
    *,
    scale: str = DEFAULT_SCALE,
    only: str | None = None,
    seeds: Sequence[int] = (0,),
    layers: int | None = None,
    place: LeaguePlace = LeaguePlace(),
    dry_run: bool = False,
    say: Say = tell,
    progress: Callback | None = None,
) -> LeagueOutcome:
    """Train, measure and keep what the table of a track lacks; the same call again goes on from there."""
    track = track_at(track, scale) if isinstance(track, str) else track
    starts = starts_of(track, entries_of(track, only), seeds, layers)
    folder = folder_of(track, scale, place)
    todo = missing(track, starts, folder)
    outcome = LeagueOutcome(kept=len(starts) - len(todo))
    if outcome.kept:
        say(f"{outcome.kept} of {len(starts)} rows are committed already")
    if not todo:
        return outcome
    each = f"{track.budget:.1g} operations each"
    say(f"{len(todo)} to train, {each}, {expected(track, todo, place.workers)}")
    for some in () if dry_run else _together(todo, place):
        _complete(track, some, folder, place, outcome, say, progress)
    return outcome


def starts_of(
    track: LeagueTrack,
    entries: Sequence[LeagueEntry],
    seeds: Sequence[int],
    layers: int | None = None,
) -> list[Start]:
    """Every entry with every seed, the first seed of all entries first."""
    made = [(entry, track.recipe(entry.name, entry.values(track), layers)) for entry in entries]
    return [Start(entry, recipe.replace(seed=seed)) for seed in seeds for entry, recipe in made]


def folder_of(track: LeagueTrack, scale: str, place: LeaguePlace = LeaguePlace()) -> Path:
    return place.results / "league" / track.name / scale


def missing(track: LeagueTrack, starts: Sequence[Start], folder: Path) -> list[Start]:
    """What has no committed row of the entry as it is now, trained with the budget of now."""
    details, there = read_details(folder), set()
    for run in read_runs(folder / RUNS):
        recipe = Recipe.of(json.loads(run["recipe"]))
        about = details.get(run["fingerprint"], {})
        if about.get("budget") == track.budget:
            own = about.get("declared") or signature(recipe)  # early rows have one stage
            there.add((recipe.name, recipe.seed, own))
    return [
        start
        for start in starts
        if (start.recipe.name, start.recipe.seed, start.declared) not in there
    ]


def expected(track: LeagueTrack, todo: Sequence[Start], workers: int | None = None) -> str:
    """The time in words, from a few timed steps of the first entry."""
    from tenfold.runs.cost import span

    built = build(todo[0].recipe)
    timed = cost(built)
    per_operation = timed.seconds / (built.recipe.train.steps * timed.flops_per_step)
    names = {start.recipe.name for start in todo}
    share = len(todo) + len(names) * TRIED * len(track.rates) * (len(track.rates) > 1)
    per_step = flops_per_step(todo[0].recipe) / timed.flops_per_step
    seconds = share * track.budget * per_operation / per_step
    return f"{span(seconds / (workers or 1))} of training on {workers or 1} core{'s' * ((workers or 1) > 1)} as busy as it is now, and the measurements"


def _together(todo: Sequence[Start], place: LeaguePlace) -> Iterator[Sequence[Start]]:
    """As many entries at a time as there are workers, so that rows are kept as they come."""
    size = len(todo) if place.workers is None else place.workers
    for first in range(0, len(todo), size):
        yield todo[first : first + size]


def _complete(
    track: LeagueTrack,
    starts: Sequence[Start],
    folder: Path,
    place: LeaguePlace,
    outcome: LeagueOutcome,
    say: Say,
    progress: Callback | None,
) -> None:
    """Train, measure and keep some entries; a failure is noted and changes nothing."""
    told = set(outcome.failed)
    began = time.monotonic()
    for start, collected, about in train_starts(track, starts, place, outcome, progress):
        keep(collected, folder, {start.recipe.fingerprint: about})
        outcome.done.append(start.name)
        say(f"{start.name}: {result_line(track, collected)} ({time.monotonic() - began:.0f} s)")
    for name, reason in outcome.failed.items():
        if name not in told:
            say(f"failed: {name}: {reason}")


Trained = tuple[Start, Collected, dict[str, Any]]  # with its rows, and what else is known of it


def train_starts(
    track: LeagueTrack,
    starts: Sequence[Start],
    place: LeaguePlace,
    outcome: LeagueOutcome,
    progress: Callback | None = None,
) -> list[Trained]:
    """Try rates, train and measure; what fails is noted in the outcome and is not in the list."""
    ready = list(_with_rates(track, starts, place, outcome, progress))
    made: list[Trained] = []
    for start, about, runs in _in_stages(track, ready, place, outcome, progress):
        try:
            collected, ended = measured(track, runs[-1])
        except TenfoldError as error:
            outcome.failed[start.name] = str(error)
            continue
        about |= {"ended": ended, "entry": start.entry.name, "command": environment()["command"]}
        about |= {"declared": start.declared, "stages": account(runs)}
        made.append((replace(start, recipe=runs[-1].recipe), collected, about))
    return made


def _in_stages(
    track: LeagueTrack,
    ready: Sequence[tuple[Start, dict[str, Any]]],
    place: LeaguePlace,
    outcome: LeagueOutcome,
    progress: Callback | None,
) -> list[tuple[Start, dict[str, Any], list[Run]]]:
    """Train every start, stage by stage; those that finished all of their stages, with the runs of these."""
    going: list[tuple[Start, dict[str, Any], list[Run]]] = [(*each, []) for each in ready]
    for number in range(max((len(start.entry.stages) for start, _ in ready), default=0)):
        recipes: dict[int, Recipe] = {}
        for at, (start, _, runs) in enumerate(going):
            if number < len(start.entry.stages) and len(runs) == number:
                try:
                    before = runs[-1] if runs else None
                    recipes[at] = stage_recipe(
                        track, start.recipe, start.entry.stages, number, before
                    )
                except TenfoldError as error:
                    outcome.failed[start.name] = str(error)
        if not recipes:
            break
        trained = _sweep(list(recipes.values()), place, progress)
        _note_failures(trained, outcome)
        finished = {run.recipe.run_name: run for run in trained.runs}
        for at, recipe in recipes.items():
            if recipe.run_name in finished:
                going[at][2].append(finished[recipe.run_name])
    return [each for each in going if len(each[2]) == len(each[0].entry.stages)]


def result_line(track: LeagueTrack, collected: Collected) -> str:
    from tenfold.league.standing import standings

    (one,) = standings(track, collected)
    fits = "fits" if one.fits else "does not fit"
    held = ", ".join(f"{level:.0%} to {max(one.held[level].values())}" for level in one.held)
    proved = ", proved at every length" if one.proved else ""
    return f"{fits} ({one.median_fit:.4g} at trained lengths), holds {held} {track.counts}{proved}"


def _with_rates(
    track: LeagueTrack,
    starts: Sequence[Start],
    place: LeaguePlace,
    outcome: LeagueOutcome,
    progress: Callback | None,
) -> Iterator[tuple[Start, dict[str, Any]]]:
    """Every start with its rate; rates are tried once for each entry, in its first stage."""
    by_name: dict[str, list[Recipe]] = {}
    for start in starts:
        first = start.recipe.replace(**start.entry.stages[0].changes)
        by_name.setdefault(start.recipe.name, trials(track, first))
    recipes = [recipe for some in by_name.values() for recipe in some]
    runs = _sweep(recipes, place, progress) if recipes else Outcome([], [], 0)
    _note_failures(runs, outcome)
    finished = {run.recipe.fingerprint: run for run in runs.runs}
    for start in starts:
        mine = [finished.get(each.fingerprint) for each in by_name[start.recipe.name]]
        scores = tried(track, [run for run in mine if run is not None])
        if by_name[start.recipe.name] and not scores:
            continue  # every rate failed, which is noted
        recipe = start.recipe.replace(train={"lr": chosen_rate(track, scores)})
        about = {
            "rates": {f"{each:g}": score for each, score in scores.items()},
            "flops_per_step": flops_per_step(recipe),
            "budget": track.budget,
        }
        yield replace(start, recipe=recipe), about


def _sweep(recipes: Sequence[Recipe], place: LeaguePlace, progress: Callback | None) -> Outcome:
    """Train recipes; a single worker is this process, which saves the start of others."""
    if place.on == "local" and place.workers == 1:
        return _here(recipes, place.out)
    return run_sweep(
        recipes,
        place.out,
        on=place.on,
        workers=place.workers,
        address=place.address,
        progress=progress,
    )


def _here(recipes: Sequence[Recipe], out: Path) -> Outcome:
    runs: list[Run] = []
    failures: list[Failure] = []
    for recipe in recipes:
        folder = out / recipe.run_name
        try:
            runs.append(train(recipe, folder))
        except Stopped:
            raise
        except TenfoldError as error:
            name = f"{recipe.name}, seed {recipe.seed}"
            failures.append(Failure(name, folder, str(error), []))
    return Outcome(runs, failures, 0)


def _note_failures(trained: Outcome, outcome: LeagueOutcome) -> None:
    for failure in trained.failures:
        outcome.failed[failure.name] = failure.reason


def keep(collected: Collected, folder: Path, details: dict[str, Any]) -> None:
    """Add rows to the committed ones, and what is known of them; all other files stay."""
    known = {**read_details(folder), **details}

    def rest(fresh: Path) -> None:
        if folder.is_dir():
            shutil.copytree(folder, fresh, dirs_exist_ok=True)
        (fresh / DETAILS).write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")

    both = beside(collected, folder)
    both.rows.sort(key=lambda row: (row["recipe"], row["seed"]))
    both.runs.sort(key=lambda run: run["run"])
    commit(both, folder, rest)


def harvest(source: Path, target: Path) -> int:
    """Add the committed rows of another folder of results that are not here; returns how many runs are new."""
    from tenfold.results.committed import read_committed

    if not (source / "league").is_dir():
        raise TenfoldError(f"{source} has no folder league; a folder of results would have one")
    new = 0
    for path in sorted((source / "league").glob(f"*/*/{ROWS}")):
        folder = target / "league" / path.parent.relative_to(source / "league")
        known = {run["fingerprint"] for run in read_runs(folder / RUNS)}
        theirs = read_committed(path.parent)
        runs = [run for run in theirs.runs if run["fingerprint"] not in known]
        prints = {run["fingerprint"] for run in runs}
        rows = [row for row in theirs.rows if row["fingerprint"] in prints]
        details = {k: v for k, v in read_details(path.parent).items() if k in prints}
        if runs:
            keep(Collected(rows, runs), folder, details)
        new += len(runs)
    return new
