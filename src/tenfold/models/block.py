"""One transformer block: attention to itself, perhaps to a source, and a feed-forward layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.models.attention import Attention, Cache
from tenfold.models.dropout import Dropout
from tenfold.pe.base import PositionalEncoding
from tenfold.places import Places

Norm = Literal["pre", "post"]


@dataclass
class Seen:
    """What an attention looks at: keys' places, which of them each query may see, and the encoding to use."""

    pe: PositionalEncoding
    q_at: Places
    k_at: Places
    allowed: Tensor | None
    cache: Cache | None = None


class Block(nn.Module):
    def __init__(
        self,
        width: int,
        heads: int,
        feedforward: int,
        dropout: float,
        norm: Norm,
        cross: bool = False,
    ) -> None:
        super().__init__()
        self.pre = norm == "pre"
        self.attention = Attention(width, heads, dropout)
        self.attention_norm = nn.LayerNorm(width)
        self.cross = Attention(width, heads, dropout, crossing=True) if cross else None
        self.cross_norm = nn.LayerNorm(width) if cross else None
        self.expand = nn.Linear(width, feedforward)
        self.contract = nn.Linear(feedforward, width)
        self.feedforward_norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: Tensor,  # (B, T, D)
        itself: Seen,
        read: int,
        memory: Tensor | None = None,
        source: Seen | None = None,
    ) -> Tensor:
        """The last `read` positions of the sequence, one block further: (B, read, D)."""
        keys = self.attention_norm(x) if self.pre else x
        queries = keys
        if read < x.shape[1]:
            queries, x = keys[:, -read:], x[:, -read:]
        mixed = self.attention(
            queries, keys, itself.pe, itself.q_at, itself.k_at, itself.allowed, itself.cache
        )
        x = self._add(x, mixed, self.attention_norm)
        if self.cross is not None and self.cross_norm is not None and source is not None:
            queries = self.cross_norm(x) if self.pre else x
            mixed = self.cross(
                queries, memory, source.pe, source.q_at, source.k_at, source.allowed, source.cache
            )
            x = self._add(x, mixed, self.cross_norm)
        hidden = self.feedforward_norm(x) if self.pre else x
        return self._add(x, self.contract(F.gelu(self.expand(hidden))), self.feedforward_norm)

    def _add(self, x: Tensor, update: Tensor, norm: nn.LayerNorm) -> Tensor:
        x = x + self.dropout(update)
        return x if self.pre else norm(x)
