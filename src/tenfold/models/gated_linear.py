"""Gated linear attention: a state of fixed size per head, which decays by a gate and is read by queries.

    S_t = a_t S_(t-1) + k_t v_t^T        a_t = sigmoid(w . x_t + b), one number per head
    o_t = norm(S_t^T q_t / sqrt(K))

This is the recurrence of gated linear attention (Yang et al., arXiv 2312.06635) with one decay per head, as in Mamba-2
(Dao and Gu, arXiv 2405.21060). Without feature maps the part within a chunk is attention without softmax, weighted by
exp(L_t - L_s) with L the running sum of log a; chunks are joined by the state. Time and memory grow linearly with length.

Shapes: B batch, H heads, T queries, S positions, C positions of a chunk, K head size, D width.
"""

from __future__ import annotations

import math

import torch
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.models.layers import Mixer, Seen

SHORTEST, LONGEST = (
    1.0,
    6.0,
)  # biases of the gates at the start: half-lives of about 2 to 280 positions


class DecayedState:
    """The state after the positions so far, kept while an answer is decoded."""

    def __init__(self) -> None:
        self.state: Tensor | None = None  # (B, H, K, K)


class GatedLinear(Mixer):
    """A gated linear recurrence: each head reads a state that decays by a gate; causal, linear in the length."""

    name = "gated-linear"

    def __init__(self, width: int, heads: int, chunk: PositiveInt = 64) -> None:
        super().__init__()
        self.heads, self.size, self.chunk = heads, width // heads, chunk
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.gate = nn.Linear(width, heads)
        self.norm = nn.RMSNorm(self.size, eps=1e-6)
        self.out = nn.Linear(width, width)
        with torch.no_grad():
            self.gate.bias.copy_(torch.linspace(SHORTEST, LONGEST, heads))

    def new_cache(self, capacity: int) -> DecayedState:
        return DecayedState()

    def forward(self, x: Tensor, memory: Tensor | None, seen: Seen) -> Tensor:
        assert memory is not None
        (q,) = self._split(self.query(x), 1)
        k, v = self._split(self.key_value(memory), 2)
        decay = F.logsigmoid(self.gate(memory)).transpose(1, 2)  # (B, H, S)
        if seen.valid is not None:  # padding neither enters the state nor lets it decay
            pads = ~seen.valid[:, None]
            decay = decay.masked_fill(pads, 0.0)
            k = k.masked_fill(pads.unsqueeze(-1), 0.0)
        before = None if seen.cache is None else seen.cache.state
        if before is None:
            before = k.new_zeros(*k.shape[:2], self.size, self.size)
        mixed, after = by_chunks(q / math.sqrt(self.size), k, v, decay, before, self.chunk)
        if seen.cache is not None:
            seen.cache.state = after
        return self.out(self.norm(mixed).transpose(1, 2).flatten(2))

    def _split(self, x: Tensor, parts: int) -> list[Tensor]:
        """(B, T, parts * D) -> parts x (B, H, T, K)"""
        each = x.view(*x.shape[:2], parts, self.heads, self.size).unbind(2)
        return [part.transpose(1, 2) for part in each]


def by_chunks(
    q: Tensor,  # (B, H, T, K): of the last T positions
    k: Tensor,  # (B, H, S, K)
    v: Tensor,  # (B, H, S, K)
    decay: Tensor,  # (B, H, S): log a
    state: Tensor,  # (B, H, K, K): before the first position
    size: int,
) -> tuple[Tensor, Tensor]:
    """What the queries read (B, H, T, K), and the state after the last position."""
    count, first = k.shape[2], k.shape[2] - q.shape[2]
    read = []
    for start in range(0, count, size):
        stop = min(start + size, count)
        keys, values = k[:, :, start:stop], v[:, :, start:stop]
        total = decay[:, :, start:stop].cumsum(-1)  # (B, H, C)
        begin = max(start, first)
        if begin < stop:
            queries, here = q[:, :, begin - first : stop - first], total[:, :, begin - start :]
            at = torch.arange(start, stop, device=q.device)
            since = here.unsqueeze(-1) - total.unsqueeze(
                -2
            )  # (B, H, T, C), at most 0 for earlier keys
            share = since.masked_fill(at > at[begin - start :, None], -math.inf).exp()
            within = (queries @ keys.mT * share) @ values
            read.append(within + (queries * here.exp().unsqueeze(-1)) @ state)
        left = (
            (total[:, :, -1:] - total).exp().unsqueeze(-1)
        )  # what the chunk's end keeps of each key
        state = state * total[:, :, -1, None, None].exp() + (keys * left).mT @ values
    return torch.cat(read, 2), state
