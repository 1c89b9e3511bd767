"""Power decays (Qin et al. 2023, the `extrapolation` paper): weights exp(-c (k n)^p), any power and factor."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.encodings.decay_bias import Sloped
from tenfold.encodings.decay_series import POWER


class Power(Sloped):
    """bias(i, j) = -c (k_h |i - j|)^p, with ALiBi's slopes k_h. Its series converges for every p > 0.

    The paper's: (p, c) = (2, 1), (0.5, 1), (1.25, 1), (0.75, 0.5), (4, 1).

    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> Power(heads=8, power=2).bias(at, at)[0, 0, 2].tolist()
    [-1.0, -0.25, -0.0]
    """

    name = "power"
    known_as = ("powers",)
    decay = POWER

    def __init__(
        self,
        heads: PositiveInt,
        power: PositiveFloat = 0.5,
        factor: PositiveFloat = 1.0,
        axis: str = "index",
        slope: PositiveFloat | None = None,
    ) -> None:
        super().__init__(heads, axis, slope)
        self.power, self.factor = power, factor

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"power": 2.0}, {"power": 0.75, "factor": 0.5}]

    def by_head(self) -> tuple[Tensor, ...]:
        k = self.slopes
        return k, torch.full_like(k, self.power), torch.full_like(k, self.factor)
