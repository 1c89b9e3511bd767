"""YaRN (Peng et al. 2024): slow rotary turns are squeezed, fast ones stay, with a ramp between, and sharper logits."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.encodings.rotary import Rotary
from tenfold.encodings.scaled_rotary import ScaledRotary


class RotaryYaRN(ScaledRotary):
    """A pair that turns r times within the trained length keeps its rate if r > fast, is divided by `factor` if r < slow.

    Pairs between, by their number, go over linearly. Turned components grow by 0.1 ln(factor) + 1, so
    that logits grow by its square. `factor_axis: stretched` takes the factor of each input from an axis, with the scheme
    `stretched` (Dynamic-YaRN).

    >>> RotaryYaRN(head_size=8, factor=4, trained=512).rates(torch.device("cpu"))
    tensor([1.0000e+00, 6.2500e-02, 2.5000e-03, 2.5000e-04], dtype=torch.float64)
    """

    name = "rotary-yarn"
    known_as = ("YaRN",)

    def __init__(
        self,
        head_size: PositiveInt,
        factor: PositiveFloat = 4.0,
        trained: PositiveInt = 512,
        fast: PositiveFloat = 32.0,
        slow: PositiveFloat = 1.0,
        base: PositiveFloat = 10_000.0,
        share: float = 1.0,
        axis: str = "index",
        factor_axis: str | None = None,
    ) -> None:
        super().__init__(head_size, factor, base, share, axis, factor_axis)
        if fast <= slow:
            raise TenfoldError(f"fast turns of {fast} and slow ones of {slow}; fast must be more")
        if base <= 1:
            raise TenfoldError(
                f"a base of {base}; YaRN needs more than 1, to distinguish fast pairs from slow ones"
            )
        self.trained, self.fast, self.slow = trained, fast, slow

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"trained": 64}]

    def scaled(self, factor: Tensor) -> Tensor:
        rates = Rotary.rates(self, factor.device)
        last = self.turned - 1
        low = max(math.floor(self._pair(self.fast)), 0)
        high = max(min(math.ceil(self._pair(self.slow)), last), low + 0.001)
        pair = torch.arange(len(rates), device=factor.device, dtype=torch.float64)
        squeezed = ((pair - low) / (high - low)).clamp(0, 1)
        return rates * (1 - squeezed) + rates / factor * squeezed

    def size(self, factor: Tensor) -> Tensor:
        return 0.1 * factor.clamp(min=1.0).log() + 1

    def _pair(self, turns: float) -> float:
        """The number of the pair that turns this often within the trained length."""
        rate = 2 * math.pi * turns / self.trained
        return -self.turned * math.log(rate) / (2 * math.log(self.base))
