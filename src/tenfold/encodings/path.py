"""PaTH (Yang et al. 2025, arXiv 2505.16381): every token between key and query reflects the key, by its own content."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.data.places import Places, distance
from tenfold.encodings.encoding import Attends, PositionalEncoding
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped

BLOCK = 128  # keys whose reflections are solved for at once


class PaTH(PositionalEncoding):
    """q.k becomes q_i.(H_i ... H_{j+1} k_j), H_l = I - g_l w_l w_l', w_l = A x_l of length 1, g_l = 2 sigmoid(b.x_l + c).

    H_l leaves a key as it is for g = 0, removes its part along w for g = 1 and reflects it for g = 2. `rotary`
    turns by the same angle at every step; here the tokens decide, so that order can depend on content. A has
    `rank` numbers between. x is the input of the attention layer. Products run in the order of the tokens, over
    those that have a place on the axis, so attention must be causal. `compose` with `fox` is PaTH-FoX.

    The public code passes w through a short convolution, which can be turned off; here there is none. Queries and
    keys are read as they are, so no other part of a composition may rotate them.

    >>> at, x = Places(index=torch.arange(3)[None]), torch.ones(1, 3, 8)
    >>> pe, q = PaTH(width=8, heads=1, head_size=4), torch.ones(1, 1, 3, 4)
    >>> bias = pe.state_bias(pe.state(x, at), q, q, at, at)
    >>> torch.equal(bias[0, 0].diagonal(), torch.zeros(3))  # nothing is between a key and itself
    True
    """

    name = "path"
    known_as = ("PaTH",)
    no_series = "what a key has become depends on the tokens between, not on distance alone"
    kinds = frozenset({Attends.CAUSAL})
    reads_keys = True
    multiplies = True
    shift_invariant = True

    def __init__(
        self,
        width: PositiveInt,
        heads: PositiveInt,
        head_size: PositiveInt,
        rank: PositiveInt = 32,
        axis: str = "index",
    ) -> None:
        super().__init__(axis)
        self.axis, self.heads, self.features = axis, heads, head_size + 1
        self.narrow = nn.Linear(width, rank, bias=False)
        self.along = nn.Linear(rank, heads * head_size, bias=False)
        self.strength = nn.Linear(width, heads)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"rank": 3, "axis": "column"}]

    def maps(self, pairs: Pairs) -> list[Map]:
        heads = tuple(range(self.heads))
        rows = MapGroup("", "head", heads, heads)
        return grouped([rows], self.strength.weight, torch.tensor(heads), "strength of reflections")

    def state(self, x: Tensor, at: Places) -> Tensor:
        """(B, H, S, K + 1): the direction w of each token, and its strength g; 0 without a place."""
        along = self.along(self.narrow(x)).unflatten(-1, (self.heads, self.features - 1))
        strength = 2 * torch.sigmoid(self.strength(x)).unsqueeze(-1)
        strength = strength.masked_fill((at[self.axis] < 0)[..., None, None], 0.0)
        return torch.cat([F.normalize(along, dim=-1), strength], -1).transpose(1, 2)

    def state_bias(self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        """What the reflections change of the logits q.k / sqrt(K).

        H_i ... H_{j+1} k_j = k_j - sum over l of c_lj w_l, where c_lj = g_l w_l.(H_{l-1} ... H_{j+1} k_j) is what token
        l takes of key j: a triangular system of equations. It is solved for `BLOCK` keys at a time, from the last ones
        back. Queries go through the reflections of each block before they meet the keys before it, so that time grows
        with the pairs of queries and keys.
        """
        precise = torch.promote_types(state.dtype, torch.float32)
        w, g = state.to(precise).split([self.features - 1, 1], -1)  # (B, H, S, K), (B, H, S, 1)
        q, k, taker = q.to(precise), k.to(precise), g * w
        after = k.shape[2] - q.shape[2]  # place of the first query
        if torch.compiler.is_exporting():
            return self._related(_taken(q, w, taker, k, after)[0], q_at, k_at)
        turned, parts = q, []
        for end in range(k.shape[2], 0, -BLOCK):
            some = slice(max(0, end - BLOCK), end)
            own = w[:, :, some], taker[:, :, some], k[:, :, some]  # (B, H, C, K), C keys of a block
            bias, by = _taken(turned, *own, after - some.start)
            parts.append(bias if turned is q else bias + (turned - q) @ own[2].mT)
            if some.start:
                turned = turned - by @ own[1]
        return self._related(torch.cat(parts[::-1], -1), q_at, k_at)

    def _related(self, bias: Tensor, q_at: Places, k_at: Places) -> Tensor:
        _, related = distance(q_at[self.axis], k_at[self.axis])
        return torch.where(related.unsqueeze(1), bias / math.sqrt(self.features - 1), 0.0)


def _taken(q: Tensor, w: Tensor, taker: Tensor, k: Tensor, after: int) -> tuple[Tensor, Tensor]:
    """What C reflections take of q.k, and of the queries along each w: both (B, H, T, C). `taker` is g w."""
    system = (taker @ w.mT).tril(-1)  # (B, H, C, C), with ones on its diagonal
    met = (q @ w.mT).tril(after)
    by = torch.linalg.solve_triangular(system, met, upper=False, left=False, unitriangular=True)
    return -by @ (taker @ k.mT).tril(-1), by
