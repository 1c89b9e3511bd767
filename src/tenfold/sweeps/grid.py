"""Grids: many recipes from one file.

A YAML grid lays cases and the product of lists over a recipe, for every seed:

    name: encodings
    include: [my.py]             # own components, if there are some
    recipe: symmetry/addition-relative
    cases:                       # each laid over the recipe; may name a recipe of its own
      absolute: {recipe: symmetry/addition-absolute}
      alibi: {pe: alibi}
    product:
      data.length: [5, 10]       # every combination, dotted keys as on the command line
    seeds: [0, 1, 2]

makes 12 runs, named `encodings/absolute-length5`, ... A Python grid is a file with a list `grid` of recipes,
or a function `grid(scale)` that gives one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pydantic

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.registry import first_problem
from tenfold.core.stored_files import read_mapping
from tenfold.runs.changed_recipe import corrected
from tenfold.runs.own_components import named
from tenfold.runs.own_files import execute, read_own
from tenfold.runs.recipe import Recipe, merge
from tenfold.runs.recipe_files import recipe, recipe_named_by
from tenfold.runs.shipped_examples import located

Changes = dict[str, Any]


class GridSheet(pydantic.BaseModel):
    """A YAML grid, as it is written."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    include: list[str] = []  # own Python files, whose components the grid may name
    name: str | None = None  # the runs are NAME/CASE-...; default: the recipe's name
    recipe: str | None = None
    scale: str | None = None  # unless the command names one
    changes: Changes = {}  # laid over every recipe
    cases: dict[str, Changes] = {}
    product: dict[str, list[Any] | dict[str, Any]] = {}  # values, or values by a label of their own
    seeds: list[pydantic.NonNegativeInt] | None = None


def grid(
    path: Path | str, scale: str | None = None, seeds: Sequence[int] | None = None
) -> list[Recipe]:
    """The recipes of a grid file, all checked to be different; `seeds` takes the place of the file's own."""
    path = located(Path(path))
    if not path.is_file():
        raise TenfoldError(f"there is no grid {path}; a YAML or Python file is wanted")
    recipes = _from_python(path, scale) if path.suffix == ".py" else _from_yaml(path, scale)
    return check_grid(path, recipes, seeds)


def check_grid(
    source: Path | str, recipes: Any, seeds: Sequence[int] | None = None
) -> list[Recipe]:
    """The recipes of a grid, if there are some and all differ; `seeds` takes the place of their own."""
    if not isinstance(recipes, list | tuple) or not all(isinstance(r, Recipe) for r in recipes):
        raise TenfoldError(f'{source} does not define "grid", a list of tenfold.Recipe')
    if not recipes:
        raise TenfoldError(f"{source} is an empty grid: it gives no recipe")
    _refuse_twins(source, recipes)
    if seeds is None:
        return list(recipes)
    alone = {each.replace(seed=0).fingerprint: each for each in recipes}
    seeded = [each.replace(seed=seed) for each in alone.values() for seed in seeds]
    _refuse_twins(source, seeded)
    return seeded


def recipes_of(
    source: Path | str | Sequence[Recipe | str],
    scale: str | None = None,
    seeds: Sequence[int] | None = None,
) -> list[Recipe]:
    """The recipes of a sweep: of a grid file, of one recipe's name or file, or of a list of recipes and names."""
    if isinstance(source, Path | str):
        if _is_grid(Path(source)):
            return grid(source, scale, seeds)
        source = [str(source)]
    recipes = [each if isinstance(each, Recipe) else recipe(each, scale) for each in source]
    if not recipes:
        raise TenfoldError("an empty sweep: there is no recipe in it")
    if seeds is None:
        return recipes
    return [each.replace(seed=seed) for each in recipes for seed in seeds]


def _is_grid(path: Path) -> bool:
    """Whether a file gives recipes: a Python file that defines `grid`, or YAML with the keys of a grid."""
    if path.suffix in {".yaml", ".yml", ".py"}:
        path = located(path)
    if path.suffix == ".py":
        return not path.is_file() or bool(re.search(r"^(def )?grid\b", path.read_text(), re.M))
    if path.suffix not in {".yaml", ".yml"} or not path.is_file():
        return path.suffix in {".yaml", ".yml"}
    return bool(read_mapping(path, "a grid").keys() & {"recipe", "cases", "product", "seeds"})


def _refuse_twins(path: Path | str, recipes: Sequence[Recipe]) -> None:
    seen: dict[str, str] = {}
    for each in recipes:
        if each.fingerprint in seen:
            also = seen[each.fingerprint]
            raise TenfoldError(
                f'{path}: "{each.name}" with seed {each.seed} is there twice'
                + (f', also as "{also}"' if also != each.name else "")
            )
        seen[each.fingerprint] = each.name


def _from_python(path: Path, scale: str | None) -> Any:
    made = getattr(execute(read_own(path)), "grid", None)
    try:
        made = made(scale) if callable(made) else made
    except (TenfoldError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise TenfoldError(f"{path} failed: {type(error).__name__}: {error}") from error
    return made


def _from_yaml(path: Path, scale: str | None) -> list[Recipe]:
    values = read_mapping(path, "a grid")
    for key in values:
        if key not in GridSheet.model_fields:
            raise TenfoldError(f"{path}: {unknown('grid key', key, GridSheet.model_fields)}")
    try:
        sheet = GridSheet.model_validate(
            {**values, **named(values, path.parent)}
        )  # own components by name
        return list(_recipes(sheet, path, scale or sheet.scale))
    except pydantic.ValidationError as error:
        raise TenfoldError(f"{path}: {first_problem(error)}") from None
    except TenfoldError as error:
        raise TenfoldError(f"{path}: {error}") from None


def _recipes(sheet: GridSheet, path: Path, scale: str | None) -> Iterator[Recipe]:
    for case, changes in (sheet.cases or {"": {}}).items():
        own = dict(changes)
        source = own.pop("recipe", sheet.recipe)
        if not isinstance(source, str):
            raise TenfoldError(
                "no recipe is named; give `recipe`, or one in every case"
                if source is None
                else f"a recipe is known by its name or file, not by {source!r}"
            )
        first = recipe_named_by(path, source, scale)
        base = first.replace(**nested(sheet.changes)).replace(**nested(own))
        stated = {
            "name",
            *nested(sheet.changes),
            *nested(own),
            *nested(dict.fromkeys(sheet.product)),
        }
        known = case if sheet.name or own else ""  # a case that is a recipe has that one's name
        for point in itertools.product(*map(_labelled, sheet.product, sheet.product.values())):
            changed = base
            for key, (_, value) in zip(sheet.product, point, strict=True):
                changed = changed.replace(**nested({key: value}))
            name = _name(sheet, base, [known, *(label for label, _ in point)])
            changed = corrected(first, changed, stated)
            for seed in sheet.seeds if sheet.seeds is not None else [changed.seed]:
                yield changed.replace(name=name, seed=seed)


def _name(sheet: GridSheet, base: Recipe, labels: Sequence[str]) -> str:
    """`encodings/alibi-length5`; without a name of the grid's own, `symmetry/addition-relative-alibi-length5`."""
    suffix = "-".join(filter(None, labels))
    if not suffix:
        return sheet.name or base.name
    return f"{sheet.name}/{suffix}" if sheet.name else f"{base.name}-{suffix}"


def _labelled(key: str, values: list[Any] | dict[str, Any]) -> list[tuple[str, Any]]:
    """Each value of a list with a word for it.

    >>> _labelled("data.length", [5, 10])
    [('length5', 5), ('length10', 10)]
    >>> _labelled("pe", ["alibi", {"name": "rotary", "base": 100}])
    [('alibi', 'alibi'), ('rotary', {'name': 'rotary', 'base': 100})]
    """
    if isinstance(values, dict):
        return list(values.items())
    if not values:
        raise TenfoldError(f"product.{key} is empty; at least one value is wanted")
    labelled = [(_word(key, value), value) for value in values]
    words = [word for word, _ in labelled]
    for word in words:
        if words.count(word) > 1:
            raise TenfoldError(
                f'product.{key} has two values known as "{word}"; write them as a mapping of labels to values'
            )
    return labelled


def _word(key: str, value: Any) -> str:
    if isinstance(value, dict) and "name" in value:
        return str(value["name"])
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "+".join(_word(key, each) for each in value) or f"no-{key}"
    return f"{key.split('.')[-1]}{'none' if value is None else value}"


def nested(changes: Changes) -> Changes:
    """Dotted keys as nested mappings.

    >>> nested({"data.length": 5, "data": {"sampler": "numbers"}})
    {'data': {'length': 5, 'sampler': 'numbers'}}
    """
    result: Changes = {}
    for key, value in changes.items():
        *path, last = str(key).split(".")
        inner: Changes = {last: value}
        for part in reversed(path):
            inner = {part: inner}
        result = merge(result, inner)
    return result
