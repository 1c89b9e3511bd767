"""Recipes by name, by file and by family, with scales and overrides.

A name such as `symmetry/addition-relative` is an entry of `RECIPES` in the package `tenfold.papers.symmetry.recipes`,
where `family` writes many recipes as one product. A file is a user's own: YAML, which may `extend` another recipe and
hold `scales`, or Python, which defines `recipe`. The values of a recipe are the laptop scale; other scales change them.

Python is executed only if a person named it. A YAML file that was named may name Python files in `include` and in
components. One that another file extends, that is found in `./papers`, or that is the `recipe.yaml` of a run may not.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tenfold.papers
from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.stored_files import (
    parse_yaml,
    read_json_mapping,
    read_mapping,
    stored_mapping,
)
from tenfold.runs.environment import RECIPE_HASH, newer_version
from tenfold.runs.own_components import check_named, named, with_include
from tenfold.runs.own_files import execute, read_own
from tenfold.runs.recipe import Recipe, merge, spelled
from tenfold.runs.shipped_examples import example_recipes, located

DEFAULT_SCALE = "laptop"
_HERE = Path(__file__).resolve().parents[1]
SHELVES = (Path("papers"), _HERE / "papers", _HERE.parents[1] / "papers")  # here, installed, source
SHELF = _HERE / "proved"  # the proved models that come with the package
RUN_RECIPE = "recipe.yaml"  # what a run leaves, and what never has Python executed
NO_RECIPES = ("claims.yaml", ".grid.yaml")  # YAML files of a paper that are no recipes

Values = dict[str, Any]
Options = Mapping[str, Mapping[str, Any]]  # of an axis: label -> changes


@dataclass(frozen=True)
class ScaledRecipe:
    """The values of a recipe, which are the laptop scale, and the changes that other scales make to them."""

    values: Values
    scales: Mapping[str, Values] = field(default_factory=dict)
    parent: ScaledRecipe | None = None  # what a YAML file extends

    def at(self, scale: str) -> Values:
        """The values at a scale: those of the parent at this scale, then the recipe's own, then the scale's changes.

        So what a recipe states itself always wins over what its parent has at any scale.
        """
        inherited = self.parent.at(scale) if self.parent else {}
        return merge(inherited, self.values, self.scales.get(scale, {}))

    def scale_names(self) -> list[str]:
        inherited = self.parent.scale_names() if self.parent else [DEFAULT_SCALE]
        return list(dict.fromkeys([*inherited, *self.scales]))


def family(
    name: str,
    base: Mapping[str, Any],
    axes: Mapping[str, Options] | None = None,
    scales: Mapping[str, Values] | None = None,
    own: Options | None = None,
) -> dict[str, ScaledRecipe]:
    """One recipe for each combination of the options of some axes, by name.

    `base` has the values that all share. An option changes some of them; later axes win over earlier ones. `own` has
    further changes of single recipes. `scales` are laid over these values, so that `smoke` makes every member small;
    an option or an entry of `own` may have `scales` too, which win over those of the family.

    The labels of the chosen options stand for `{axis}` in the name and in `claim`; their `words`, if given, in `about`.

    >>> recipes = family(
    ...     "mine/{task}-{positions}",
    ...     base={"about": "{task} with {positions}", "train": {"steps": 2000}},
    ...     axes={
    ...         "task": {"sums": {"task": "addition"}, "products": {"task": "multiplication"}},
    ...         "positions": {"alibi": {"pe": "alibi", "words": "ALiBi"}, "none": {"pe": "none"}},
    ...     },
    ...     scales={"smoke": {"train": {"steps": 20}}},
    ... )
    >>> list(recipes)
    ['mine/sums-alibi', 'mine/sums-none', 'mine/products-alibi', 'mine/products-none']
    >>> recipes["mine/sums-alibi"].at("smoke")
    {'about': 'sums with ALiBi', 'train': {'steps': 20}, 'task': 'addition', 'pe': 'alibi', 'name': 'mine/sums-alibi'}
    """
    axes, own = axes or {}, dict(own or {})
    members: dict[str, ScaledRecipe] = {}
    for labels in itertools.product(*axes.values()):
        chosen = dict(zip(axes, labels, strict=True))
        full_name = name.format(**chosen)
        layers = [base, {"scales": scales or {}}]
        layers += [axes[axis][label] for axis, label in chosen.items()]
        layers.append(own.pop(full_name, {}))
        values: Values = {}
        changes: dict[str, Values] = {}
        for layer in layers:
            stated = {key: layer[key] for key in layer if key not in ("scales", "words")}
            values = merge(values, spelled(stated))
            for scale, laid in layer.get("scales", {}).items():
                changes[scale] = merge(changes.get(scale, {}), spelled(laid))
        words = {axis: axes[axis][label].get("words", label) for axis, label in chosen.items()}
        for key, texts in (("about", words), ("claim", chosen)):
            if values.get(key) is not None:
                values[key] = values[key].format(**texts)
        members[full_name] = ScaledRecipe({**values, "name": full_name}, changes)
    if own:
        raise unknown(f"recipe of the family {name}", next(iter(own)), members)
    return members


def names() -> list[str]:
    """Every recipe that is known by name."""
    return sorted(_known())


def in_words(name: str) -> str:
    """What a recipe says about itself, or why it cannot be read. It is not checked, which would need torch."""
    try:
        return str(_find(name).at(DEFAULT_SCALE).get("about", ""))
    except TenfoldError as error:
        return f"cannot be read: {error}"


def recipe(source: str | Path, scale: str | None = None, **changes: Any) -> Recipe:
    """A recipe by name or file, at a scale, with changes.

    A change clears or corrects what it makes false: claim, words, label and name (`changed_recipe.corrected`).
    `Recipe.replace` changes what it is told and nothing else.

    >>> recipe("symmetry/addition-relative", scale="smoke", seed=3).seed
    3
    """
    return _at_scale(_find(source), source, scale, spelled(named(changes)))


def recipe_named_by(file: Path, source: str, scale: str | None = None) -> Recipe:
    """A recipe that a file names, such as a grid's: another Python file is executed only if a person named it too."""
    return _at_scale(_find(source, by=file), source, scale, {})


def _at_scale(
    written: ScaledRecipe, source: str | Path, scale: str | None, changes: Values
) -> Recipe:
    scale = scale or DEFAULT_SCALE
    if scale not in written.scale_names():
        raise unknown(f'scale of "{source}"', scale, written.scale_names())
    values = written.at(scale)
    changed = Recipe.of(with_include(merge(values, changes)))
    if not changes:
        return changed
    from tenfold.runs.changed_recipe import corrected  # which needs every encoding

    if changes.get("train", {}).get("from"):  # the run that was named before may be gone
        values = merge(values, {"train": {"from": None}})
    return corrected(Recipe.of(with_include(values)), changed, changes)


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
        if not text.strip():  # such as a shell variable that is not set
            raise TenfoldError(f"--{key} needs a value; null is none")
        inner = changes
        *path, last = key.replace("-", "_").split(".")
        for part in path:
            old = inner.get(part, {})
            inner[part] = {"name": old} if isinstance(old, str) else old
            if not isinstance(inner[part], dict):
                raise TenfoldError(f"--{key}: {part} is {old!r}, which has no parts; give it whole")
            inner = inner[part]
        try:
            inner[last] = parse_yaml(text, "it")
        except TenfoldError:
            raise TenfoldError(f'--{key} has the value "{text}", which is not YAML') from None
    return changes


def paper_names() -> list[str]:
    """The papers that are packages of `tenfold.papers`."""
    return sorted(
        {each.name for each in pkgutil.iter_modules(tenfold.papers.__path__) if each.ispkg}
    )


def experiment_files(paper: str) -> dict[str, Path]:
    """The experiments of a paper by name, with their files. Nothing is imported but the paper's package."""
    package = f"tenfold.papers.{paper}.experiments"
    if paper not in paper_names() or (spec := importlib.util.find_spec(package)) is None:
        return {}
    folders = [Path(each) for each in spec.submodule_search_locations or ()]
    paths = sorted(path for folder in folders for path in folder.glob("[!_]*.py"))
    return {path.stem.replace("_", "-"): path for path in paths}


def shipped_names() -> list[str]:
    """The names of the proved models that come with the package, the plainest first."""
    names = [path.parent.name for path in SHELF.glob(f"*/{RUN_RECIPE}")]
    return sorted(names, key=lambda name: (name.count("-"), name))


def stored_recipe(folder: Path) -> Recipe:
    """The recipe of a run's folder. Nothing is executed, whatever the file says."""
    if not folder.is_dir():
        raise TenfoldError(f"there is no run in {folder}; `tenfold ls runs` lists what there is")
    path = folder / RUN_RECIPE
    if not os.path.lexists(path):
        raise TenfoldError(f"{folder} is not a run: {path.name} is missing")
    values = stored_mapping(folder, RUN_RECIPE, "a recipe", recipe_hash(folder))
    try:
        return Recipe.of(values)
    except TenfoldError as error:
        raise TenfoldError(newer_version(folder) or f"{path}: {error}") from None


def recipe_hash(folder: Path) -> str | None:
    """The hash that the folder states of its recipe; None for runs of version 0.1, and for exported models."""
    try:
        stated = read_json_mapping(folder, "environment.json", "an environment").get(RECIPE_HASH)
    except FileNotFoundError:
        return None
    return str(stated) if stated is not None else None


def of_papers() -> dict[str, ScaledRecipe]:
    """Every recipe of the papers, by name."""
    return {name: each for paper in paper_names() for name, each in _of_paper(paper).items()}


def _of_paper(paper: str) -> dict[str, ScaledRecipe]:
    """The recipes of a paper's package; none, if it has no `recipes.py`."""
    module = f"tenfold.papers.{paper}.recipes"
    if paper not in paper_names() or importlib.util.find_spec(module) is None:
        return {}
    recipes: dict[str, ScaledRecipe] = importlib.import_module(module).RECIPES
    return recipes


def _in_working_folder() -> dict[str, Path]:
    """YAML recipes below `./papers`. Python files there are not read: a folder one happens to be in runs no code."""
    paths = (path for shelf in SHELVES[:1] for path in sorted(shelf.glob("*/*.yaml")))
    return {f"{p.parent.name}/{p.stem}": p for p in paths if not p.name.endswith(NO_RECIPES)}


def _known() -> set[str]:
    return {*of_papers(), *_in_working_folder()}


def _find(source: str | Path, heirs: tuple[Path, ...] = (), by: Path | None = None) -> ScaledRecipe:
    """A recipe by name, from the working folder first, or by file; `by` is the file that names it, if one does."""
    name, path = str(source), Path(source)
    if name in (files := _in_working_folder()):
        return _read(files[name], heirs, by=files[name])
    if name in (recipes := _of_paper(name.partition("/")[0])):
        return recipes[name]
    if path.suffix in {".yaml", ".yml", ".py"}:
        path = located(path)
        if not path.is_file():
            raise TenfoldError(f"there is no recipe file {path}")
        return _read(path, heirs, by)
    if name in (examples := example_recipes()):
        return _read(examples[name], heirs, by)
    raise unknown("recipe", source, _known() | {*examples})


def _read(path: Path, heirs: tuple[Path, ...] = (), by: Path | None = None) -> ScaledRecipe:
    """A recipe file, with what it extends."""
    if path.suffix == ".py":
        check_named(path, by, "extends" if heirs else "names")
        return _from_python(path)
    if path in heirs:
        raise TenfoldError(f"{path} extends itself")
    unnamed = path if by is not None or path.name == RUN_RECIPE else None
    values = spelled(named(read_mapping(path, "a recipe"), path.parent, unnamed))
    scales = values.pop("scales", {})
    if not isinstance(scales, dict) or not all(isinstance(s, dict) for s in scales.values()):
        raise TenfoldError(f"{path}: scales is not a mapping of names to values")
    scales = {name: spelled(changes) for name, changes in scales.items()}
    if (parent := values.pop("extends", None)) is None:
        return ScaledRecipe(values, scales)
    near = path.parent / str(parent)  # a file beside this one, or whatever a name can be
    source = near if near.is_file() else str(parent)
    return ScaledRecipe(values, scales, _find(source, (*heirs, path), by=path))


def _from_python(path: Path) -> ScaledRecipe:
    made = getattr(execute(read_own(path)), "recipe", None)
    if isinstance(made, ScaledRecipe):  # a member of a family
        return made
    if not isinstance(made, Recipe):
        raise TenfoldError(f'{path} does not define "recipe", a tenfold.Recipe')
    return ScaledRecipe(made.as_json())
