"""Position interpolation (Chen et al. 2023): rotary positions squeezed by a factor into the trained range."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.encodings.rotary import Rotary


class RotaryLinear(Rotary):
    """Rotary at i / factor: a model trained to 512 places reads 2048 with `factor=4`.

    >>> RotaryLinear(head_size=4, factor=4).rates(torch.device("cpu")).tolist()
    [0.25, 0.0025]
    """

    name = "rotary-linear"
    known_as = ("position interpolation", "PI", "linear RoPE scaling")

    def __init__(
        self,
        head_size: PositiveInt,
        factor: PositiveFloat = 4.0,
        base: PositiveFloat = 10_000.0,
        share: float = 1.0,
        axis: str = "index",
    ) -> None:
        super().__init__(head_size, base, share, axis)
        self.factor = factor

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}]

    def rates(self, device: torch.device) -> Tensor:
        return super().rates(device) / self.factor
