"""What there is to choose from, a name and one line each."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Registry, options_of
from tenfold.data.corpora import CORPORA, WRITINGS
from tenfold.data.formats import FORMATS
from tenfold.data.schemes import SCHEMES
from tenfold.data.tasks import SAMPLERS, TASKS
from tenfold.encodings import ENCODINGS, RELATIONS, SIZES
from tenfold.evals import SLICES
from tenfold.models import MIXERS, MODELS
from tenfold.models.layers import MIXER_SIZES
from tenfold.models.model import SUPPLIED
from tenfold.runs import recipe_files as recipes
from tenfold.runs.run import SHELF, Run, shipped_names
from tenfold.runs.tracking import TRACKERS

Listing = list[tuple[str, str]]
FILLED_IN = {*SIZES, *SUPPLIED, *MIXER_SIZES}  # parameters of components that are no options


def listing(kind: str) -> Listing:
    return LISTINGS[kind]()


def about(thing: Any) -> str:
    """The first line of a docstring."""
    lines = (thing.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def details(kind: str, name: str) -> dict[str, Any]:
    """The documentation of a component, and its options; sizes that a model fills in are left out."""
    if kind not in REGISTRIES:
        raise TenfoldError(f"{kind} have no options to show; {', '.join(REGISTRIES)} have")
    component = REGISTRIES[kind][name]
    return {
        "name": name,
        "about": inspect.getdoc(component) or "",
        "options": [
            {"name": option, "type": str(parameter.annotation)}
            | ({} if parameter.default is parameter.empty else {"default": parameter.default})
            for option, parameter in options_of(component).items()
            if option not in FILLED_IN
        ],
    }


def _components(registry: Registry[Any], own_file: bool = True) -> Callable[[], Listing]:
    """One line each: of its file where every component has one of its own, else of its own docstring."""

    def listed() -> Listing:
        components = {name: registry[name] for name in registry.names()}
        by_file = own_file and registry.package is not None
        return [
            (name, about(sys.modules[thing.__module__] if by_file else thing))
            for name, thing in components.items()
        ]

    return listed


def _recipes() -> Listing:
    return [(name, recipes.recipe(name).about) for name in recipes.names()]


def _runs() -> Listing:
    lines = []
    for path in sorted(Path("runs").glob("*/recipe.yaml")):
        try:
            run = Run.open(path.parent)
            state = "finished" if run.finished else f"step {run.progress()['step']}"
            lines.append(
                (path.parent.name, f"{state}, seed {run.recipe.seed}, {run.recipe.pe.name}")
            )
        except TenfoldError as error:
            lines.append((path.parent.name, f"damaged: {error}"))
    return lines


def _proved() -> Listing:
    return [(name, Run.open(SHELF / name).recipe.about) for name in shipped_names()]


REGISTRIES: dict[str, Registry[Any]] = {
    "models": MODELS,
    "mixers": MIXERS,
    "pe": ENCODINGS,
    "tasks": TASKS,
    "schemes": SCHEMES,
    "formats": FORMATS,
    "samplers": SAMPLERS,
    "relations": RELATIONS,
    "corpora": CORPORA,
    "writings": WRITINGS,
}
LISTINGS: dict[str, Callable[[], Listing]] = {
    **{kind: _components(registry) for kind, registry in REGISTRIES.items()},
    "mixers": _components(MIXERS, own_file=False),
    "trackers": _components(TRACKERS),
    "slices": lambda: [(name, about(slice)) for name, slice in SLICES.items()],
    "recipes": _recipes,
    "runs": _runs,
    "proved": _proved,
}
