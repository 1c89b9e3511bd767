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
from tenfold.encodings import ENCODINGS
from tenfold.results.collect import Collected, collect, find_runs
from tenfold.results.row_schema import Row
from tenfold.results.tables import ROWS_FILE
from tenfold.runs.recipe import PROSE, Recipe
from tenfold.runs.run import Run

NAMED, LONGEST = 3, 60  # most differing settings, and characters, of a name


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


def alike(recipe: Recipe) -> tuple[str, str]:
    """What seeds of one training have in common: everything but the seed, and what was measured in a model of that seed.

    Two ways of measuring differ in nothing else but their name, so there the name counts.

    >>> first, second = (
    ...     Recipe(name="c", seed=seed, pe={"name": "calibrated", "lines": [{"head": seed}]})
    ...     for seed in (0, 1)
    ... )
    >>> alike(first) == alike(second), alike(first) == alike(second.replace(name="d"))
    (True, False)
    """
    values = recipe.replace(seed=0).as_json()
    rest = values | {key: _unmeasured(values[key]) for key in ("pe", "encoder_pe", "cross_pe")}
    return Recipe.of(rest).fingerprint, "" if rest == values else recipe.name


def _unmeasured(value: Any) -> Any:
    """An encoding, and those that it is made of, without what came out of a trained model."""
    if isinstance(value, list):
        return [_unmeasured(part) for part in value]
    if not isinstance(value, dict):
        return value
    made = ENCODINGS[value["name"]] if value.get("name") in ENCODINGS.names() else None
    measured: frozenset[str] = getattr(made, "measured", frozenset())
    return {key: _unmeasured(part) for key, part in value.items() if key not in measured}


def _one_a_seed(members: list[tuple[Recipe, Row]]) -> list[list[tuple[Recipe, Row]]]:
    """One group; where a seed was measured twice, these are not seeds of one training, and each stands alone."""
    if len({recipe.seed for recipe, _ in members}) == len(members):
        return [members]
    apart: dict[str, list[tuple[Recipe, Row]]] = {}
    for recipe, run in members:
        apart.setdefault(recipe.replace(seed=0).fingerprint, []).append((recipe, run))
    return list(apart.values())


def names(recipes: Sequence[Recipe]) -> list[str]:
    """A name each: the recipe's, and what differs between those that have it in common.

    >>> sums = Recipe(name="sums", pe="alibi")
    >>> names([sums, sums.replace(name="mine", pe="rotary")])
    ['sums', 'mine']
    >>> names(
    ...     [
    ...         sums,
    ...         sums.replace(pe={"name": "rotary", "axis": "column"}),
    ...         sums.replace(train={"lr": 0.1}),
    ...     ]
    ... )
    ['alibi, train.lr 0.001', 'rotary, train.lr 0.001', 'alibi, train.lr 0.1']
    >>> names([sums, sums.replace(pe={"name": "alibi", "axis": "column"})])
    ['alibi', 'alibi (axis column)']
    """
    alone = len({recipe.name for recipe in recipes}) == 1
    short_names = []
    for recipe in recipes:
        rivals = [other for other in recipes if other.name == recipe.name]
        difference = "" if len(rivals) == 1 else _difference(recipe, rivals)
        name = (
            difference
            if difference and alone
            else f"{recipe.name}: {difference}"
            if difference
            else recipe.name
        )
        short_names.append(_shortened(name))
    return [
        name if short_names.count(name) == 1 else f"{name} ({recipe.fingerprint})"
        for name, recipe in zip(short_names, recipes, strict=True)
    ]


def _shortened(name: str) -> str:
    """Shorten a name in its middle, since its end differs from the others."""
    head = LONGEST // 3
    return name if len(name) <= LONGEST else f"{name[:head]}...{name[head + 3 - LONGEST :]}"


def _difference(recipe: Recipe, rivals: Sequence[Recipe]) -> str:
    """Return the settings that differ between rivals; a component's options only where they are needed."""
    for options in (False, True):
        settings = [_settings(rival, options) for rival in rivals]
        ours = _settings(recipe, options)
        differ = {key: len({other.get(key) for other in settings}) > 1 for key in ours}
        keys = [key for key in ours if differ[key]][:NAMED]
        if sum(all(other.get(key) == ours[key] for key in keys) for other in settings) == 1:
            break
    return ", ".join(ours[key] if key in ("pe", "task") else f"{key} {ours[key]}" for key in keys)


def _settings(recipe: Recipe, options: bool) -> dict[str, str]:
    """What decides something, the encoding first: `{"pe": "alibi", ..., "train.lr": "0.001"}`."""
    whole = recipe.as_json()
    flat = {"pe": _written(whole.pop("pe"), options)}
    for key, value in whole.items():
        if key in PROSE | {"seed", "label"}:
            continue
        if isinstance(value, dict) and "name" not in value:
            flat |= {f"{key}.{inner}": _written(part, options) for inner, part in value.items()}
        else:
            flat[key] = _written(value, options)
    return flat


def _written(value: Any, options: bool) -> str:
    """A component, with its options in brackets: `rotary (axis column)`."""
    if isinstance(value, list):
        return "+".join(_written(part, options) for part in value) or "none"
    if not isinstance(value, dict):
        return "none" if value is None else str(value)
    options_text = [f"{key} {_written(part, True)}" for key, part in value.items() if key != "name"]
    named = str(value.get("name", ""))
    return f"{named} ({', '.join(options_text)})" if options_text and options else named
