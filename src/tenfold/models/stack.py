"""A stack of blocks over tokens with places: the trunk of every model with attention, or another mixer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tenfold.core.errors import Misfit, TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import Tokens
from tenfold.data.places import Places, in_order
from tenfold.encodings.encoding import Attends, PositionalEncoding
from tenfold.encodings.nope import NoPE
from tenfold.models.layers import MIXER_SIZES, MIXERS, Block, Cache, Dropout, Mixer, Norm, Seen

EncodingFactory = Callable[..., PositionalEncoding]  # takes width, heads, head_size
ATTENTION = Spec(name="attention")  # the mixer of a block, unless a recipe names another


@dataclass(frozen=True)
class Shape:
    """The size of a stack."""

    layers: int = 3
    width: int = 96
    heads: int = 4
    feedforward: int | None = None  # default: four times the width
    dropout: float = 0.0
    norm: Norm = "pre"
    embedding_dropout: float | None = None  # of the embedded tokens; default: as `dropout`
    mixer: Spec = ATTENTION  # of every block


@dataclass
class EncodedSource:
    """An encoded source, as a decoder's cross-attention sees it."""

    x: Tensor  # (B, S, D)
    places: Places
    valid: Tensor | None


class Caches:
    """The caches of every layer of a decoder for one sequence, and the places that its tokens have."""

    def __init__(self, stack: Stack, sequence: Tokens) -> None:
        self.places, self.valid, self.length = sequence.places, sequence.valid, 0
        self.own = [mixer.new_cache(len(sequence.places)) for mixer in stack.mixers()]
        self.cross = [Cache(0) for _ in self.own]


class Encodings(nn.Module):
    """One encoding a layer, or a single one that all layers share.

    `instead` names what stands in place of attention; then an encoding may only add to the input.
    `head_size` is given where it is not the width divided by the heads.
    """

    def __init__(
        self,
        make: EncodingFactory,
        shape: Shape,
        kind: Attends,
        instead: str = "",
        head_size: int | None = None,
    ) -> None:
        super().__init__()
        attends = shape.layers > 0 and not instead
        head_size = head_size or shape.width // shape.heads

        def made(embeds: bool, layer: int = 0) -> PositionalEncoding:
            pe = make(width=shape.width, heads=shape.heads, head_size=head_size)
            if instead and pe.attends:
                raise TenfoldError(
                    f'encoding "{pe.name}" acts in attention, which {instead} does not have; "none" is right, '
                    'or one that adds to the input alone, such as "sinusoidal"'
                )
            pe.serve(kind)
            pe.in_layer(layer)
            return pe.part(embeds=embeds, attends=attends) or NoPE()

        first = made(embeds=kind is not Attends.CROSS)
        layers = 1 if first.shared or instead else shape.layers
        later = [made(embeds=False, layer=layer) for layer in range(1, layers)]
        for pe in later:
            pe.borrow(first)
        self.each = nn.ModuleList([first, *later])

    def __getitem__(self, layer: int) -> PositionalEncoding:
        encoding = self.each[min(layer, len(self.each) - 1)]
        assert isinstance(encoding, PositionalEncoding)
        return encoding


class Stack(nn.Module):
    """Tokens in, hidden vectors of the last `read` positions out."""

    def __init__(
        self,
        vocabulary: int,
        shape: Shape,
        pe: EncodingFactory,
        *,
        causal: bool,
        cross: EncodingFactory | None = None,
    ) -> None:
        super().__init__()
        if shape.width % shape.heads:
            raise TenfoldError(f"a width of {shape.width} does not divide into {shape.heads} heads")
        mixer = _mixer(shape, causal)
        self.causal, self.attends = causal, mixer.attends
        instead = "" if mixer.attends else f'the mixer "{mixer.name}"'
        self.embedding = nn.Embedding(vocabulary, shape.width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.encodings = Encodings(
            pe, shape, Attends.CAUSAL if causal else Attends.TWO_WAY, instead
        )
        self.cross_encodings = Encodings(cross, shape, Attends.CROSS) if cross else None
        feedforward, make = (
            shape.feedforward or 4 * shape.width,
            MIXERS.factory(shape.mixer, MIXER_SIZES),
        )
        self.blocks = nn.ModuleList(
            Block(
                make(width=shape.width, heads=shape.heads, dropout=shape.dropout),
                shape.width, shape.heads, feedforward, shape.dropout, shape.norm, bool(cross),
            )
            for _ in range(shape.layers)
        )  # fmt: skip
        self.norm = nn.LayerNorm(shape.width) if shape.norm == "pre" else nn.Identity()
        embedding = shape.embedding_dropout
        self.dropout = Dropout(shape.dropout if embedding is None else embedding)

    def mixers(self) -> list[Mixer]:
        """The mixer of every block."""
        return [block.attention for block in self.blocks if isinstance(block, Block)]

    def forward(
        self,
        tokens: Tokens,
        read: int | None = None,
        memory: EncodedSource | None = None,
        caches: Caches | None = None,
        extra: Tensor | None = None,
    ) -> Tensor:
        """(B, read, D). `extra` (B, T, D) is added to the input. With caches, `tokens` follow those in the caches."""
        count = tokens.tokens.shape[1]
        whole, valid, length = tokens.places, tokens.valid, count
        if caches is not None:
            whole, valid, length = caches.places, caches.valid, caches.length + count
            caches.length = length
        if not (tokens.tokens.is_meta or torch.compiler.is_exporting()):
            source_at = memory.places if memory is not None else None
            self.check(tokens.places, whole.slice(0, length), source_at)
            whole = aligned(whole, valid, self.encodings[0].differences)
        x = self.encodings[0].embed(self.embedding(tokens.tokens), tokens.places)
        x = self.dropout(x if extra is None else x + extra)
        k_at, k_valid = whole.slice(0, length), None if valid is None else valid[:, :length]
        allowed = None
        if self.attends:
            allowed = visibility(count, length, k_valid, self.causal, x.device)
        last = len(self.blocks) - 1
        for layer, block in enumerate(self.blocks):
            wanted = (read or count) if layer == last else count
            itself = Seen(
                self.encodings[layer],
                k_at.last(wanted),
                k_at,
                None if allowed is None else allowed[:, :, -wanted:],
                None if caches is None else caches.own[layer],
                tokens.valid,
            )
            crossing = self._source(layer, tokens.places.last(wanted), memory, caches)
            x = block(x, itself, wanted, *crossing)
        return self.norm(x)

    def check(self, q_at: Places, k_at: Places, source_at: Places | None = None) -> None:
        """Raise one clear error where an axis is missing, or a place beyond what an encoding can represent."""
        pairs = [(self.encodings[0], k_at)]
        if source_at is not None and self.cross_encodings is not None:
            pairs.append((self.cross_encodings[0], source_at))
        for encoding, at in pairs:
            check_places(encoding, q_at, at)

    def _source(
        self, layer: int, q_at: Places, memory: EncodedSource | None, caches: Caches | None
    ) -> tuple[Tensor | None, Seen | None]:
        if memory is None or self.cross_encodings is None:
            return None, None
        allowed = None if memory.valid is None else memory.valid[:, None, None, :]
        cache = None if caches is None else caches.cross[layer]
        seen = Seen(self.cross_encodings[layer], q_at, memory.places, allowed, cache)
        if cache is None:
            return memory.x, seen
        if cache.length:  # the first step stored the keys of the source
            return None, seen
        cache.capacity = memory.x.shape[1]
        return memory.x, seen


def _mixer(shape: Shape, causal: bool) -> type[Mixer]:
    """The mixer of a shape; one clear error where it reads one way and the sequence is read both ways."""
    mixer: Any = MIXERS[shape.mixer.name]
    if shape.layers and not causal and not mixer.two_way:
        raise Misfit(
            f'mixer "{mixer.name}" reads a sequence from its beginning on, not from both sides as an encoder does; '
            "a decoder can use it",
            "mixer",
        )
    kind: type[Mixer] = mixer
    return kind


def check_places(encoding: PositionalEncoding, q_at: Places, k_at: Places) -> None:
    """Raise one clear error where an axis is missing, or a place beyond what the encoding can represent."""
    for axis in sorted(encoding.axes - set(k_at)):
        raise Misfit(
            f'encoding "{encoding.name}" reads the axis "{axis}", which nothing provides; '
            f"there are {', '.join(sorted(k_at))} (add a scheme?)",
            "pe",
        )
    encoding.check(q_at, k_at)


def visibility(
    queries: int, keys: int, valid: Tensor | None, causal: bool, device: torch.device
) -> Tensor | None:
    """Which keys each query may see, (B|1, 1, T, S): no padding, nothing later, and always itself."""
    if valid is None and (not causal or queries == 1):
        return None
    q, k = in_order(queries, keys, device)
    allowed = (k <= q)[None, None] if causal else None
    if valid is not None:
        seen = valid[:, None, None, :]
        allowed = seen if allowed is None else seen & allowed
        allowed = allowed | (k == q)
    return allowed


def aligned(at: Places, valid: Tensor | None, axes: frozenset[str]) -> Places:
    """Rows that differ only by where they start share one row of places, on axes seen by differences alone.

    `- 0 1 2` and `0 1 2 -` become `0 1 2 3`: the differences stay, and padding is not visible. An encoding
    then computes its terms once, not for every row.
    """
    if valid is None:
        return at
    slot = torch.arange(valid.shape[1], device=valid.device)
    for axis in sorted(axes & set(at)):
        start = at[axis] - slot
        first = start.masked_fill(~valid, torch.iinfo(start.dtype).max).amin(1)
        final = start.masked_fill(~valid, torch.iinfo(start.dtype).min).amax(1)
        if torch.equal(at[axis] >= 0, valid) and bool((first >= final).all()):
            at = at.add(**{axis: slot[None]})
    return at
