"""FIRE (Li et al. 2024): a small network maps the distance, as a share of the query's position, to a bias."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.data.places import Places, distance
from tenfold.encodings.encoding import PositionalEncoding, looked_up

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
    no_series = "its bias depends on the place of the query too, not on distance alone"
    known_as = ("FIRE",)

    def __init__(
        self,
        heads: PositiveInt,
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
        q, k = q_at[self.axis], k_at[self.axis]
        rows = max(q.shape[0], k.shape[0])
        if rows > 1 and not (q.is_meta or torch.compiler.is_exporting()):
            size = max(1, 1 + int(torch.maximum(q.max(), k.max())))
            if size * size < rows * q.shape[1] * k.shape[1]:
                return self._looked_up(q, k, size)
        return self._computed(q, k)

    def _computed(self, q: Tensor, k: Tensor) -> Tensor:
        share, related = self.share(q, k)  # (B|1, T, S)
        rows = max(1, ROOM // (share.shape[0] * share.shape[2] * self.expand.out_features))
        if torch.compiler.is_exporting() or share.shape[1] <= rows:
            bias = self._network(share)
        else:  # never a hidden layer of all pairs at once
            bias = torch.cat([self._network(some) for some in share.split(rows, 1)], 2)
        return bias * related.unsqueeze(1)

    def _looked_up(self, q: Tensor, k: Tensor, size: int) -> Tensor:
        """Rows differ, but meet the same places: each pair of places computed once."""
        place = torch.arange(size, device=q.device)[None]
        table = self._computed(place, place)[0].flatten(1)  # (H, places * places)
        _, related = distance(q, k)
        pair = q.clamp(min=0).unsqueeze(-1) * size + k.clamp(min=0).unsqueeze(-2)
        return looked_up(table.mT, pair) * related.unsqueeze(1)

    def share(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Computed in at least single precision, whatever the model's: half precision cannot count far."""
        c, multiplier = self._wide(self.c), self._wide(self.multiplier)
        behind, related = distance(q, k)
        limit = (self.threshold * multiplier).abs()
        longest = torch.maximum(torch.maximum(q.unsqueeze(-1), k.unsqueeze(-2)), limit)
        far, whole = torch.log1p((c * behind).abs()), torch.log1p((c * longest).abs())
        return torch.sign(behind) * far / (whole + 1e-6), related

    def _network(self, share: Tensor) -> Tensor:
        first, second = (map(self._wide, (x.weight, x.bias)) for x in (self.expand, self.contract))
        hidden = F.relu(F.linear(share.unsqueeze(-1), *first))  # (B|1, T, S, hidden)
        return F.linear(hidden, *second).permute(0, 3, 1, 2)

    def _wide(self, x: Tensor) -> Tensor:
        return x.to(torch.promote_types(x.dtype, torch.float32))
