"""xPos (Sun et al. 2023): rotary positions whose components also shrink with distance, fast turns most."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.encoding import Attends
from tenfold.encodings.exact_angles import exactly
from tenfold.encodings.rotary import Rotary

GAMMA = 0.4


class XPos(Rotary):
    """Rotary, with pair c of a query grown by z_c^(i/scale) and of a key by z_c^(-j/scale).

    z_c = (2c/R + 0.4) / 1.4 < 1, so the pair's product shrinks as z_c^((i - j)/scale). Keys ahead would
    grow instead: causal attention only. Tokens without a place lose what would be turned. The factors
    leave single precision some 64 scales away.

    >>> at = Places(index=torch.arange(600)[None])
    >>> q = torch.ones(1, 1, 600, 4)
    >>> q, k = XPos(head_size=4).rotate(q, q, at, at)
    >>> logits = q[0, 0, -1] @ k[0, 0].mT
    >>> bool(logits[0].abs() < logits[-1])
    True
    """

    name = "xpos"
    known_as = ("xPos", "XPos")
    kinds = frozenset({Attends.CAUSAL})

    def __init__(
        self,
        head_size: PositiveInt,
        scale: PositiveFloat = 512.0,
        base: PositiveFloat = 10_000.0,
        share: float = 1.0,
        axis: str = "index",
    ) -> None:
        super().__init__(head_size, base, share, axis)
        self.scale = scale
        greatest = (
            math.log(torch.finfo(torch.float32).max) - 8
        )  # room for the components themselves
        self.limit = int(greatest * scale / math.log((1 + GAMMA) / GAMMA))

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"scale": max(1.0, room / 64)}]

    def check(self, q_at: Places, k_at: Places) -> None:
        top = int(k_at[self.axis].max())
        if self.limit is not None and top >= self.limit:
            raise TenfoldError(
                f"xpos with a scale of {self.scale:g} ends at {self.limit - 1}, the input reaches {top} "
                f'on the axis "{self.axis}"; raise its scale'
            )

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        if q.dtype is torch.float16:
            raise TenfoldError("xpos in float16, whose numbers end too early; float32 or bfloat16")
        q_place, k_place = q_at[self.axis], k_at[self.axis]
        return (
            self.turn(q, q_place, self._size(q_place, 1)),
            self.turn(k, k_place, self._size(k_place, -1)),
        )

    def _size(self, place: Tensor, sign: int) -> Tensor:
        place = exactly(place)
        pair = torch.arange(self.turned // 2, device=place.device, dtype=torch.float64)
        z = (2 * pair / self.turned + GAMMA) / (1 + GAMMA)
        place = place.unsqueeze(-1)
        return z ** (sign * place.clamp(min=0).double() / self.scale) * (place >= 0)
