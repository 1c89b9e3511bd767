"""A trained model with another encoding in the place of its own, for evaluation: nothing is trained.

A rotary model may read longer inputs with `rotary-yarn`, and any model with a sharper softmax (`log-length`). The
weights must fit: every tensor of the run has its place in the model with the other encoding, and this model has no
further tensor. The tensors of a part of a composition are named as those of the part alone, so that weights of
`pairwise` fit a composition of `pairwise` and `log-length`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tenfold.core.errors import TenfoldError, unknown
from tenfold.models import Model
from tenfold.runs.build import Built, build_alone
from tenfold.runs.recipe import ENCODING_KEYS, Recipe, written
from tenfold.runs.recipe_files import overrides
from tenfold.training.checkpoint import Tensors

PART = re.compile(r"\bown\.\d+\.")  # of a composition, in the name of a tensor
SHOWN = 3  # tensors that a message names


class OtherEncoding(NamedTuple):
    """A recipe's parts with another encoding, the model with the trained weights, and the encoding in words."""

    built: Built
    model: Model
    words: str


def with_encoding(
    recipe: Recipe, weights: Tensors, encodings: Mapping[str, Any], where: object
) -> OtherEncoding:
    """The model of a recipe with other encodings (`pe`, `encoder_pe`, `cross_pe`) and these weights, which must fit."""
    built = build_alone(recipe.replace(**encodings))
    words = _words(built.recipe, encodings)
    model = built.model()
    model.load_state_dict(_fitted(model.state_dict(), weights, f"{where} with {words}"))
    return OtherEncoding(built, model.to(recipe.train.device).eval(), words)


def encodings_in(flags: Iterable[str], options: Sequence[str] = ()) -> dict[str, Any]:
    """The encodings that flags name, as `Run.evaluate` takes them; `options` are other flags, for a suggestion.

    >>> encodings_in(["--pe", "rotary-yarn", "--pe.factor", "4"])
    {'pe': {'name': 'rotary-yarn', 'factor': 4}}
    """
    changes = overrides(flags)
    known = [f"--{key.replace('_', '-')}" for key in (*ENCODING_KEYS, *options)]
    for key in changes:
        if key not in ENCODING_KEYS:
            raise unknown("flag of an evaluation", f"--{key.replace('_', '-')}", known)
    return changes


def _words(recipe: Recipe, changed: Iterable[str]) -> str:
    """`rotary-yarn (factor 4)`; `pe alibi, cross_pe none` where it is not the decoder's own alone."""
    stored = recipe.as_json()
    named = {key: written(stored[key]) for key in ENCODING_KEYS if key in changed}
    if list(named) == ["pe"]:
        return named["pe"]
    return ", ".join(f"{key} {words}" for key, words in named.items())


def _fitted(places: Tensors, weights: Tensors, what: str) -> Tensors:
    """The weights under the names of their places; one clear error that names those that do not fit."""
    alone = {PART.sub("", name): name for name in weights}
    wanted = {PART.sub("", name): name for name in places}
    if len(alone) < len(weights) or len(wanted) < len(places):  # two parts with tensors of one name
        alone, wanted = {name: name for name in weights}, {name: name for name in places}
    lost = [theirs for name, theirs in alone.items() if name not in wanted]
    missing = [ours for name, ours in wanted.items() if name not in alone]
    if lost:
        raise TenfoldError(f"{what}: trained weights would be lost: {_some(lost)}")
    if missing:
        raise TenfoldError(f"{what}: there are no trained weights for {_some(missing)}")
    fitted = {ours: weights[alone[name]] for name, ours in wanted.items()}
    others = [name for name in places if places[name].shape != fitted[name].shape]
    if others:
        shapes = " and ".join(str(tuple(each[others[0]].shape)) for each in (fitted, places))
        raise TenfoldError(f"{what}: trained weights have other shapes: {_some(others)}: {shapes}")
    return fitted


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
