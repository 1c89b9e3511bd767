"""Sinusoidal absolute positions (Vaswani et al. 2017), added to the input."""

from __future__ import annotations

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.data.places import Places
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.exact_angles import exactly, rounded


class Sinusoidal(PositionalEncoding):
    """p(i)[2c] = scale sin(i / base^(2c/D)), p(i)[2c+1] = scale cos of the same; no place adds nothing.

    Embeddings of tokens begin here with a deviation of 0.02, so that with a `scale` of 1 the waves are 35 times as large. Where
    embeddings are multiplied by sqrt(D), as in the original transformer, they are about half as large as tokens: 0.01.

    >>> Sinusoidal(width=4).embed(
    ...     torch.zeros(1, 1, 4), Places(index=torch.zeros(1, 1).long())
    ... ).tolist()
    [[[0.0, 1.0, 0.0, 1.0]]]
    """

    name = "sinusoidal"
    known_as = ("sinusoidal APE",)
    shared = True

    def __init__(
        self,
        width: PositiveInt,
        base: PositiveFloat = 10_000.0,
        axis: str = "index",
        scale: PositiveFloat = 1.0,
    ) -> None:
        super().__init__(axis)
        self.axis, self.base, self.width, self.scale = axis, base, width, scale

    def embed(self, x: Tensor, at: Places) -> Tensor:
        place = exactly(at[self.axis]).unsqueeze(-1)  # (B|1, T, 1)
        even = torch.arange(0, self.width, 2, device=place.device, dtype=torch.float64)
        angle = place * self.base ** (-even / self.width)  # (B|1, T, D/2), exact at long range
        waves = torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)[..., : self.width]
        return x + rounded(self.scale * waves * (place >= 0), x)
