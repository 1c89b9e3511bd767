"""Runs that differ in their seed alone, and in what was measured in a model of that seed, under a name that tells
them from the others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.results.collect import Collected, collect, find_runs
from tenfold.results.method_names import alike, names
from tenfold.results.row_schema import Row
from tenfold.results.tables import ROWS_FILE
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run


@dataclass(frozen=True)
class Group:
    """`runs` and `rows` are as in `tenfold.results.collect`; `recipe` is that of the first run."""

    name: str
    recipe: Recipe
    runs: tuple[Row, ...]
    rows: tuple[Row, ...]

    @property
    def label(self) -> str:
        return self.recipe.label


@dataclass(frozen=True)
class Story:
    """The content of a page: groups of runs, opened runs with weights by fingerprint, and what was left out."""

    groups: list[Group]
    runs: dict[str, Run] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def gather(places: Sequence[Path | str]) -> Story:
    """From run folders, folders of runs, and folders of results (collected or committed), where there are no weights."""
    collected = collect(places)
    groups, problems = grouped(collected)
    runs: dict[str, Run] = {}
    for folder in (run for place in map(Path, places) for run in _folders(place)):
        with suppress(TenfoldError):  # one that cannot be opened is among the problems
            run = Run.open(folder)
            runs.setdefault(run.recipe.fingerprint, run)
    return Story(groups, runs, [*collected.problems, *problems])


def story_of(collected: Collected, runs: dict[str, Run] | None = None) -> Story:
    """Every run that has rows; `runs` are those whose weights are at hand, by fingerprint."""
    known = {run["fingerprint"] for run in collected.runs}
    rows = [row for row in collected.rows if row["fingerprint"] in known]
    groups, problems = grouped(Collected(rows, collected.runs))
    return Story(groups, runs or {}, problems)


def band(groups: Sequence[Group]) -> str:
    """What a band in a figure and a bracket in a table show."""
    counts = {len(group.runs) for group in groups}
    alone, several = "95% Wilson interval over samples", "worst to best seed"
    if counts == {1}:
        return alone
    return several if 1 not in counts else f"{several}; of one seed, the {alone}"


def environment(run: Row) -> dict[str, Any]:
    """The machine, the commit and the versions that a run was made with."""
    return json.loads(run["environment"])


def _folders(place: Path) -> list[Path]:
    results = place.suffix == ".parquet" or (place / ROWS_FILE).is_file()
    return [] if results else find_runs(place)


def grouped(collected: Collected) -> tuple[list[Group], list[str]]:
    """The groups, those of one label beside each other, and a line about each run that is left out.

    Rows of no run, which an experiment computed, are about no run and need no line.
    """
    rows: dict[str, list[Row]] = {}
    for row in collected.rows:
        rows.setdefault(row["fingerprint"], []).append(row)
    problems: list[str] = []
    members_of: dict[tuple[str, str], list[tuple[Recipe, Row]]] = {}
    for run in collected.runs:
        try:
            recipe = Recipe.of(json.loads(run["recipe"]))
        except (TenfoldError, ValueError) as error:
            problems.append(f"{run['run']}: its recipe cannot be read: {error}")
        else:
            members_of.setdefault(alike(recipe), []).append((recipe, run))
    known = {run["fingerprint"] for run in collected.runs}
    problems += [
        f"{rows[fingerprint][0]['run']}: its recipe and environment are unknown"
        for fingerprint in rows
        if fingerprint and fingerprint not in known
    ]
    groups = []
    apart = [group for members in members_of.values() for group in _one_a_seed(members)]
    for name, group in zip(names([group[0][0] for group in apart]), apart, strict=True):
        runs = sorted((run for _, run in group), key=lambda run: run["seed"])
        measured = [row for run in runs for row in rows.get(run["fingerprint"], ())]
        groups.append(Group(name, group[0][0], tuple(runs), tuple(measured)))
    labels = list(dict.fromkeys(group.label for group in groups))
    return sorted(groups, key=lambda group: labels.index(group.label)), problems


def _one_a_seed(members: list[tuple[Recipe, Row]]) -> list[list[tuple[Recipe, Row]]]:
    """One group; where a seed was measured twice, these are not seeds of one training, and each stands alone."""
    if len({recipe.seed for recipe, _ in members}) == len(members):
        return [members]
    apart: dict[str, list[tuple[Recipe, Row]]] = {}
    for recipe, run in members:
        apart.setdefault(recipe.replace(seed=0).fingerprint, []).append((recipe, run))
    return list(apart.values())
