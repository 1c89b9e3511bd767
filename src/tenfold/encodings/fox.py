"""FoX (Lin et al. 2025, arXiv 2503.02130): a forgetting gate, so that the content of tokens decides how fast keys fade."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.data.places import Places, distance
from tenfold.encodings.encoding import Attends, PositionalEncoding
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped


class FoX(PositionalEncoding):
    """bias(i, j) = sum over l = j+1..i of log sigmoid(w.x_l + b), with w and b learned for each head.

    x is the input of the attention layer. The sum runs in the order of the tokens, over those that have a
    place on the axis, so attention must be causal. The cache keeps one number for each key and head. Every
    gate starts near 1/2, as in the authors' code: w is drawn with a standard deviation of 0.02 and b is 0.

    >>> at, x = Places(index=torch.arange(3)[None]), torch.zeros(1, 3, 8)
    >>> pe, q = FoX(width=8, heads=2), torch.zeros(1, 2, 3, 4)
    >>> bias = pe.state_bias(pe.state(x, at), q, q, at, at)
    >>> bias[0, 0, 2].exp().tolist()  # of the last query: each step halves the weight
    [0.25, 0.5, 1.0]
    """

    name = "fox"
    known_as = ("FoX", "Forgetting Transformer", "forget gate")
    no_series = "how fast it forgets depends on what the tokens contain, not on distance alone"
    kinds = frozenset({Attends.CAUSAL})
    reads_keys = True
    shift_invariant = True
    features = 1

    def __init__(self, width: PositiveInt, heads: PositiveInt, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis = axis
        self.gate = nn.Linear(width, heads)
        nn.init.normal_(self.gate.weight, std=0.02)
        nn.init.zeros_(self.gate.bias)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"axis": "column"}]

    def maps(self, pairs: Pairs) -> list[Map]:
        heads = tuple(range(len(self.gate.weight)))
        rows = MapGroup("", "head", heads, heads)
        return grouped([rows], self.gate.weight, torch.tensor(heads), "forgetting gate")

    def state(self, x: Tensor, at: Places) -> Tensor:
        """(B, H, S, 1): the logarithm of each token's gate; 0 without a place."""
        gates = F.logsigmoid(self.gate(x))  # (B, S, H)
        gates = gates.masked_fill((at[self.axis] < 0).unsqueeze(-1), 0.0)
        return gates.transpose(1, 2).unsqueeze(-1)

    def state_bias(self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        precise = torch.promote_types(state.dtype, torch.float32)  # sums get long
        total = state.squeeze(-1).cumsum(-1, dtype=precise)  # (B, H, S)
        bias = total[..., -q.shape[2] :].unsqueeze(-1) - total.unsqueeze(-2)  # (B, H, T, S)
        _, related = distance(q_at[self.axis], k_at[self.axis])
        return torch.where(related.unsqueeze(1), bias, 0.0)
