"""NTK-aware scaling (bloc97 2023): a larger rotary base, so that fast turns stay and slow ones are squeezed."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.encodings.scaled_rotary import ScaledRotary


class RotaryNTK(ScaledRotary):
    """Rotary with base * factor^(R/(R-2)): the slowest pair turns `factor` times as slowly, the fastest as before.

    `factor_axis: stretched` takes the factor of each input from an axis, with the scheme `stretched` (dynamic NTK).

    >>> RotaryNTK(head_size=4, factor=4).rates(torch.device("cpu")).tolist()
    [1.0, 0.0025]
    """

    name = "rotary-ntk"
    known_as = ("NTK-aware scaling", "dynamic NTK")

    def __init__(
        self,
        head_size: PositiveInt,
        factor: PositiveFloat = 4.0,
        base: PositiveFloat = 10_000.0,
        share: float = 1.0,
        axis: str = "index",
        factor_axis: str | None = None,
    ) -> None:
        super().__init__(head_size, factor, base, share, axis, factor_axis)
        if self.turned < 4:
            raise TenfoldError(
                f"NTK-aware scaling of {self.turned} turned components; at least 4, to have a "
                "fast and a slow pair"
            )

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}]

    def scaled(self, factor: Tensor) -> Tensor:
        pair = torch.arange(self.turned // 2, device=factor.device, dtype=torch.float64)
        base = self.base * factor ** (self.turned / (self.turned - 2))
        return base ** (-2 * pair / self.turned)
