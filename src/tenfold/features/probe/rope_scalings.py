"""Other scalings of a model's rotary positions, compared side by side: `linear=4`, `ntk=4`, `yarn=4`.

Each is a change of the config from which the library makes its rotary module anew. `ntk` is the static form: a larger
base, the same at every length, so that what the cache holds stays right.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel

from tenfold.core.errors import TenfoldError, unknown

AS_IS = "as it is"


@dataclass(frozen=True)
class RopeScaling:
    """A way to scale rotary positions, and its factor."""

    way: str
    factor: float

    def __str__(self) -> str:
        return f"{self.way}={self.factor:g}"


def _linear(rope: dict[str, Any], factor: float, turned: int, trained: int) -> dict[str, Any]:
    return {"rope_type": "linear", "factor": factor}


def _ntk(rope: dict[str, Any], factor: float, turned: int, trained: int) -> dict[str, Any]:
    if turned < 4:
        raise TenfoldError(f"ntk of {turned} turned components; at least 4, to have a fast and a slow pair")  # fmt: skip
    base = float(rope["rope_theta"]) * factor ** (turned / (turned - 2))
    return {"rope_type": "default", "rope_theta": base}


def _yarn(rope: dict[str, Any], factor: float, turned: int, trained: int) -> dict[str, Any]:
    return {
        "rope_type": "yarn",
        "factor": factor,
        "original_max_position_embeddings": trained,
    }


WAYS: dict[str, Callable[[dict[str, Any], float, int, int], dict[str, Any]]] = {
    "linear": _linear,
    "ntk": _ntk,
    "yarn": _yarn,
}


def parse_scalings(text: str) -> list[RopeScaling]:
    """
    >>> [str(each) for each in parse_scalings("linear=4,yarn=2.5")]
    ['linear=4', 'yarn=2.5']
    """
    found = []
    for part in text.replace("|", ",").split(","):
        way, _, value = part.strip().partition("=")
        if way not in WAYS:
            raise unknown("rotary scaling", way, WAYS)
        try:
            factor = float(value)
        except ValueError:
            factor = math.nan
        if not 1 < factor < math.inf:
            raise TenfoldError(f'the rotary scaling "{part.strip()}" has no factor above 1; {way}=4 is right')  # fmt: skip
        found.append(RopeScaling(way, factor))
    return found


def rotary_modules(model: PreTrainedModel) -> dict[str, Any]:
    """The modules that make angles from a config, by name."""
    return {
        name: module
        for name, module in model.named_modules()
        if hasattr(module, "config")
        and any(key.endswith("inv_freq") for key, _ in module.named_buffers(recurse=False))
    }


def rates(model: PreTrainedModel) -> Tensor | None:
    """How far each pair of components turns from one token to the next, the fastest first; None without rotary."""
    for module in rotary_modules(model).values():
        if isinstance(getattr(module, "inv_freq", None), Tensor):
            return module.inv_freq.detach().cpu().double()
    return None


@contextlib.contextmanager
def scaled(model: PreTrainedModel, scaling: RopeScaling | None, trained: int | None) -> Iterator[None]:  # fmt: skip
    """The model with its rotary positions scaled, for a while."""
    if scaling is None:
        yield
        return
    own = rotary_modules(model)
    turned = rates(model)
    if not own or turned is None:
        raise TenfoldError(f"{type(model).__name__} has no rotary positions that {scaling} could scale; leave --rope out")  # fmt: skip
    if trained is None:
        raise TenfoldError("the config states no training length; give it with --trained")
    try:
        for name, module in own.items():
            config = copy.deepcopy(module.config)
            config.rope_parameters = _changed(config.rope_parameters, scaling, 2 * len(turned), trained)  # fmt: skip
            place: nn.Module = type(module)(config=config).to(model.device)
            model.set_submodule(name, place)
        yield
    finally:
        for name, module in own.items():
            model.set_submodule(name, module)


def _changed(
    rope: dict[str, Any], scaling: RopeScaling, turned: int, trained: int
) -> dict[str, Any]:
    """Parameters of a config with another scaling. Where kinds of layers have their own, windowed ones stay."""
    if any(isinstance(value, dict) for value in rope.values()):
        return {
            kind: own if "sliding" in kind else _changed(own, scaling, turned, trained)
            for kind, own in rope.items()
        }
    kept: dict[str, Any] = {
        key: rope[key] for key in ("rope_theta", "partial_rotary_factor") if key in rope
    }
    return {**kept, **WAYS[scaling.way](rope, scaling.factor, turned, trained)}
