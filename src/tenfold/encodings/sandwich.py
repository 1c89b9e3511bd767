"""Sandwich (Chi et al. 2023): the inner product of sinusoidal positions as a bias, a wavy decay."""

from __future__ import annotations

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.data.places import Places, distance
from tenfold.encodings.decay_series import SANDWICH, Series
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.exact_angles import exactly


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
    anchor: Tensor

    def __init__(
        self,
        heads: PositiveInt,
        waves: PositiveInt = 64,
        base: PositiveFloat = 10_000.0,
        axis: str = "index",
    ) -> None:
        super().__init__(axis)
        self.axis, self.heads, self.waves, self.base = axis, heads, waves, base
        self.register_buffer("anchor", torch.empty(0), persistent=False)  # where, and how precise

    def series(self) -> Series:
        cpu = torch.device("cpu")
        return Series(SANDWICH, (self._shares(cpu)[:, None], self._rates(cpu)))

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        q, k = exactly(q_at[self.axis]), exactly(k_at[self.axis])
        _, related = distance(q, k)
        total = self._turned(q) @ self._turned(k).mT - self.waves  # (B|1, T, S)
        total = torch.where(related, total, 0.0).unsqueeze(1)
        bias = total * self._shares(total.device)[:, None, None]  # (B|1, H, T, S)
        bias = bias.to(torch.promote_types(self.anchor.dtype, torch.float32))
        return bias.to(q_at[self.axis].device)

    def _turned(self, place: Tensor) -> Tensor:
        """Sines and cosines, (B|1, T, 2D), exact at long range."""
        angle = place.unsqueeze(-1) * self._rates(place.device)
        return torch.cat([angle.cos(), angle.sin()], -1)

    def _rates(self, device: torch.device) -> Tensor:
        wave = torch.arange(1, self.waves + 1, device=device, dtype=torch.float64)
        return self.base ** (-wave / self.waves)

    def _shares(self, device: torch.device) -> Tensor:
        head = torch.arange(1, self.heads + 1, device=device, dtype=torch.float64)
        return self.heads / (8 * head)
