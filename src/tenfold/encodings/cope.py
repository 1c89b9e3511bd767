"""CoPE (Golovneva et al. 2024): the position of a key is how many of the tokens since it the query counts."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.data.places import Places, distance, in_order
from tenfold.encodings.encoding import Attends, PositionalEncoding
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped


class CoPE(PositionalEncoding):
    """p_ij = sum over m = j..i of sigmoid(q_i.k_m / sqrt(K)), at most positions - 1; the logit grows by q_i.e[p_ij].

    e is a learned table, read between its rows by linear interpolation. Counting goes back from the query
    in the order of the tokens, over those that have a place on the axis, so it needs causal attention;
    queries are the last of the keys.

    >>> at = Places(index=torch.arange(5)[None])
    >>> q = torch.zeros(2, 4, 5, 16)
    >>> CoPE(head_size=16).scores(q, q, at, at).shape
    torch.Size([2, 4, 5, 5])
    """

    name = "cope"
    no_series = "its distances depend on what the keys contain, not on places alone"
    known_as = ("CoPE", "contextual position encoding")
    kinds = frozenset({Attends.CAUSAL})
    reads_keys = True
    multiplies = True
    shift_invariant = True

    def __init__(
        self, head_size: PositiveInt, positions: PositiveInt = 64, axis: str = "index"
    ) -> None:
        super().__init__(axis)
        self.axis, self.positions = axis, positions
        self.table = nn.Parameter(torch.zeros(positions, head_size))

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"positions": 5, "axis": "column"}]

    def maps(self, pairs: Pairs) -> list[Map]:
        places = tuple(range(self.positions))
        rows = MapGroup("", "tokens counted back from the query", places, places)
        return grouped([rows], self.table, torch.tensor(places), "scores")

    def scores(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        _, related = distance(q_at[self.axis], k_at[self.axis])
        query, key = in_order(q.shape[2], k.shape[2], q.device)
        counted = (related & (key <= query)).unsqueeze(1)  # (B|1, 1, T, S)
        root = math.sqrt(q.shape[-1])
        gates = torch.sigmoid(q @ k.mT / root) * counted  # (B, H, T, S)
        position = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=self.positions - 1)
        below = position.detach().floor()
        by_row = q @ self.table.mT  # (B, H, T, positions)
        low = by_row.gather(-1, below.long())
        high = by_row.gather(-1, position.detach().ceil().long())
        return torch.lerp(low, high, position - below) * root
