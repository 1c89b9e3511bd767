"""What a positional encoding is: up to eight ways to take part in attention, each doing nothing by default.

Shapes: B batch, H heads, T queries, S keys, K head size, D width.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.core.errors import Misfit
from tenfold.core.registry import Checked, Registry
from tenfold.data.places import Places


class Attends(enum.StrEnum):
    """The three kinds of attention."""

    TWO_WAY = "two-way"  # an encoder's: keys before and after the query
    CAUSAL = "causal"  # a decoder's: the query itself and keys before it
    CROSS = "cross"  # a decoder's to an encoded source


LAYOUTS = {  # of a batch, and the kinds of attention in the model that takes it
    "in_place": {Attends.TWO_WAY},
    "causal": {Attends.CAUSAL},
    "seq2seq": {Attends.TWO_WAY, Attends.CAUSAL, Attends.CROSS},
}
VECTOR = 16  # floats in the widest vectors of a CPU
WAYS = ("embed", "rotate", "scores", "bias", "state", "visible", "normalise", "values")


class Span(NamedTuple):
    """Which keys a query may see at most: those with query minus key in -ahead..behind.

    Tokens of the answer are seen only up to `answers` behind. Every query sees the tokens of the roles in
    `hubs`; these see only each other.
    """

    behind: int
    ahead: int
    answers: int
    hubs: frozenset[int] = frozenset()

    @classmethod
    def meet(cls, spans: Sequence[Span]) -> Span:
        """The span that all of these allow."""
        behind, ahead, answers = (min(each) for each in zip(*(s[:3] for s in spans), strict=True))
        return cls(behind, ahead, answers, frozenset.intersection(*(s.hubs for s in spans)))

    @classmethod
    def join(cls, spans: Sequence[Span]) -> Span:
        """The smallest span that includes each of these."""
        behind, ahead, answers = (max(each) for each in zip(*(s[:3] for s in spans), strict=True))
        return cls(behind, ahead, answers, frozenset().union(*(s.hubs for s in spans)))


class PositionalEncoding(Checked, nn.Module):
    """The base class of encodings. Override what the encoding does and leave the rest.

    An encoding needs a `name` and at least one of the methods in WAYS, and hands the axes that it reads to
    the constructor of this class. `state` comes with `features` and `state_bias`. Everything else has a
    default. A pair of tokens without a place on the axis is unrelated.

    A model makes one instance a layer, or a single one where `shared`. It fills in constructor parameters
    called `width`, `heads` and `head_size`; the others are the encoding's options.

    Some features ask for more, each by a protocol of its own: bounds for proofs (`steady.Bounded`), what was
    learned (`learned_maps.Mapped`), weight by distance (`features.reach.stated_series.StatesSeries`).
    """

    name: ClassVar[str]
    known_as: ClassVar[tuple[str, ...]] = ()  # in the papers
    kinds: frozenset[Attends] = frozenset(Attends)  # of attention that it is made for
    shared: bool = False
    shift_invariant: ClassVar[bool] = False  # moving all places of an axis alike changes nothing
    not_exported: ClassVar[str] = ""  # why torch.export cannot take it, where it cannot
    limit: int | None = None  # the first place, or difference of places, that it cannot represent
    reads_keys: bool = False  # what it adds for a pair depends on the keys of other pairs, too
    multiplies: bool = (
        False  # it multiplies queries with keys itself; rotated keys would mislead it
    )
    lengthens: bool = (
        False  # turned queries and keys are longer than a head, so no other part may read them
    )
    reads_first: ClassVar[bool] = (
        False  # it treats the first token in a way of its own, so a cache must keep it
    )
    features: int = 0  # numbers that `state` gives for each key and head

    def __init__(self, *axes: str) -> None:
        super().__init__()
        self.axes: frozenset[str] = frozenset(axes)  # what it reads

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        """Options worth trying, with room for this many places; the laws are checked on each."""
        return [{}]

    @property
    def invariant(self) -> frozenset[str]:
        """The axes that it reads only by differences."""
        return self.axes if self.shift_invariant else frozenset()

    @property
    def digits_of(self) -> frozenset[int]:
        """The roles whose digits it distinguishes by `significance`; empty unless it does so for these alone."""
        return frozenset()

    @property
    def differences(self) -> frozenset[str]:
        """The axes of which attention sees only differences, whatever enters at the input.

        A state may also depend on whether a token has a place at all.
        """
        if "state" in self.ways:
            return frozenset()
        return self.invariant if self.attends else self.axes

    @property
    def layouts(self) -> frozenset[str]:
        """The layouts in which it can be the only encoding of a model."""
        return frozenset(layout for layout, kinds in LAYOUTS.items() if kinds <= self.kinds)

    @property
    def ways(self) -> frozenset[str]:
        """How places enter: those of the methods in WAYS that do something."""
        return frozenset(
            way for way in WAYS if getattr(type(self), way) is not getattr(PositionalEncoding, way)
        )

    @property
    def embeds(self) -> bool:
        """Whether places enter at the input."""
        return "embed" in self.ways

    @property
    def attends(self) -> bool:
        """Whether places enter attention; what only embeds has no part in cross-attention."""
        return bool(self.ways - {"embed"})

    def part(self, *, embeds: bool, attends: bool) -> PositionalEncoding | None:
        """The part that is used where only these ways exist; the rest would be weights that nothing reads."""
        return self if (self.embeds and embeds) or (self.attends and attends) else None

    def borrow(self, first: PositionalEncoding) -> None:
        """In a later layer: use what this layer shares with the first layer."""

    def window(self, axis: str) -> Span | None:
        """How far along an axis a query may see at most; None: without bound."""
        return None

    def check(self, q_at: Places, k_at: Places) -> None:
        """Raise one clear error where a place is beyond what this encoding can represent."""

    def serve(self, kind: Attends) -> None:
        """Set the kind of attention that it is in. Raise one clear error where it is not made for that."""
        if kind not in self.kinds:
            raise Misfit(
                f'encoding "{self.name}" is not made for {kind} attention, only for '
                f"{' and '.join(sorted(self.kinds))}",
                "pe",
            )

    def in_layer(self, layer: int) -> None:
        """Set the layer that it is in, counted from 0. A shared encoding is in the first layer."""

    def embed(self, x: Tensor, at: Places) -> Tensor:
        """The input (B, T, D) with places added."""
        return x

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        """Queries (B, H, T, K) and keys (B, H, S, K), rotated by their places."""
        return q, k

    def scores(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        """(B, H, T, S), added to q.k before the division by sqrt(K). q is not rotated; k is, as in a cache."""
        return None

    def bias(self, q_at: Places, k_at: Places) -> Tensor | None:
        """(B|1, H|1, T, S), added to the logits after the division."""
        return None

    def state(self, x: Tensor, at: Places) -> Tensor | None:
        """(B, H|1, S, `features`) from the layer's input (B, S, D): cached beside keys and values."""
        return None

    def state_bias(
        self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places
    ) -> Tensor | None:
        """(B, H|1, T, S), added to the logits after the division, from the states of all keys.

        In self-attention the queries are the last T of the S keys, so the state has theirs, too.
        """
        return None

    def visible(self, q_at: Places, k_at: Places) -> Tensor | None:
        """(B|1, H|1, T, S) bool: which keys a query may see. In self-attention it always sees itself."""
        return None

    def normalise(self, logits: Tensor, visible: Tensor | None) -> Tensor:
        """Attention weights from all logits (B, H, T, S), which are -inf where a key is not visible.

        `visible` is (B|1, H|1, T, S) bool, or None where every query sees every key.
        """
        return softmax(logits)

    def values(self, weights: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        """(B, H, T, K), added to the output of attention with these weights (B, H, T, S)."""
        return None


ENCODINGS: Registry[PositionalEncoding] = Registry(
    "encoding", "tenfold.pe", package="tenfold.encodings", base=PositionalEncoding
)
SIZES = ("width", "heads", "head_size")  # constructor parameters that a model fills in


def softmax(logits: Tensor) -> Tensor:
    """The softmax over keys (the last dimension), the default of `normalise`.

    PyTorch has only scalar code on a CPU for rows shorter than a vector, which is three times as slow.
    Such rows are padded.
    """
    keys = logits.shape[-1]
    if not logits.is_cpu or torch.compiler.is_compiling() or keys >= VECTOR:
        return logits.softmax(-1)
    return F.pad(logits, (0, VECTOR - keys), value=-math.inf).softmax(-1)[..., :keys]


def looked_up(table: Tensor, classes: Tensor) -> Tensor:
    """A number for each head, from (classes, H) and (B|1, T, S) to (B|1, H, T, S); an embedding's backward is slower."""
    picked = table.mT.index_select(1, classes.flatten())
    return picked.view(-1, *classes.shape).transpose(0, 1)
