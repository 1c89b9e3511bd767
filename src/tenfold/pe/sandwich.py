"""Sandwich (Chi et al. 2023): the inner product of sinusoidal positions as a bias, a wavy decay."""

from __future__ import annotations

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.pe.base import PositionalEncoding
from tenfold.pe.series import SANDWICH, Series
from tenfold.places import Places, distance


class Sandwich(PositionalEncoding):
    """bias(i, j) = H/(8h) (sum_{c=1..D} cos((i - j) w_c) - D), w_c = base^(-c/D), head h = 1..H.

    The cosine of a difference is an inner product, so the whole bias is one matrix product. Bounded
    below: its series diverges in the limit, though the weights fall over practical distances.

    >>> at = Places(index=torch.arange(3)[None])
    >>> Sandwich(heads=8).bias(at, at)[0, 0, 2]
    tensor([-5.2020, -1.4466,  0.0000])
    """

    name = "sandwich"
    known_as = ("Sandwich",)
    shared = True
    shift_invariant = True
    share: Tensor

    def __init__(
        self,
        heads: int,
        waves: PositiveInt = 64,
        base: PositiveFloat = 10_000.0,
        axis: str = "index",
    ) -> None:
        super().__init__(axis)
        self.axis, self.waves, self.base = axis, waves, base
        head = torch.arange(1, heads + 1)
        self.register_buffer("share", heads / (8 * head), persistent=False)

    def series(self) -> Series:
        return Series(SANDWICH, (self.share.double()[:, None], self._rates()))

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        q, k = q_at[self.axis], k_at[self.axis]
        _, related = distance(q, k)
        total = self._turned(q) @ self._turned(k).mT - self.waves  # (B|1, T, S)
        total = torch.where(related, total, 0.0).unsqueeze(1)
        return (total * self.share[:, None, None]).to(self.share.dtype)

    def _turned(self, place: Tensor) -> Tensor:
        """Sines and cosines, (B|1, T, 2D), exact at long range."""
        angle = place.unsqueeze(-1) * self._rates()
        return torch.cat([angle.cos(), angle.sin()], -1)

    def _rates(self) -> Tensor:
        wave = torch.arange(1, self.waves + 1, device=self.share.device, dtype=torch.float64)
        return self.base ** (-wave / self.waves)
