"""An experiment of a paper with some settings changed, beside its committed results.

    tenfold reproduce symmetry/addition --set pe=fire --set train.lr=0.003

Its recipes are trained with the changes. Rows, tables and figures are written apart from committed results, so no claim
reads them. A figure has the curves of the committed rows in grey, and the changed ones before them. What an experiment
measures beyond the evaluation of its runs is left out, because it may depend on the settings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.drawing import figures_from_rows as from_rows
from tenfold.drawing.curves import results_table
from tenfold.drawing.run_groups import story_of
from tenfold.ledger.experiments import Experiment, Lab
from tenfold.ledger.results_folder import beside, commit
from tenfold.results.collect import collect
from tenfold.results.committed import committed
from tenfold.runs.changed_recipe import corrected, slug
from tenfold.runs.own_components import named, with_include
from tenfold.runs.recipe import Recipe, spelled, written

LONGEST = 80  # characters of a folder's name
Changes = Mapping[str, Any]


def in_words(changes: Changes) -> str:
    """Changes as they are written on the command line.

    >>> in_words({"train": {"lr": 0.003}, "pe": "fire"})
    'train.lr=0.003, pe=fire'
    """
    return ", ".join(f"{key}={value}" for key, value in _leaves(changes))


def _leaves(changes: Changes, where: str = "") -> Iterator[tuple[str, str]]:
    for key, value in changes.items():
        if isinstance(value, Mapping) and "name" not in value:
            yield from _leaves(value, f"{where}{key}.")
        else:
            yield f"{where}{key}", str(written(value))


def changed_folder(shelf: Path, experiment: Experiment, changes: Changes, scale: str) -> Path:
    """The folder of its results: `SHELF/symmetry/addition/pe=fire/smoke`."""
    words = in_words(changes)
    name = slug(words.replace(", ", "+"))
    if len(name) > LONGEST:
        name = f"{name[:LONGEST]}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"
    return shelf / experiment.paper / experiment.name / name / scale


def changed_recipes(
    experiment: Experiment,
    changes: Changes,
    scale: str,
    seeds: Sequence[int] | None = None,
    only: Sequence[str] = (),
) -> list[Recipe]:
    """The recipes of an experiment with these changes; those that the changes make equal are there once."""
    changed = _with_changes(experiment, changes, scale, seeds, only)
    return list({each.fingerprint: each for _, each in reversed(changed)}.values())[::-1]


def _with_changes(
    experiment: Experiment,
    changes: Changes,
    scale: str,
    seeds: Sequence[int] | None,
    only: Sequence[str],
) -> list[tuple[Recipe, Recipe]]:
    """Each recipe, and what it is with the changes."""
    values = spelled(named(changes))
    recipes = experiment.chosen(experiment.recipes(scale, seeds), only)
    return [
        (each, corrected(each, Recipe.of(with_include(each.replace(**values).as_json())), values))
        for each in recipes
    ]


def run_changed(
    experiment: Experiment,
    lab: Lab,
    changes: Changes,
    folder: Path,
    add: bool = False,
    only: Sequence[str] = (),
) -> Path:
    """Train the changed recipes; write rows, a table, and figures over the committed curves of the same scale."""
    lab.sweep(changed_recipes(experiment, changes, lab.scale, lab.seeds, only))
    collected = collect([run.folder for run in lab.runs])
    if collected.problems:
        raise TenfoldError(f"{experiment.id}: {collected.problems[0]}")
    together = beside(collected, folder) if add else collected
    behind = committed(experiment.paper, experiment.name).get(lab.scale, [])
    title = f"{experiment.id} with {in_words(changes)}"

    def write_more(fresh: Path) -> None:
        table = results_table(story_of(together).groups, title)
        write_atomically(fresh / "results.md", table.encode())
        from_rows.laid_over(together.rows, behind, in_words(changes), fresh / "changed", title)

    return commit(together, folder, write_more)
