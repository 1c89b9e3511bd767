"""Hard-ALiBi (Jelassi et al. 2024): some heads see only their last few tokens, the others everything."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places, distance
from tenfold.encodings.decay_series import WINDOW, Series
from tenfold.encodings.encoding import PositionalEncoding


class HardALiBi(PositionalEncoding):
    """Head h = 1..m sees the keys with |i - j| < h; heads beyond m see all and know no position.

    >>> at = Places(index=torch.arange(3)[None])
    >>> HardALiBi(heads=4, windowed=2).visible(at, at)[0, :, 2].int().tolist()
    [[0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    """

    name = "hard-alibi"
    known_as = ("Hard-ALiBi",)
    shared = True
    shift_invariant = True

    def __init__(
        self, heads: PositiveInt, windowed: PositiveInt | None = None, axis: str = "index"
    ) -> None:
        super().__init__(axis)
        self.axis = axis
        windowed = max(1, heads // 2) if windowed is None else windowed
        if windowed > heads:
            raise TenfoldError(f"{windowed} windowed heads of {heads}; at most {heads}")
        self.heads, self.windowed = heads, windowed

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"windowed": 2}]

    def series(self) -> Series:
        spans = [float(h) for h in range(self.windowed)] + [math.inf] * (self.heads - self.windowed)
        return Series(WINDOW, (torch.tensor(spans, dtype=torch.float64)[:, None],))

    def visible(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])
        head = torch.arange(1, self.heads + 1, device=behind.device)[:, None, None]
        near = (behind.abs().unsqueeze(1) < head) & related.unsqueeze(1)
        return near | (head > self.windowed)
