"""Encodings as the page reads them: a name, its numbers, and the names of its tensors.

The page has its own code for some encodings. All others are refused by name, before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from tenfold.core.errors import TenfoldError
from tenfold.encodings.alibi import ALiBi
from tenfold.encodings.calibrated import UNSEEN, Calibrated
from tenfold.encodings.compose import Compose
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.learned import Learned
from tenfold.encodings.nope import NoPE
from tenfold.encodings.pairwise import Pairwise
from tenfold.encodings.relations import Joint, Relation, Relative, Significance, Uniform
from tenfold.encodings.rotary import Rotary
from tenfold.encodings.sinusoidal import Sinusoidal
from tenfold.encodings.soft_window import DECAYS, SoftWindow
from tenfold.encodings.window import Window

FACTS = frozenset({"index", "role", "significance", "column"})  # the axes that the page knows
Exported = dict[str, Any]


class EncodingExport:
    """Describes the encodings of one model, whose tensors have these names."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._tensors: Mapping[int, str] = {
            id(tensor): name for name, tensor in model.named_parameters()
        }

    def describe(self, pe: PositionalEncoding) -> Exported:
        """One encoding with its parts. Raises where the page has no code for it."""
        describe = DESCRIBED.get(type(pe))
        if describe is None:
            known = ", ".join(sorted(kind.name for kind in DESCRIBED))
            raise TenfoldError(
                f'the explorer cannot run the encoding "{pe.name}"; it can run {known}'
            )
        for axis in sorted(pe.axes - FACTS):
            raise TenfoldError(
                f'the explorer cannot run the encoding "{pe.name}" on the axis "{axis}", which a scheme provides; '
                f"it can on {', '.join(sorted(FACTS))}"
            )
        return {"name": pe.name, **describe(self, pe)}

    def tensor(self, parameter: torch.Tensor | None) -> str | None:
        """The name by which the page finds a parameter's numbers."""
        return None if parameter is None else self._tensors[id(parameter)]


def _nothing(export: EncodingExport, pe: Any) -> Exported:
    return {}


def _learned(export: EncodingExport, pe: Learned) -> Exported:
    return {"axis": pe.axis, "limit": pe.limit, "table": export.tensor(pe.table)}


def _sinusoidal(export: EncodingExport, pe: Sinusoidal) -> Exported:
    return {"axis": pe.axis, "base": pe.base, "scale": pe.scale}


def _rotary(export: EncodingExport, pe: Rotary) -> Exported:
    return {"axis": pe.axis, "rates": pe.rates(torch.device("cpu")).tolist()}


def _alibi(export: EncodingExport, pe: ALiBi) -> Exported:
    return {"axis": pe.axis, "slopes": pe.slopes.tolist()}


def _pairwise(export: EncodingExport, pe: Pairwise) -> Exported:
    return {
        "relation": _relation(pe.relation),
        "unrelated": pe.unrelated,
        "table": export.tensor(pe.table),
        "values": export.tensor(pe.value_table),
    }


def _window(export: EncodingExport, pe: Window) -> Exported:
    names = ("axis", "behind", "ahead", "answers", "hub")
    return {name: getattr(pe, name) for name in names}


def _soft_window(export: EncodingExport, pe: SoftWindow) -> Exported:
    names = ("axis", "behind", "ahead", "answers", "unrelated")
    decay = next(name for name, decay in DECAYS.items() if decay is pe.decay)
    return {**{n: getattr(pe, n) for n in names}, "slopes": pe.slopes.tolist(), "decay": decay}


def _calibrated(export: EncodingExport, pe: Calibrated) -> Exported:
    lines = [line.model_dump(exclude={"attention", "layer"}) for line in pe.own]
    calibrated = any(line.attention == pe.kind for line in pe.lines)
    return {
        "heads": pe.heads,
        "lines": lines,
        "unseen": UNSEEN,
        "crossing": pe.kind == "cross",
        "itself": pe.kind == "causal" and pe.question == "itself" and calibrated,
    }


def _compose(export: EncodingExport, pe: Compose) -> Exported:
    return {"parts": [export.describe(part) for part in pe.parts]}


DESCRIBED: dict[type[PositionalEncoding], Callable[[EncodingExport, Any], Exported]] = {
    NoPE: _nothing,
    Learned: _learned,
    Sinusoidal: _sinusoidal,
    Rotary: _rotary,
    ALiBi: _alibi,
    Pairwise: _pairwise,
    Window: _window,
    SoftWindow: _soft_window,
    Calibrated: _calibrated,
    Compose: _compose,
}
RELATED: dict[type[Relation], tuple[str, ...]] = {
    Relative: ("reach", "clip", "axis"),
    Significance: ("reach", "clip", "axis"),
    Uniform: ("reach", "clip", "axis", "digits", "role", "first"),
    Joint: ("reach", "clip", "axis", "roles", "differences", "hub", "digits", "first"),
}


def _relation(relation: Relation) -> Exported:
    names = RELATED.get(type(relation))
    if names is None:
        known = ", ".join(sorted(kind.name for kind in RELATED))
        raise TenfoldError(
            f'the explorer cannot run the relation "{relation.name}"; it can run {known}'
        )
    return {"name": relation.name, **{name: getattr(relation, name) for name in names}}
