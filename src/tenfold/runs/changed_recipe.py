"""What a change of a recipe makes false, and what is right instead: its name, its words, its claim and its label.

`tenfold train symmetry/addition-relative --pe alibi` is not the recipe that a paper's claim is about, and has no
learned vectors. So its claim is cleared, its `about` says what was changed, its name carries the encoding, and its
label follows from what it is given. The seed, the device, the threads and how often something is logged change nothing
of this. What the change states itself stays as stated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.formats import FORMATS, Format
from tenfold.data.places import Places
from tenfold.data.schemes import SCHEMES
from tenfold.encodings import ENCODINGS, PositionalEncoding
from tenfold.models import MODELS
from tenfold.models.weightless import weightless
from tenfold.runs.recipe import ENCODING_KEYS, PROSE, Recipe, written

ALIGNED = frozenset({"significance", "column"})  # axes on which digits of one power of ten meet
GENERIC, SIGNIFICANCE, WINDOW, CALIBRATED = "generic", "significance", "window", "calibrated"
HERE = {"seed": 0, "train": {"device": "cpu", "threads": 1}}  # where and with which numbers it runs
METHOD = (*ENCODING_KEYS, "schemes", "format", "task")
WIDEST = 1024  # head size above which an encoding is made smaller to read what it declares


def corrected(old: Recipe, new: Recipe, stated: Collection[str] = ()) -> Recipe:
    """A changed recipe with the right name, words, claim and label; `stated` are keys that the change gives itself.

    >>> old = Recipe(name="sums", about="learned vectors", claim="paper/fig-1")
    >>> new = corrected(old, old.replace(pe="alibi", train={"lr": 0.01}))
    >>> new.name, new.about, new.claim
    ('sums-alibi', 'changed from sums: pe alibi, train.lr 0.01', None)
    >>> corrected(old, old.replace(seed=3)).about
    'learned vectors'
    """
    if old.replace(**HERE).fingerprint == new.replace(**HERE).fingerprint:
        return new
    right = {
        "name": old.name + encoding_suffix(old, new),
        "about": f"changed from {old.name}: {', '.join(differences(old, new))}",
        "claim": None,
        "label": label_after(old, new),
    }
    return new.replace(**{key: value for key, value in right.items() if key not in stated})


def differences(old: Recipe, new: Recipe) -> list[str]:
    """The settings of a recipe that are not those of another: `["pe alibi", "train.lr 0.01"]`."""
    return list(_differences(old.as_json(), new.as_json()))


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], where: str = "") -> Iterator[str]:
    for key in dict.fromkeys([*new, *old]):
        before, after = old.get(key), new.get(key)
        if before == after or (not where and key in PROSE | {"label", "seed", "include"}):
            continue
        if isinstance(before, dict) and isinstance(after, dict) and "name" not in after:
            yield from _differences(before, after, f"{where}{key}.")
        else:
            yield f"{where}{key} {written(after)}"


def encoding_suffix(old: Recipe, new: Recipe) -> str:
    """What a name says of another encoding: `-alibi`, `-cross-none`; nothing where the name ends so already."""
    suffix = ""
    for key in ENCODING_KEYS:
        spec = getattr(new, key)
        if spec is None or spec == getattr(old, key):
            continue
        parts = spec.options.get("parts")
        words = written(parts, options=False) if isinstance(parts, list) else spec.name
        suffix += f"-{key.removesuffix('pe').replace('_', '-')}{slug(words)}"
    return "" if suffix and old.name.endswith(suffix) else suffix


def slug(words: str) -> str:
    """Words as a part of the name of a folder.

    >>> slug("rotary+log-length"), slug("my files/mine.py:Mine")
    ('rotary+log-length', 'my-files-mine.py-Mine')
    """
    return re.sub(r"[^\w.+=-]+", "-", words).strip("-.")


def label_after(old: Recipe, new: Recipe) -> str:
    """The label of a changed recipe.

    The old one stays where the change gives the method nothing else: both are given the same, and the label says so or
    the components are the same ones. Otherwise the label is what the new recipe is given.
    """
    before, after = given(old), given(new)
    same = [_names(old, key) == _names(new, key) for key in METHOD]
    alike = all(same) and old.model.kind == new.model.kind
    return old.label if before == after and (alike or old.label == before) else after


def _names(recipe: Recipe, key: str) -> list[str | None]:
    value = getattr(recipe, key)
    return [
        None if each is None else each.name for each in (value if key == "schemes" else [value])
    ]


def given(recipe: Recipe) -> str:
    """The label that follows from what the components of a recipe declare: what its method was given.

    `calibrated`: an encoding holds what was measured in a trained model. `window`: an encoding bounds how far a token
    sees. `significance`: an encoding reads an axis on which digits of one power of ten meet. Then what the format
    (`significance`: index hints) or the model (`loops`) declares; else `generic`.

    >>> given(Recipe(pe="alibi")), given(Recipe(pe={"name": "window", "behind": 1}))
    ('generic', 'window')
    >>> given(Recipe(pe={"name": "learned", "axis": "abacus"}, schemes=["abacus"]))
    'significance'
    """
    encodings = _encodings(recipe)
    if any(getattr(part, "measured", ()) for pe in encodings for part in pe.modules()):
        return CALIBRATED
    if any(pe.window(axis) is not None for pe in encodings for axis in pe.axes):
        return WINDOW
    if not _aligned(recipe).isdisjoint(axis for pe in encodings for axis in pe.axes):
        return SIGNIFICANCE
    kind: Any = MODELS[recipe.model.kind]
    formats: dict[str, Any] = {name: FORMATS[name] for name in FORMATS.names()}  # of problems
    written = formats.get(recipe.format.name, Format)
    return written.gives or kind.gives or GENERIC


def _encodings(recipe: Recipe) -> list[PositionalEncoding]:
    """The encodings of a recipe. What they declare does not depend on their width, so it may be absurdly large."""
    heads, head_size = recipe.model.heads, min(recipe.model.width // recipe.model.heads, WIDEST)
    sizes = {"width": heads * head_size, "heads": heads, "head_size": head_size}
    specs = [spec for key in ENCODING_KEYS if (spec := getattr(recipe, key)) is not None]
    with weightless():
        return [ENCODINGS.build(spec, **sizes) for spec in specs]


class _Noting(Places):
    """Places that note which of their axes are read."""

    def __init__(self, **axes: torch.Tensor) -> None:
        super().__init__(**axes)
        self.read: set[str] = set()

    def __getitem__(self, axis: str) -> torch.Tensor:
        self.read.add(axis)
        return super().__getitem__(axis)


def _aligned(recipe: Recipe) -> frozenset[str]:
    """The aligned axes, and those that the recipe's schemes make of them."""
    tokens, aligned = torch.zeros(1, 2, dtype=torch.long), ALIGNED
    at = Places(**{axis: torch.arange(2)[None] for axis in ("index", "role", *ALIGNED)})
    for spec in recipe.schemes:
        noting = _Noting(**{axis: at[axis] for axis in at})
        try:
            at = SCHEMES.bind(spec)(tokens, noting, None)
        except TenfoldError:  # it reads an axis that only some tasks have
            continue
        if not aligned.isdisjoint(noting.read):
            aligned |= set(at) - set(noting)
    return aligned
