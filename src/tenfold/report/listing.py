"""What there is to choose from, a name and one line each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenfold.errors import TenfoldError
from tenfold.evals import SLICES
from tenfold.lab import recipes
from tenfold.lab.run import Run
from tenfold.models import MODELS
from tenfold.pe import ENCODINGS
from tenfold.places import SCHEMES
from tenfold.registry import Registry
from tenfold.tasks import FORMATS, SAMPLERS, TASKS

Listing = list[tuple[str, str]]


def listing(kind: str) -> Listing:
    return LISTINGS[kind]()


def about(thing: Any) -> str:
    """The first line of a docstring."""
    lines = (thing.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def _components(registry: Registry[Any]) -> Callable[[], Listing]:
    """One line each: of its file where every component has one of its own, else of its own docstring."""

    def listed() -> Listing:
        found = {name: registry[name] for name in registry.names()}
        own_file = registry.package is not None
        return [
            (name, about(sys.modules[thing.__module__] if own_file else thing))
            for name, thing in found.items()
        ]

    return listed


def _recipes() -> Listing:
    return [(name, recipes.recipe(name).about) for name in recipes.names()]


def _runs() -> Listing:
    found = []
    for path in sorted(Path("runs").glob("*/recipe.yaml")):
        try:
            run = Run.open(path.parent)
            state = "finished" if run.finished else f"step {run.progress()['step']}"
            found.append(
                (path.parent.name, f"{state}, seed {run.recipe.seed}, {run.recipe.pe.name}")
            )
        except TenfoldError as error:
            found.append((path.parent.name, f"damaged: {error}"))
    return found


LISTINGS: dict[str, Callable[[], Listing]] = {
    "pe": _components(ENCODINGS),
    "tasks": _components(TASKS),
    "schemes": _components(SCHEMES),
    "formats": _components(FORMATS),
    "samplers": _components(SAMPLERS),
    "models": _components(MODELS),
    "slices": lambda: [(name, about(slice)) for name, slice in SLICES.items()],
    "recipes": _recipes,
    "runs": _runs,
}
