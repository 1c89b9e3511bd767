"""PoPE (Gopalakrishnan et al. 2025, arXiv 2509.10534): content gives the size of each component, position its angle."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.exact_angles import exactly, rounded
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped


class PoPE(PositionalEncoding):
    """q.k becomes the sum over c of s(q_c) s(k_c) cos((i - j) / base^(c/K) - d_hc), s(x) = ln(1 + e^x).

    Every component is a complex number: its size comes from the content alone, its angle from the position
    alone. In `rotary` two components share a size and an angle, so content can shift a position. d is learned
    for each head and component; it starts at 0 and stays within -2 pi..0. Turned queries and keys have 2 K
    numbers, so the cache of keys is twice as large. A token without a place has the angle 0.

    >>> at = Places(index=torch.arange(3)[None])
    >>> q = torch.zeros(1, 1, 3, 4)
    >>> turned, keys = PoPE(heads=1, head_size=4).rotate(q, q, at, at)
    >>> turned.shape
    torch.Size([1, 1, 3, 8])
    >>> round(float((turned[0, 0, 0] @ keys[0, 0, 0]).detach()), 3)  # 4 (ln 2)^2
    1.922
    """

    name = "pope"
    known_as = ("PoPE", "polar coordinate position embedding")
    shift_invariant = True
    lengthens = True

    def __init__(
        self,
        heads: PositiveInt,
        head_size: PositiveInt,
        base: PositiveFloat = 10_000.0,
        axis: str = "index",
    ) -> None:
        super().__init__(axis)
        self.axis, self.base, self.head_size = axis, base, head_size
        self.delta = nn.Parameter(torch.zeros(heads, head_size))

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"base": 100.0}]

    def maps(self, pairs: Pairs) -> list[Map]:
        heads = tuple(range(len(self.delta)))
        rows = MapGroup("", "head", heads, heads)
        return grouped([rows], self.delta, torch.tensor(heads), "angle of each component")

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        if q.shape[-1] != self.head_size:
            raise TenfoldError(
                f"pope is for heads of size {self.head_size}, the queries have {q.shape[-1]}"
            )
        # clamped, with the gradient of the unclamped: it can leave its bound again
        delta = self.delta.clamp(-2 * math.pi, 0.0).detach() + (self.delta - self.delta.detach())
        return self._polar(q, q_at[self.axis]), self._polar(k, k_at[self.axis], delta)

    def _polar(self, x: Tensor, place: Tensor, delta: Tensor | None = None) -> Tensor:
        """(B, H, T, K) at places (B|1, T) -> (B, H, T, 2 K): cosines, then sines."""
        place = exactly(place)
        component = torch.arange(self.head_size, device=place.device, dtype=torch.float64)
        rate = self.base ** (-component / self.head_size)
        angle = (place.clamp(min=0).unsqueeze(-1) * rate).unsqueeze(1)  # float64: exact far away
        if delta is not None:
            angle = angle + exactly(delta).unsqueeze(1)  # (B|1, H, T, K)
        size = F.softplus(x)
        return torch.cat([size * rounded(angle.cos(), x), size * rounded(angle.sin(), x)], -1)
