"""Selective attention (Leviathan et al. 2025, arXiv 2410.02703): a token may tell all later ones to ignore a key."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.data.places import Places
from tenfold.encodings.encoding import Attends, PositionalEncoding
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped


class Selective(PositionalEncoding):
    """bias(i, j) = -sum over l = j+1..i-1 of relu(a_l.b_j / sqrt(K)), a = A x and b = B x, the same in all heads.

    Token l selects key j with a_l.b_j: every token after l sees j less. The first token is never selected,
    and no token selects itself. x is the input of the attention layer. The sum runs in the order of the
    tokens, over those that have a place on the axis, so attention must be causal.

    The paper takes the logits of one head for the selection. Logits of earlier queries are in no cache, so
    here A and B are weights of their own, K is `size`, and the cache keeps 2 K numbers for each key; the
    paper names a separate bilinear form as the alternative. Each step of decoding sums over all pairs.

    >>> at, x = Places(index=torch.arange(4)[None]), torch.ones(1, 4, 2)
    >>> pe, q = Selective(width=2, size=1), torch.zeros(1, 2, 4, 4)
    >>> with torch.no_grad():
    ...     _ = pe.select.weight.fill_(0.5)  # a = b = 1 for every token
    >>> pe.state_bias(pe.state(x, at), q, q, at, at)[0, 0].int().tolist()
    [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, -1, 0, 0]]
    """

    name = "selective"
    known_as = ("selective attention",)
    no_series = "what is ignored depends on what the tokens contain, not on distance alone"
    kinds = frozenset({Attends.CAUSAL})
    reads_keys = True
    reads_first = True
    shift_invariant = True

    def __init__(self, width: PositiveInt, size: PositiveInt = 16, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis, self.size = axis, size
        self.features = 2 * size
        self.select = nn.Linear(width, 2 * size, bias=False)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"size": 3, "axis": "column"}]

    def maps(self, pairs: Pairs) -> list[Map]:
        numbers = tuple(range(2 * self.size))
        names = tuple(f"{side}{n}" for side in "ab" for n in range(self.size))
        rows = MapGroup("", "component", numbers, numbers, names)
        return grouped([rows], self.select.weight, torch.tensor(numbers), "selection")

    def state(self, x: Tensor, at: Places) -> Tensor:
        """(B, 1, S, 2 K): how each token selects, and how it is selected; 0 without a place."""
        chosen = self.select(x).masked_fill((at[self.axis] < 0).unsqueeze(-1), 0.0)
        return chosen.unsqueeze(1)

    def state_bias(self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        precise = torch.promote_types(state.dtype, torch.float32)  # sums get long
        a, b = state.to(precise).split(self.size, -1)  # (B, 1, S, K)
        placed = k_at[self.axis] >= 0  # (B|1, S)
        first = placed & (placed.cumsum(-1) == 1)
        by = F.relu(a @ b.mT / math.sqrt(self.size)).tril(-1)  # (B, 1, S, S)
        by = by.masked_fill(first[:, None, None], 0.0)
        before = by.cumsum(-2) - by  # selections of earlier tokens alone
        return -before[..., -q.shape[2] :, :]
