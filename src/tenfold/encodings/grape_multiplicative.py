"""Multiplicative GRAPE (Zhang et al. 2025, arXiv 2512.07805): rotations whose frequencies are learned for each head."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.exact_angles import exactly, rounded
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped


class GrapeM(PositionalEncoding):
    """Component pairs (c, c + K/2) of head h turn by i e^(r_hc); r starts at `rotary`'s, -(2c/K) ln(base).

    GRAPE lets position i act as exp(i L) with a skew matrix L, a rotation in any planes at any frequencies. In an
    orthogonal basis of its own, every such L turns pairs of components. The weights of queries and keys can
    learn that basis, so the frequencies are what is left to learn. This is the form without context of the
    public code, there with one r for all heads. No place does not turn.

    >>> at, q = Places(index=torch.arange(3)[None]), torch.ones(1, 1, 3, 4)
    >>> turned, _ = GrapeM(heads=1, head_size=4).rotate(q, q, at, at)
    >>> from tenfold.encodings.rotary import Rotary
    >>> torch.allclose(turned, Rotary(head_size=4).rotate(q, q, at, at)[0])
    True
    """

    name = "grape-m"
    known_as = ("GRAPE-M", "multiplicative GRAPE", "learned rotary frequencies")
    shift_invariant = True

    def __init__(
        self,
        heads: PositiveInt,
        head_size: PositiveInt,
        base: PositiveFloat = 10_000.0,
        axis: str = "index",
    ) -> None:
        super().__init__(axis)
        if head_size < 2:
            raise TenfoldError("grape-m in heads of size 1; at least 2 components turn")
        self.axis = axis
        pair = torch.arange(head_size // 2)
        first = -2 * pair / (head_size // 2 * 2) * math.log(base)
        self.log_rates = nn.Parameter(first.repeat(heads, 1))  # (H, K/2)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"base": 100.0}]

    def maps(self, pairs: Pairs) -> list[Map]:
        heads = tuple(range(len(self.log_rates)))
        rows = MapGroup("", "head", heads, heads)
        rates = self.log_rates.exp()
        return grouped([rows], rates, torch.tensor(heads), "frequency of each pair")

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        rates = exactly(self.log_rates).double().exp()
        return self._turn(q, q_at[self.axis], rates), self._turn(k, k_at[self.axis], rates)

    def _turn(self, x: Tensor, place: Tensor, rates: Tensor) -> Tensor:
        place = exactly(place.clamp(min=0))
        angle = place[:, None, :, None] * rates[:, None]  # (B|1, H, T, K/2) float64
        cos, sin = rounded(angle.cos(), x), rounded(angle.sin(), x)
        half = rates.shape[-1]
        a, b, rest = x.split([half, half, x.shape[-1] - 2 * half], -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)
