"""Learned absolute positions: a vector per place, added to the input (APE)."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped
from tenfold.encodings.steady import Steady, longest


class Learned(PositionalEncoding):
    """z_i = E x_i + p_i, with p from a table of `limit` places on any axis; no place adds nothing.

    On the axis `abacus` these are Abacus embeddings (McLeish et al. 2024); on `significance`, or
    `coupled` for a random start, it is position coupling (Cho et al. 2024).

    >>> Learned(width=8, limit=64).embed(
    ...     torch.zeros(1, 3, 8), Places(index=torch.arange(3)[None])
    ... ).shape
    torch.Size([1, 3, 8])
    """

    name = "learned"
    known_as = (
        "APE",
        "absolute",
        "Abacus (on the axis abacus)",
        "position coupling (on significance)",
    )
    shared = True

    def __init__(self, width: PositiveInt, limit: PositiveInt = 512, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis = axis
        self.limit: int = limit
        self.table = nn.Parameter(torch.randn(limit, width) * 0.02)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"limit": room}]

    def check(self, q_at: Places, k_at: Places) -> None:
        top = int(k_at[self.axis].max())
        if top >= self.limit:
            raise TenfoldError(
                f"learned positions end at {self.limit - 1}, the input reaches {top} "
                f'on the axis "{self.axis}"; raise their limit'
            )

    def steady(self) -> Steady:
        return Steady(embed=longest(self.table), terms=1)

    def maps(self, pairs: Pairs) -> list[Map]:
        places = tuple(range(self.limit))
        occurring = pairs.k_at[self.axis]
        rows = MapGroup("", f"place on {self.axis}", places, places)
        return grouped([rows], self.table, occurring[occurring >= 0], "input")

    def embed(self, x: Tensor, at: Places) -> Tensor:
        place = at[self.axis]
        vectors = self.table[place.clamp(min=0)]  # (B|1, T, D)
        return x + vectors * (place >= 0).unsqueeze(-1)
