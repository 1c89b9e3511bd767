"""What there is to choose from, a name and one line each.

Recipes, experiments, examples and runs are read from files. Only a kind whose components are classes imports them.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.registry import Registry, options_of
from tenfold.core.stored_files import read_mapping
from tenfold.runs import recipe_files as recipes
from tenfold.runs.component_counts import component_count, first_line
from tenfold.runs.own_components import OWN, REFERENCE, resolve
from tenfold.runs.shipped_examples import examples
from tenfold.training.checkpoint import Checkpoints

Listing = list[tuple[str, str]]
REGISTRIES = {  # of a kind: the module that has its registry, and the registry's name
    "encodings": "tenfold.encodings.encoding:ENCODINGS",
    "relations": "tenfold.encodings.relations:RELATIONS",
    "tasks": "tenfold.data.tasks:TASKS",
    "samplers": "tenfold.data.tasks.samplers:SAMPLERS",
    "formats": "tenfold.data.formats:FORMATS",
    "schemes": "tenfold.data.schemes:SCHEMES",
    "corpora": "tenfold.data.corpora:CORPORA",
    "writings": "tenfold.data.corpora:WRITINGS",
    "models": "tenfold.models:MODELS",
    "mixers": "tenfold.models.layers:MIXERS",
    "trackers": "tenfold.runs.tracking:TRACKERS",
}
SLICES = "tenfold.evals.exact_match:SLICES"
RUN_FILES = ("recipe.yaml", "result.json", "environment.json", "weights.safetensors")
BY_CLASS = {"mixers"}  # kinds that have several components in a file, each with its own line


def listing(kind: str, part: str | None = None) -> Listing:
    """Everything of a kind, or what has `part` in its name: `symmetry` gives all recipes of this paper."""
    lines = _components(kind) if kind in REGISTRIES else LISTINGS[kind]()
    if part is None:
        return lines
    if not lines:
        raise TenfoldError(f"there are no {kind} yet")
    chosen = [line for line in lines if line[0].startswith(f"{part}/") or line[0] == part]
    chosen = chosen or [line for line in lines if part in line[0]]
    if not chosen:
        names = {name for name, _ in lines}
        papers = {name.partition("/")[0] for name in names if "/" in name}
        if papers and "/" not in part:
            raise unknown(f"paper of {kind}", part, papers)
        raise unknown(f"name among the {kind}", part, names)
    return chosen


def count(kind: str) -> int:
    """How many there are of a kind. No component is imported for it."""
    if kind in REGISTRIES:
        return component_count(REGISTRIES[kind])
    if kind in COUNTS:
        return COUNTS[kind]()
    return len(LISTINGS[kind]())


def about(thing: Any) -> str:
    """The first line of a docstring."""
    lines = (thing.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def details(kind: str, name: str) -> dict[str, Any]:
    """The documentation of a component, and its options; sizes that a model fills in are left out."""
    from tenfold.encodings import SIZES
    from tenfold.models.layers import MIXER_SIZES
    from tenfold.models.model import SUPPLIED

    filled_in = {*SIZES, *SUPPLIED, *MIXER_SIZES}  # parameters that are no options
    name = resolve(name) if REFERENCE.fullmatch(name) else name
    component = _loaded(REGISTRIES[kind])[name]
    return {
        "name": name,
        "about": inspect.getdoc(component) or "",
        "options": [
            {"name": option, "type": _type_text(parameter.annotation)}
            | ({} if parameter.default is parameter.empty else {"default": parameter.default})
            for option, parameter in options_of(component).items()
            if option not in filled_in
        ],
    }


def _type_text(annotation: Any) -> str:
    """An annotation as it is written; with `from __future__ import annotations` it is that text already."""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _loaded(reference: str) -> Any:
    module, name = reference.split(":")
    return getattr(importlib.import_module(module), name)


def _components(kind: str) -> Listing:
    """One line each: of its file where every component has one of its own, else of its own docstring."""
    registry: Registry[Any] = _loaded(REGISTRIES[kind])
    components = {name: registry[name] for name in registry.names()}
    by_file = kind not in BY_CLASS and registry.package is not None
    return [
        (name, about(sys.modules[thing.__module__] if by_file and name not in OWN else thing))
        for name, thing in components.items()
    ]


def _recipes() -> Listing:
    return [(name, recipes.in_words(name)) for name in recipes.names()]


def _experiments() -> Listing:
    return [
        (f"{paper}/{name}", first_line(path))
        for paper in recipes.paper_names()
        for name, path in recipes.experiment_files(paper).items()
    ]


def _examples() -> Listing:
    return [(name, _about_example(path)) for name, path in examples().items()]


def _about_example(path: Path) -> str:
    """A Python file's first line, what a recipe says about itself, or the comment at the top of a grid."""
    if path.suffix == ".py":
        return first_line(path)
    stated = read_mapping(path, "an example").get("about")
    return str(stated or path.read_text().partition("\n")[0].lstrip("# "))


def _runs() -> Listing:
    lines = []
    for folder in _run_folders():
        try:
            recipe = recipes.stored_recipe(folder)
            step = max(Checkpoints(folder / "checkpoints").steps(), default=0)
            finished = (folder / "result.json").exists()
            state = "finished" if finished else f"step {step}"
            if not finished and step >= recipe.train.steps:
                state += ", result.json is missing"
            lines.append((folder.name, f"{state}, seed {recipe.seed}, {recipe.pe.name}"))
        except TenfoldError as error:
            lines.append((folder.name, f"damaged: {error}"))
    return lines


def _run_folders() -> list[Path]:
    """The folders in `runs` that have a file of a run, also where another is missing."""
    return sorted({path.parent for name in RUN_FILES for path in Path("runs").glob(f"*/{name}")})


def _proved() -> Listing:
    shelf = recipes.SHELF
    return [(name, recipes.stored_recipe(shelf / name).about) for name in recipes.shipped_names()]


def _slices() -> Listing:
    return [(name, about(each)) for name, each in _loaded(SLICES).items()]


LISTINGS: dict[str, Callable[[], Listing]] = {
    "slices": _slices,
    "recipes": _recipes,
    "experiments": _experiments,
    "examples": _examples,
    "runs": _runs,
    "proved": _proved,
}
COUNTS: dict[str, Callable[[], int]] = {  # where counting needs less than listing
    "slices": lambda: component_count(SLICES),
    "recipes": lambda: len(recipes.names()),
    "runs": lambda: len(_run_folders()),
    "proved": lambda: len(recipes.shipped_names()),
}
