"""NTK-aware scaling (bloc97 2023): a larger rotary base, so that fast turns stay and slow ones are squeezed."""

from __future__ import annotations

from typing import Any

from pydantic import PositiveFloat, PositiveInt

from tenfold.core.errors import TenfoldError
from tenfold.encodings.rotary import Rotary


class RotaryNTK(Rotary):
    """Rotary with base * factor^(R/(R-2)): the slowest pair turns `factor` times as slowly, the fastest as before.

    >>> import torch
    >>> RotaryNTK(head_size=4, factor=4).rates(torch.device("cpu")).tolist()
    [1.0, 0.0025]
    """

    name = "rotary-ntk"
    known_as = ("NTK-aware scaling",)

    def __init__(
        self,
        head_size: PositiveInt,
        factor: PositiveFloat = 4.0,
        base: PositiveFloat = 10_000.0,
        share: float = 1.0,
        axis: str = "index",
    ) -> None:
        super().__init__(head_size, base, share, axis)
        if self.turned < 4:
            raise TenfoldError(
                f"NTK-aware scaling of {self.turned} turned components; at least 4, to have a "
                "fast and a slow pair"
            )
        self.base = base * factor ** (self.turned / (self.turned - 2))

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}]
