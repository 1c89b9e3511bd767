"""Recipes by name, by file, with scales and overrides.

A name such as `symmetry/addition-relative` is a file below `papers/`; YAML files may `extend` another
recipe and hold `scales` (smoke, demo, paper, ...) laid over their own values, which are the laptop scale.
A Python file gives a `recipe`.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.files import read_mapping
from tenfold.runs.recipe import Recipe, merge, spelled

DEFAULT_SCALE = "laptop"
_HERE = Path(__file__).resolve().parents[1]
SHELVES = (Path("papers"), _HERE / "papers", _HERE.parents[1] / "papers")  # here, installed, source
OTHERS = ("claims.yaml", ".grid.yaml")  # files of a paper too, but no recipes


def names() -> list[str]:
    """Every recipe that is known by name."""
    return sorted(_known())


def recipe(source: str | Path, scale: str | None = None, **changes: Any) -> Recipe:
    """A recipe by name or file, at a scale, with changes.

    >>> recipe("symmetry/addition-relative", scale="smoke", seed=3).seed
    3
    """
    values, scales = _read(_find(source))
    if scale not in (None, DEFAULT_SCALE):
        if scale not in scales:
            raise unknown(f'scale of "{source}"', scale, [DEFAULT_SCALE, *scales])
        values = merge(values, scales[scale])
    return Recipe.of(merge(values, spelled(changes)))


def overrides(words: Iterable[str]) -> dict[str, Any]:
    """Dotted flags as nested values.

    >>> overrides(["--train.lr", "0.003", "--pe=alibi", "--pe.axis", "column"])
    {'train': {'lr': 0.003}, 'pe': {'name': 'alibi', 'axis': 'column'}}
    """
    changes: dict[str, Any] = {}
    waiting = list(words)
    while waiting:
        flag = waiting.pop(0)
        if not flag.startswith("--"):
            raise TenfoldError(f'"{flag}" is not a flag; a change of the recipe is --key value')
        key, equals, text = flag[2:].partition("=")
        if not equals:
            if not waiting or waiting[0].startswith("--"):
                raise TenfoldError(f"--{key} needs a value")
            text = waiting.pop(0)
        inner = changes
        *path, last = key.replace("-", "_").split(".")
        for part in path:
            old = inner.get(part, {})
            inner[part] = {"name": old} if isinstance(old, str) else old
            if not isinstance(inner[part], dict):
                raise TenfoldError(f"--{key}: {part} is {old!r}, which has no parts; give it whole")
            inner = inner[part]
        try:
            inner[last] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise TenfoldError(f'--{key} has the value "{text}", which is not YAML') from None
    return changes


def _known() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for shelf in SHELVES:
        for path in sorted(shelf.glob("*/*.yaml")):
            if not path.name.endswith(OTHERS):
                found.setdefault(f"{path.parent.name}/{path.stem}", path)
    return found


def _find(source: str | Path) -> Path:
    known = _known()
    if str(source) in known:
        return known[str(source)]
    path = Path(source)
    if path.suffix in {".yaml", ".yml", ".py"}:
        if not path.is_file():
            raise TenfoldError(f"there is no recipe file {path}")
        return path
    raise unknown("recipe", source, known)


def _read(
    path: Path, heirs: tuple[Path, ...] = ()
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """A file's values and its scales."""
    if path.suffix == ".py":
        try:
            made = runpy.run_path(str(path)).get("recipe")
        except Exception as error:
            raise TenfoldError(f"{path} failed: {type(error).__name__}: {error}") from error
        if not isinstance(made, Recipe):
            raise TenfoldError(f'{path} does not define "recipe", a tenfold.Recipe')
        return made.as_json(), {}
    values = spelled(read_mapping(path, "a recipe"))
    scales = values.pop("scales", {})
    if not isinstance(scales, dict) or not all(isinstance(s, dict) for s in scales.values()):
        raise TenfoldError(f"{path}: scales is not a mapping of names to values")
    scales = {name: spelled(laid) for name, laid in scales.items()}
    if (parent := values.pop("extends", None)) is not None:
        beside = path.parent / str(parent)  # a file's neighbour, or whatever a name can be
        base_path = beside if beside.is_file() else _find(str(parent))
        if base_path in (heirs := (*heirs, path)):
            raise TenfoldError(f"{path} extends itself")
        base, base_scales = _read(base_path, heirs)
        values, scales = merge(base, values), merge(base_scales, scales)
    return values, scales
