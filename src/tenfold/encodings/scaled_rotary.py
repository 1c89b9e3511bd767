"""Rotary positions with a factor: a number, or one that an axis holds for every input (dynamic scaling).

Shapes: B batch, H heads, T tokens, R turned components.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.data.schemes import HUNDREDTHS
from tenfold.encodings.exact_angles import exact_device, exactly
from tenfold.encodings.rotary import Rotary


class ScaledRotary(Rotary):
    """Rotary whose rates depend on a factor. `factor_axis` names the axis that holds it in hundredths, in place of `factor`.

    The scheme `stretched` makes such an axis: 1 up to its limit, more for longer inputs.
    """

    def __init__(
        self,
        head_size: PositiveInt,
        factor: PositiveFloat,
        base: PositiveFloat,
        share: float,
        axis: str,
        factor_axis: str | None,
    ) -> None:
        super().__init__(head_size, base, share, axis)
        self.factor, self.factor_axis = factor, factor_axis
        if factor_axis == axis:
            raise TenfoldError(
                f'factor_axis is "{axis}", the axis of the positions themselves; an axis of factors is right, such as "stretched"'
            )
        if factor_axis is not None:
            self.axes = frozenset({axis, factor_axis})

    @property
    def invariant(self) -> frozenset[str]:
        return self.axes - {self.factor_axis}

    @abstractmethod
    def scaled(self, factor: Tensor) -> Tensor:
        """The rates (..., R/2) with a factor (..., 1), float64."""

    def size(self, factor: Tensor) -> Tensor | None:
        """What turned components are multiplied by (..., 1); None for 1."""
        return None

    def rates(self, device: torch.device) -> Tensor:
        return self.scaled(torch.tensor([self.factor], device=device, dtype=torch.float64))

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        return self._turned(q, q_at), self._turned(k, k_at)

    def _turned(self, x: Tensor, at: Places) -> Tensor:
        if self.factor_axis is None:
            device = exact_device(x.device)
            factor = torch.tensor([self.factor], device=device, dtype=torch.float64)
        else:
            held = exactly(at[self.factor_axis]).clamp(min=HUNDREDTHS)
            factor = held.unsqueeze(-1).double() / HUNDREDTHS  # (B|1, T, 1)
        return self.turn(x, at[self.axis], self.size(factor), self.scaled(factor))
