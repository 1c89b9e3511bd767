"""A window with a soft edge: nothing is hidden, but keys outside of the window decay with their distance from it."""

from __future__ import annotations

from typing import Any, Literal

import torch
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.data.places import Places, distance
from tenfold.data.roles import Role
from tenfold.encodings.decay_bias import Sloped
from tenfold.encodings.decay_series import GEOMETRIC, TYPE_1, TYPE_2, Decay, Series, flattened
from tenfold.encodings.exact_angles import exact_device
from tenfold.encodings.fading import Fading

DECAYS: dict[str, Decay] = {"alibi": GEOMETRIC, "type-1": TYPE_1, "type-2": TYPE_2}


class SoftWindow(Sloped):
    """bias(i, j) = log b(n) - log b(0), where the key is n places outside of the window; 0 inside of it.

    The window is that of the encoding `window`: `behind`, `ahead`, and `answers` for tokens of the answer. With the
    decay `alibi` the bias is -slope n, with `type-1` it is -ln(1 + (slope n)^2).

    Tokens without a place have no distance, so nothing fades between them and others. `unrelated: false` hides such
    pairs.

    >>> at = Places(column=torch.tensor([[3, 2, 1, 0]]), role=torch.full((1, 4), 3))
    >>> SoftWindow(heads=1, behind=1, slope=8.0).bias(at, at)[0, 0, :2].tolist()
    [[0.0, 0.0, -8.0, -16.0], [-8.0, 0.0, 0.0, -8.0]]
    """

    name = "soft-window"
    known_as = ("ALiBi outside of a window",)

    def __init__(
        self,
        heads: PositiveInt,
        behind: NonNegativeInt = 1,
        ahead: NonNegativeInt = 0,
        axis: str = "column",
        answers: NonNegativeInt | None = None,
        slope: PositiveFloat | None = None,
        decay: Literal["alibi", "type-1", "type-2"] = "alibi",
        unrelated: bool = True,
    ) -> None:
        super().__init__(heads, axis, slope)
        self.axes = self.axes if answers is None else self.axes | {"role"}
        self.behind, self.ahead, self.answers, self.decay = behind, ahead, answers, DECAYS[decay]
        self.unrelated = unrelated

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [
            {},
            {"behind": 2, "slope": 3.0, "answers": 0},
            {"decay": "type-1"},
            {"unrelated": False},
        ]

    @property
    def invariant(self) -> frozenset[str]:
        return frozenset({self.axis})

    def series(self) -> Series:
        """By the distance of a key behind the query."""
        inner = super().series()
        return Series(flattened(inner.decay, self.behind), inner.parameters)

    def fading(self, axis: str) -> Fading | None:
        """Of the widest side, since a decay never grows."""
        if axis != self.axis:
            return Fading()
        widest, inner = max(self.behind, self.ahead), super().series()
        return Fading(widest, (Series(flattened(inner.decay, widest), inner.parameters),))

    @property
    def ways(self) -> frozenset[str]:
        return frozenset({"bias"} if self.unrelated else {"bias", "visible"})

    def visible(self, q_at: Places, k_at: Places) -> Tensor | None:
        if self.unrelated:
            return None
        return distance(q_at[self.axis], k_at[self.axis])[1].unsqueeze(1)

    def apart(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])
        allowed: Tensor | int = self.behind
        if self.answers is not None:
            answer = (k_at["role"] == Role.ANSWER).unsqueeze(-2)
            allowed = torch.where(answer, min(self.answers, self.behind), self.behind)
        outside = torch.maximum(behind - allowed, -behind - self.ahead).clamp(min=0)
        return torch.where(related, outside, 0)

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        return super().bias(q_at, k_at) - self._inside()

    def _inside(self) -> Tensor:
        """log b(0), (H, 1, 1)."""
        where = exact_device(self.anchor.device)
        by_head = (p.to(where)[:, None, None] for p in self.by_head())
        zero = torch.zeros((), dtype=torch.float64, device=where)
        inside = self.decay.log_b(zero, *by_head)
        rounded_type = torch.promote_types(self.anchor.dtype, torch.float32)
        return inside.to(rounded_type).to(self.anchor.device)
