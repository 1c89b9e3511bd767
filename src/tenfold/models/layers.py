"""The layers of a stack: dropout, attention, and a block of a sequence mixer and feed-forward.

A mixer is what lets the positions of a sequence exchange information: attention, or another one of `MIXERS`.

Shapes: B batch, H heads, T queries, S keys, K head size, D width.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.core.registry import Registry
from tenfold.data.places import Places
from tenfold.encodings.attend import Projections, mix
from tenfold.encodings.encoding import PositionalEncoding


class Stochastic(nn.Module):
    """A module that draws random numbers in training, from the trainer's generator where one is set."""

    generator: torch.Generator | None = None


class Dropout(Stochastic):
    """Zero each element with probability p (to 1 in 65,536) and scale the rest by 1 / (1 - p)."""

    def __init__(self, p: float = 0.0) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        cut = round(self.p * 65_536)
        draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device=x.device)
        draws.random_(-(2**63), None, generator=self.generator)
        lanes = draws.view(torch.int16)[: x.numel()].view(x.shape)
        kept = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        torch.ge(lanes, cut - 32_768, out=kept)  # 0.0 and 1.0, without a pass over booleans
        return x * kept.mul_(65_536 / (65_536 - cut))


def set_generator(model: nn.Module, generator: torch.Generator | None) -> None:
    """Make every random module of `model` draw from `generator`."""
    for module in model.modules():
        if isinstance(module, Stochastic):
            module.generator = generator


@dataclass
class Seen:
    """What a mixer knows of its sequence: places, which keys each query may see, the encoding, the cache.

    In self-attention the T queries are the last of the S keys. Without a cache the keys are those of the input.
    """

    pe: PositionalEncoding
    q_at: Places
    k_at: Places
    allowed: Tensor | None  # (B|1, 1, T, S) bool; None: all, or the mixer does not attend
    cache: Any = None  # what `new_cache` of the mixer made
    valid: Tensor | None = (
        None  # (B|1, S) bool: which positions of the input are no padding; None: all
    )


class Mixer(nn.Module, ABC):
    """What a position takes from the others: one file with a subclass is a mixer of its own.

    A constructor names `width`, `heads` and `dropout` where it needs them; its other parameters are options
    of a recipe: `model: {mixer: {name: gated-linear, chunk: 32}}`.
    """

    name: ClassVar[str]
    two_way: ClassVar[bool] = False  # whether it can mix a sequence that is read from both sides
    attends: ClassVar[bool] = False  # whether positional encodings act inside of it

    @abstractmethod
    def forward(self, x: Tensor, memory: Tensor | None, seen: Seen) -> Tensor:
        """The mixed positions (B, T, D) of `x`, the last T of `memory` (B, S, D).

        With a cache, `memory` follows what the cache holds. Padding must not change any other position.
        """

    @abstractmethod
    def new_cache(self, capacity: int) -> Any:
        """An empty cache for up to so many positions, kept while an answer is decoded."""


MIXERS: Registry[Mixer] = Registry("mixer", "tenfold.mixers", package="tenfold.models", base=Mixer)
MIXER_SIZES = ("width", "heads", "dropout", "crossing")  # parameters that a block fills in


class Cache:
    """The keys, values and states of one attention, kept while an answer is decoded."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.length = capacity, 0
        self._kept: list[Tensor | None] = []

    def extend(
        self, k: Tensor, v: Tensor, state: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Append (B, H, T, K) of each, the state if there is one; return all that is stored."""
        fresh = (k, v, state)
        if not self._kept:
            self._kept = [
                None if new is None else new.new_empty(*new.shape[:2], self.capacity, new.shape[3])
                for new in fresh
            ]
        start, self.length = self.length, self.length + k.shape[2]
        for kept, new in zip(self._kept, fresh, strict=True):
            if kept is not None and new is not None:
                kept[:, :, start : self.length] = new
        return self.stored()

    def stored(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """The keys, values and states so far."""
        k, v, state = (None if each is None else each[:, :, : self.length] for each in self._kept)
        assert k is not None
        assert v is not None
        return k, v, state


class Attention(Mixer):
    """Softmax attention: queries from `x`, keys and values from `memory` (for self-attention, the same sequence)."""

    name = "attention"
    two_way = True
    attends = True

    def __init__(
        self, width: int, heads: int, dropout: float = 0.0, *, crossing: bool = False
    ) -> None:
        super().__init__()
        self.heads, self.size, self.crossing = heads, width // heads, crossing
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)
        self.dropout = Dropout(dropout)
        self.logits = nn.Identity()  # named activations: hook these to read attention
        self.weights = nn.Identity()

    def new_cache(self, capacity: int) -> Cache:
        return Cache(capacity)

    def forward(self, x: Tensor, memory: Tensor | None, seen: Seen) -> Tensor:
        """As `Mixer.forward`; without memory, all keys are in the cache."""
        pe, q_at, k_at, cache = seen.pe, seen.q_at, seen.k_at, seen.cache
        b, t, width = x.shape
        (q,) = self._split(self.query(x), 1)
        if memory is None:
            assert cache is not None
            turned, _ = pe.rotate(q, q[:, :, :0], q_at, k_at.slice(0, 0))
            k, v, state = cache.stored()
        else:
            k, v = self._split(self.key_value(memory), 2)
            fresh_at = k_at.last(memory.shape[1])
            turned, k = pe.rotate(q, k, q_at, fresh_at)
            state = pe.state(memory, fresh_at)
            if cache is not None:
                k, v, state = cache.extend(k, v, state)
        mixed, _ = mix(
            pe, Projections(q, turned, k, v, state), q_at, k_at, seen.allowed,
            crossing=self.crossing, on_logits=self.logits, on_weights=self._dropped,
        )  # fmt: skip
        return self.out(mixed.transpose(1, 2).reshape(b, t, width))

    def _dropped(self, weights: Tensor) -> Tensor:
        return self.dropout(self.weights(weights))

    def _split(self, x: Tensor, parts: int) -> list[Tensor]:
        """(B, T, parts * D) -> parts x (B, H, T, K); unbound whole, so that its backward is one copy"""
        each = x.view(*x.shape[:2], parts, self.heads, self.size).unbind(2)
        return [part.transpose(1, 2) for part in each]


Norm = Literal["pre", "post"]


class Block(nn.Module):
    """A mixer, attention to a source where there is one, and a feed-forward network, each with its norm."""

    def __init__(
        self,
        mixer: Mixer,
        width: int,
        heads: int,
        feedforward: int,
        dropout: float,
        norm: Norm,
        cross: bool = False,
    ) -> None:
        super().__init__()
        self.pre = norm == "pre"
        self.attention = mixer  # by this name checkpoints hold any mixer
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
        x = self._add(x, self.attention(queries, keys, itself), self.attention_norm)
        if self.cross is not None and self.cross_norm is not None and source is not None:
            queries = self.cross_norm(x) if self.pre else x
            x = self._add(x, self.cross(queries, memory, source), self.cross_norm)
        hidden = self.feedforward_norm(x) if self.pre else x
        return self._add(x, self.contract(F.gelu(self.expand(hidden))), self.feedforward_norm)

    def _add(self, x: Tensor, update: Tensor, norm: nn.LayerNorm) -> Tensor:
        x = x + self.dropout(update)
        return x if self.pre else norm(x)
