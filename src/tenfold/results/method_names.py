"""Names that tell methods apart: recipes that differ in their seed alone are one method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tenfold.encodings import ENCODINGS
from tenfold.runs.recipe import ENCODING_KEYS, PROSE, Recipe, written

NAMED, LONGEST = 3, 60  # most differing settings, and characters, of a name


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
    rest = values | {key: unmeasured(values[key]) for key in ENCODING_KEYS}
    return Recipe.of(rest).fingerprint, "" if rest == values else recipe.name


def unmeasured(value: Any) -> Any:
    """An encoding, and those that it is made of, without what came out of a trained model."""
    if isinstance(value, list):
        return [unmeasured(part) for part in value]
    if not isinstance(value, dict):
        return value
    made = ENCODINGS[value["name"]] if value.get("name") in ENCODINGS.names() else None
    measured: frozenset[str] = getattr(made, "measured", frozenset())
    return {key: unmeasured(part) for key, part in value.items() if key not in measured}


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
        short_names.append(shortened(name))
    return [
        name if short_names.count(name) == 1 else f"{name} ({recipe.fingerprint})"
        for name, recipe in zip(short_names, recipes, strict=True)
    ]


def shortened(name: str) -> str:
    """Shorten a name in its middle, since its end differs from the others."""
    head = LONGEST // 3
    return name if len(name) <= LONGEST else f"{name[:head]}...{name[head + 3 - LONGEST :]}"


def _difference(recipe: Recipe, rivals: Sequence[Recipe]) -> str:
    """Return the settings that differ between rivals; a component's options only where they are needed."""
    for options in (False, True):
        theirs = [settings(rival, options) for rival in rivals]
        ours = settings(recipe, options)
        differ = {key: len({other.get(key) for other in theirs}) > 1 for key in ours}
        keys = [key for key in ours if differ[key]][:NAMED]
        if sum(all(other.get(key) == ours[key] for key in keys) for other in theirs) == 1:
            break
    return ", ".join(ours[key] if key in ("pe", "task") else f"{key} {ours[key]}" for key in keys)


def settings(recipe: Recipe, options: bool) -> dict[str, str]:
    """What decides something, the encoding first: `{"pe": "alibi", ..., "train.lr": "0.001"}`."""
    whole = recipe.as_json()
    kept = {key: value for key, value in whole.items() if key not in PROSE | {"seed", "label"}}
    return as_words({"pe": kept.pop("pe"), **kept}, options)


def as_words(values: Mapping[str, Any], options: bool) -> dict[str, str]:
    """Values of a recipe as words by dotted keys; a component is one word, with its options if these are wanted."""
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, dict) and "name" not in value:
            flat |= {f"{key}.{inner}": written(part, options) for inner, part in value.items()}
        else:
            flat[key] = written(value, options)
    return flat


def tell_apart(
    described: Sequence[Mapping[str, str]], always: Iterable[str] = ()
) -> list[dict[str, str]]:
    """Return of each description the fewest entries, the first ones first, that tell it from the others.

    >>> tell_apart(
    ...     [{"pe": "alibi"}, {"pe": "rotary", "lr": "1"}, {"pe": "rotary", "lr": "2"}], ["pe"]
    ... )
    [{'pe': 'alibi'}, {'pe': 'rotary', 'lr': '1'}, {'pe': 'rotary', 'lr': '2'}]
    """
    first = tuple(always)
    told: list[dict[str, str]] = []
    for number, own in enumerate(described):
        alike = [other for place, other in enumerate(described) if place != number]
        chosen = {key: own[key] for key in first}
        alike = [other for other in alike if all(other.get(key) == own[key] for key in first)]
        for key, value in own.items():
            fewer = [other for other in alike if other.get(key) == value]
            if len(fewer) < len(alike):
                chosen[key], alike = value, fewer
        told.append(chosen)
    return told
