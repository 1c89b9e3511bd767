"""What would work in place of a refused recipe: a recipe that comes with tenfold, in which the same part fits.

Only recipes of the papers are tried, at their smallest scale and without weights, so that a refusal stays quick and
nothing of a user's is executed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tenfold.core.errors import Misfit, TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.corpora import CORPORA
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import DEFAULT_SCALE, ScaledRecipe, of_papers

SMALL = "smoke"
KEEP: dict[str, Callable[[Recipe], dict[str, Any]]] = {  # the part of a refused recipe that is kept
    "pe": lambda recipe: {"pe": recipe.pe},
    "model": lambda recipe: {"model": {"kind": recipe.model.kind, **recipe.model.options}},
    "mixer": lambda recipe: {"model": {"mixer": recipe.model.mixer}},
    "format": lambda recipe: {"format": recipe.format},
}
WORDS = {"pe": "encoding"}
Builds = Callable[[Recipe], object]


def suggested(recipe: Recipe, misfit: Misfit, builds: Builds) -> str:
    """The refusal with what to try: `...; try principled/addition-absolute`. `builds` raises where parts do not fit."""
    fitting = {key: _fitting(recipe, KEEP[key](recipe), builds) for key in misfit.keep}
    known = {key: name for key, name in fitting.items() if name is not None}
    if not known:
        return str(misfit)
    one = len(misfit.keep) == 1
    tries = [name if one else f"{name} for this {WORDS.get(k, k)}" for k, name in known.items()]
    return f"{misfit}; try {' or '.join(tries)}"


def _fitting(recipe: Recipe, changes: Mapping[str, Any], builds: Builds) -> str | None:
    """The name of the plainest recipe of the same task, or else of another task, that builds with the changes.

    One that has the part already comes before one that it is put into.
    """
    changed = [
        (name, other, other.replace(**changes)) for name, other in _candidates(recipe.task.name)
    ]
    for name, _, other in sorted(changed, key=lambda each: each[1] != each[2]):
        try:
            builds(other)
        except TenfoldError:
            continue
        return name
    return None


def _candidates(task: str) -> Iterator[tuple[str, Recipe]]:
    """Recipes of the papers that differ in model, format or schemes, the same task first, then those that give no hints."""
    tried = set()
    every = {name: _values(written) for name, written in of_papers().items() if _is_plain(written)}
    same = {name: Spec.of(values["task"]).name == task for name, values in every.items()}
    plain = {name: values.get("label", "generic") == "generic" for name, values in every.items()}
    for name in sorted(every, key=lambda name: (not same[name], not plain[name], len(name), name)):
        values = every[name]
        if not same[name] and Spec.of(values["task"]).name in CORPORA.names():
            continue  # text would have to be read
        kind = values.get("model", {}).get("kind"), values.get("format"), values.get("schemes")
        alike = json.dumps([same[name] or values["task"], kind], default=str)
        if alike not in tried:
            tried.add(alike)
            yield name, Recipe.of({**values, "train": {**values.get("train", {}), "from": None}})


def _is_plain(written: ScaledRecipe) -> bool:
    """Whether training runs to its end: a recipe that stops when it is proved is made for one model."""
    return written.at(DEFAULT_SCALE).get("stop") is None


def _values(written: ScaledRecipe) -> dict[str, Any]:
    scale = SMALL if SMALL in written.scale_names() else DEFAULT_SCALE
    return {"task": "addition", **written.at(scale)}
