"""Attention in the adjoint bound: the tokens that it reads, what it adds to the residual stream, and a source.

Shapes: N nodes, M of them, O adjoints of each, D width, E outputs, S keys, H heads, K head size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.steady import Steady
from tenfold.features.proofs.adjoint_nodes import LayerNodes, LayerSight
from tenfold.features.proofs.adjoint_steps import (
    BALL,
    Affine,
    Heads,
    Mixing,
    Norm,
    Received,
    fine,
    priced,
    reached,
)
from tenfold.features.proofs.rounding_steps import Arithmetic
from tenfold.models.decoder import Decoder
from tenfold.models.layers import Attention, Block
from tenfold.models.seq2seq import Seq2Seq
from tenfold.models.stack import Stack

SteadyOf = Callable[[PositionalEncoding], Steady | None]


class Level(Protocol):
    """Tokens at one height of the residual stream."""

    x: Tensor  # (N, D), measured
    radius: Tensor  # (N,) of balls

    def price(self, a: Tensor, ra: Tensor, at: Tensor) -> Tensor:
        """What all rounding up to here costs, for adjoints (M, O, D) of the tokens `at`: (M, O)."""

    def breadth(self) -> int:
        """Numbers that `price` holds for each adjoint of a token."""


class Embedded:
    """The embedded tokens: t tables are added, which costs gamma(t) times their lengths."""

    def __init__(self, stack: Stack, x: Tensor, steady: Steady, by: Arithmetic) -> None:
        self.x = x
        size = stack.embedding.weight.norm(dim=1).max() + steady.embed
        lost = 2 * (steady.terms + 1) * by.tiny * math.sqrt(x.shape[1])
        self.radius = (BALL * (by.gamma(steady.terms) * size + lost)).expand(len(x))

    def price(self, a: Tensor, ra: Tensor, at: Tensor) -> Tensor:
        return (a.norm(dim=-1) + ra) * self.radius[at][:, None]

    def breadth(self) -> int:
        return self.x.shape[1]


class KeyAdjoints(NamedTuple):
    """Adjoints (P, O, D) of the norms of P keys: which query each belongs to, in which slot, and which node it is."""

    whose: Tensor
    slot: Tensor
    nodes: Tensor
    a: Tensor
    ra: Tensor
    cost: Tensor  # (P, O)


class Reading:
    """Queries, keys and values of one attention, of tokens after a norm: (N, H, K) each, with the radii of balls (N, H)."""

    def __init__(self, attention: Attention, queries: Norm, keys: Norm, by: Arithmetic) -> None:
        heads, size = attention.heads, attention.size
        self.query = Affine.after(attention.query, queries, by)
        self.key_value = Affine.after(attention.key_value, keys, by)
        self.q = self.query.out.view(-1, heads, size)
        self.k, self.v = self.key_value.out.view(-1, 2, heads, size).unbind(1)
        self.rq = reached(attention.query.weight, queries, self.query.own, heads)
        both = reached(attention.key_value.weight, keys, self.key_value.own, 2 * heads)
        self.rk, self.rv = both.view(-1, 2, heads).unbind(1)

    def seen(self, own: Tensor, sight: LayerSight) -> Heads:
        """What the queries of these tokens see."""
        keys = sight.keys
        return Heads(
            self.q[own], self.rq[own], self.k[keys], self.rk[keys], self.v[keys], self.rv[keys], *sight[1:]
        )  # fmt: skip

    def back_keys(self, got: Received, sight: LayerSight, at: Tensor) -> KeyAdjoints:
        """From adjoints of the keys and values that some nodes saw to those of the norms before."""
        there = sight.there[at].any(-1)  # (M, S)
        both = torch.cat([got.k.flatten(3), got.v.flatten(3)], -1).transpose(1, 2)  # (M, S, O, 2D)
        apart = torch.sqrt((got.rk.square() + got.rv.square()).sum(-1)).transpose(1, 2)
        whose, slot = there.nonzero(as_tuple=True)
        nodes = sight.keys[at][whose, slot]
        a, ra, cost = self.key_value.back(both[whose, slot], apart[whose, slot], nodes)
        return KeyAdjoints(whose, slot, nodes, a, ra, cost)


class Before(Reading):
    """What a layer's attention reads of the tokens of the level before."""

    def __init__(self, attention: Attention, norm: nn.LayerNorm, level: Level, by: Arithmetic) -> None:  # fmt: skip
        self.level = level
        self.norm = Norm(norm, level.x, level.radius, by)
        super().__init__(attention, self.norm, self.norm, by)


class Update:
    """The residual sum after an attention: tokens x (N, D) in balls of `radius` (N,), and the mixtures through `out`."""

    def __init__(
        self, attention: Attention, mixing: Mixing, x: Tensor, radius: Tensor, by: Arithmetic
    ) -> None:
        self.mixing = mixing
        out, (_, heads, size) = attention.out, mixing.mixed.shape
        parts = out.weight.view(-1, heads, size)
        self.slopes = torch.linalg.matrix_norm(parts.permute(1, 0, 2), 2)  # (H,)
        self.blurs = fine(len(parts)) * parts.square().sum((0, 2)).sqrt()
        mixed, length = mixing.mixed.flatten(1), mixing.moves.norm(dim=-1)
        further = torch.einsum("nh,eh->ne", mixing.moves, parts.norm(dim=-1))
        self.out = Affine(out, mixed, further, mixed.norm(dim=-1) + length, by)
        moved = torch.minimum(mixing.moves @ self.slopes, length * self.out.slope)
        moved = moved + self.out.own.norm(dim=-1) + radius
        self.x = x + self.out.out
        self.own = added(self.x, moved, by)
        self.radius = BALL * (moved + self.own.norm(dim=-1))

    def back(self, a: Tensor, ra: Tensor, at: Tensor) -> Received:
        """From adjoints of the sum to those of queries, keys and values; those of x are the same as of the sum."""
        am, _, more = self.out.back(a, ra, at)
        size = a.norm(dim=-1).unsqueeze(-1)
        ram = self.slopes * ra.unsqueeze(-1) + self.blurs * size  # (M, O, H)
        heads = self.mixing.mixed.shape[1:]
        got = self.mixing.back(am.view(*a.shape[:2], *heads), ram, at)
        return got._replace(cost=priced(a, ra, self.own[at]) + more + got.cost)


class NormedSource:
    """The embedded question after the encoder's last norm, which every attention to it reads."""

    def __init__(self, reader: Stack, x: Tensor, steady: Steady, by: Arithmetic) -> None:
        assert not reader.blocks
        assert isinstance(reader.norm, nn.LayerNorm)
        self.level = Embedded(reader, x, steady, by)
        self.norm = Norm(reader.norm, self.level.x, self.level.radius, by)


class Across(NamedTuple):
    """What the nodes of one level see of the source."""

    source: NormedSource
    sight: LayerSight
    steady: Steady


Far = Callable[[Reading, Mixing, Tensor], Tensor]


class Crossing:
    """Attention of N tokens x to the source, and the residual sum."""

    def __init__(
        self, block: Block, across: Across, x: Tensor, radius: Tensor, by: Arithmetic, far: Far | None
    ) -> None:  # fmt: skip
        assert block.cross is not None
        assert block.cross_norm is not None
        self.source, self.sight, steady = across
        self.norm = Norm(block.cross_norm, x, radius, by)
        self.reading = Reading(block.cross, self.norm, self.source.norm, by)
        own = torch.arange(len(x))
        mixing = Mixing(self.reading.seen(own, self.sight), steady, by)
        if far is not None:
            mixing.joined_by(far(self.reading, mixing, own))
        self.update = Update(block.cross, mixing, x, radius, by)

    def back(self, a: Tensor, ra: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """From adjoints of the sum to those of x. What the source and its norm round is in the cost."""
        got, source = self.update.back(a, ra, at), self.source
        keys = self.reading.back_keys(got, self.sight, at)
        cost = got.cost.index_add(0, keys.whose, keys.cost)
        ax, rax, more = source.norm.back(keys.a, keys.ra, keys.nodes)
        more = more + source.level.price(ax, BALL * rax, keys.nodes)
        cost = cost.index_add(0, keys.whose, more)
        aq, raq, more = self.reading.query.back(got.q.flatten(2), got.rq.norm(dim=-1), at)
        an, ran, further = self.norm.back(aq, raq, at)
        return a + an, ra + BALL * ran + fine(1) * a.norm(dim=-1), cost + more + further


def acrosses(
    model: Decoder | Seq2Seq, nodes: LayerNodes, by: Arithmetic, steady: SteadyOf
) -> list[Across | None]:
    """What the nodes of each layer see of the source; None for a model without one."""
    reader, cross = model.reader(), model.stack.cross_encodings
    if reader is None or cross is None or nodes.source is None:
        return [None] * len(nodes.sights)
    embeds = steady(reader.encodings[0])
    assert embeds is not None
    source, found = NormedSource(reader, nodes.source.embedded, embeds, by), list[Across | None]()
    for layer, sight in enumerate(nodes.crossings):
        known = steady(cross[layer])
        assert known is not None
        found.append(Across(source, sight, known))
    return found


def added(total: Tensor, moved: Tensor, by: Arithmetic) -> Tensor:
    """What the sum of two vectors rounds, (N, D); the exact sum of what is added is within `moved` of the measured."""
    return BALL * (by.gamma(1) * (total.abs() + moved.unsqueeze(-1)) + by.tiny)
