"""Sinusoids between positions: places that are counted in parts of a position, as interpolation gives them."""

from __future__ import annotations

from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.data.places import Places
from tenfold.encodings.exact_angles import exactly
from tenfold.encodings.sinusoidal import Sinusoidal


class FineSinusoidal(Sinusoidal):
    """p(i / parts) of `sinusoidal`: on the axis `interpolated`, position interpolation (Chen et al. 2023).

    >>> import torch
    >>> x, at = torch.zeros(1, 1, 4), Places(index=torch.full((1, 1), 128))
    >>> fine, whole = FineSinusoidal(width=4, parts=64), Sinusoidal(width=4)
    >>> torch.equal(fine.embed(x, at), whole.embed(x, Places(index=torch.full((1, 1), 2))))
    True
    """

    name = "fine-sinusoidal"
    known_as = ("position interpolation (on the axis interpolated)",)

    def __init__(
        self,
        width: PositiveInt,
        base: PositiveFloat = 10_000.0,
        axis: str = "index",
        parts: PositiveInt = 64,
    ) -> None:
        super().__init__(width, base, axis)
        self.parts = parts

    def embed(self, x: Tensor, at: Places) -> Tensor:
        return super().embed(x, Places(**{self.axis: exactly(at[self.axis]).double() / self.parts}))
