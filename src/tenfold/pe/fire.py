"""FIRE (Li et al. 2024): a small network maps the distance, as a share of the query's position, to a bias."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor, nn

from tenfold.pe.base import PositionalEncoding
from tenfold.places import Places, distance

ROOM = 1 << 22  # numbers that a slice of the hidden layer may have


class FIRE(PositionalEncoding):
    """bias(i, j) = f(psi(i - j) / psi(max(L, i))), psi(x) = ln(1 + |c x|); c, L and the network f are learned.

    The share is within 0..1 at any length ("progressive interpolation"), so long inputs look to f like
    short ones. Keys ahead, which the paper has no use for, get a negative share, and the longer of the
    two places in the denominator. Depends on the query's place: no function of distance alone, and no
    receptive field before training.

    >>> at = Places(index=torch.arange(3)[None])
    >>> FIRE(heads=4).bias(at, at).shape
    torch.Size([1, 4, 3, 3])
    """

    name = "fire"
    known_as = ("FIRE",)

    def __init__(
        self,
        heads: int,
        hidden: PositiveInt = 32,
        threshold: PositiveFloat = 512.0,
        axis: str = "index",
    ) -> None:
        super().__init__(axis)
        self.axis, self.threshold = axis, threshold
        self.c = nn.Parameter(torch.tensor(0.1))
        self.multiplier = nn.Parameter(torch.tensor(1.0))  # L = threshold * multiplier
        self.expand = nn.Linear(1, hidden)
        self.contract = nn.Linear(hidden, heads)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"threshold": 64.0}]

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        share, related = self.share(q_at[self.axis], k_at[self.axis])  # (B|1, T, S)
        rows = max(1, ROOM // (share.shape[0] * share.shape[2] * self.expand.out_features))
        if torch.compiler.is_exporting() or share.shape[1] <= rows:
            bias = self._network(share)
        else:  # never a hidden layer of all pairs at once
            bias = torch.cat([self._network(some) for some in share.split(rows, 1)], 2)
        return bias * related.unsqueeze(1)

    def share(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        behind, related = distance(q, k)
        limit = (self.threshold * self.multiplier).abs()
        longest = torch.maximum(torch.maximum(q.unsqueeze(-1), k.unsqueeze(-2)), limit)
        return torch.sign(behind) * self._psi(behind) / (self._psi(longest) + 1e-6), related

    def _psi(self, x: Tensor) -> Tensor:
        return torch.log1p((self.c * x).abs())

    def _network(self, share: Tensor) -> Tensor:
        hidden = torch.relu(self.expand(share.unsqueeze(-1)))  # (B|1, T, S, hidden)
        return self.contract(hidden).permute(0, 3, 1, 2)
