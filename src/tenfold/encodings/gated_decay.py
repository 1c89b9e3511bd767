"""Gated decay (Wall attention, Averbuch and Pai, in flash-linear-attention 0.5): every channel of a key fades at its own pace."""

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

FEW = 16  # tokens whose channels are compared pair by pair


class GatedDecay(PositionalEncoding):
    """q.k becomes the sum over channels c of q_ic k_jc e^(G_ic - G_jc), G_ic the sum over l <= i of log sigmoid(w_c.x_l + b_c).

    A key's channel c is multiplied by the gates of all tokens after it, up to the query. `fox` adds the
    logarithm of such a product to the logit; here each channel has its own, inside the product. x is the input
    of the attention layer. The sums run in the order of the tokens, over those that have a place on the axis,
    so attention must be causal. The cache keeps K numbers for each key and head.

    `open` is the first value of b. As in the public code it is 8, so that a gate starts at 0.9997. Queries and
    keys are read as they are, so no other part of a composition may rotate them.

    >>> at, x = Places(index=torch.arange(3)[None]), torch.zeros(1, 3, 8)
    >>> pe, q = GatedDecay(width=8, heads=2, head_size=4, open=0.0), torch.ones(1, 2, 3, 4)
    >>> bias = pe.state_bias(pe.state(x, at), q, q, at, at)
    >>> (2 + bias[0, 0, 2]).tolist()  # the logits of the last query: each step halves every channel
    [0.5, 1.0, 2.0]
    """

    name = "gated-decay"
    known_as = ("Wall attention", "gated decay")
    no_series = "how fast keys fade depends on what the tokens contain, not on distance alone"
    kinds = frozenset({Attends.CAUSAL})
    reads_keys = True
    multiplies = True
    shift_invariant = True

    def __init__(
        self,
        width: PositiveInt,
        heads: PositiveInt,
        head_size: PositiveInt,
        open: float = 8.0,
        axis: str = "index",
    ) -> None:
        super().__init__(axis)
        self.axis, self.heads, self.features = axis, heads, head_size
        self.gate = nn.Linear(width, heads * head_size)
        nn.init.normal_(self.gate.weight, std=0.02)
        nn.init.constant_(self.gate.bias, open)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"open": 1.0, "axis": "column"}]

    def maps(self, pairs: Pairs) -> list[Map]:
        channels = tuple(range(len(self.gate.weight)))
        names = tuple(f"{c // self.features}.{c % self.features}" for c in channels)
        rows = MapGroup("", "head and channel", channels, channels, names)
        return grouped([rows], self.gate.weight, torch.tensor(channels), "gates")

    def state(self, x: Tensor, at: Places) -> Tensor:
        """(B, H, S, K): the logarithm of each channel's gate; 0 without a place."""
        gates = F.logsigmoid(self.gate(x))  # (B, S, H K)
        gates = gates.masked_fill((at[self.axis] < 0).unsqueeze(-1), 0.0)
        return gates.unflatten(-1, (self.heads, self.features)).transpose(1, 2)

    def state_bias(self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        """What the decay takes away from the logits q.k / sqrt(K)."""
        precise = torch.promote_types(state.dtype, torch.float32)  # sums get long
        total = state.cumsum(-2, dtype=precise)  # (B, H, S, K)
        q, k, root = q.to(precise), k.to(precise), math.sqrt(q.shape[-1])
        before = k.shape[2] - q.shape[2]  # keys that all queries come after
        own = slice(before, None)
        bias = _among(q, k[:, :, own], total[:, :, own])
        if before:
            bias = torch.cat(
                [_after(q, k[:, :, :before], total[:, :, own], total[:, :, :before]), bias], -1
            )
        _, related = distance(q_at[self.axis], k_at[self.axis])
        return torch.where(related.unsqueeze(1), bias / root, 0.0)


def _after(q: Tensor, k: Tensor, q_total: Tensor, k_total: Tensor) -> Tensor:
    """Of queries (B, H, T, K) that all come after the keys (B, H, S, K): (B, H, T, S).

    exp(t_i - t_j) = exp(t_i - t) exp(t - t_j), t the sum at the last key. Neither factor is above 1.
    """
    last = k_total[:, :, -1:]
    faded = (q * torch.exp(q_total - last)) @ (k * torch.exp(last - k_total)).mT
    return faded - q @ k.mT


def _among(q: Tensor, k: Tensor, total: Tensor) -> Tensor:
    """Of queries and keys of the same tokens, (B, H, S, S): the second half reads the first one by `_after`."""
    size = q.shape[2]
    if torch.compiler.is_exporting() or size <= FEW:
        faded = total.unsqueeze(3) - total.unsqueeze(2)  # (B, H, S, S, K)
        both = q.unsqueeze(3) * k.unsqueeze(2)
        return (both * torch.expm1(faded.clamp(max=0.0))).sum(-1)  # keys ahead are hidden
    one, two = slice(0, size // 2), slice(size // 2, None)
    first, second = (_among(q[:, :, half], k[:, :, half], total[:, :, half]) for half in (one, two))
    across = _after(q[:, :, two], k[:, :, one], total[:, :, two], total[:, :, one])
    ahead = (0, second.shape[-1])  # hidden
    return torch.cat([F.pad(first, ahead), torch.cat([across, second], -1)], 2)
