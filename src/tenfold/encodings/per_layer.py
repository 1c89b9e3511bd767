"""Different encodings in different layers (SWAN, Puvvada et al. 2025, arXiv 2504.08719): without positions, then a window."""

from __future__ import annotations

from typing import Any

from pydantic import PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.compose import Parted, Parts, encoding_of
from tenfold.encodings.encoding import PositionalEncoding, Span
from tenfold.encodings.learned_maps import Map, Pairs, maps_of
from tenfold.encodings.steady import Steady, steady_of


class PerLayer(Parted):
    """Layer l, counted from 0, has part l modulo the number of parts.

    SWAN alternates layers without positions, which see everything, with rotary layers that see a window. It is
    `per-layer` with the parts `none` and `compose` of `rotary` and `window`; parts may be repeated for another
    ratio. For longer inputs the paper sharpens attention with their length: `log-length` for `none`.

    What the layers of a part share (T5's table, Kerple's slopes) they share here too. Encodings that enter at
    the input have no layer; compose them with this one.

    >>> import torch
    >>> pe, at = (
    ...     PerLayer(["none", {"name": "window", "behind": 1}]),
    ...     Places(index=torch.arange(3)[None]),
    ... )
    >>> pe.in_layer(0)
    >>> print(pe.visible(at, at))
    None
    >>> pe.in_layer(5)
    >>> pe.visible(at, at)[0, 0].int().tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """

    name = "per-layer"
    known_as = ("SWAN", "RNoPE-SWA", "interleaved NoPE")
    layer: int | None  # None: not yet in a model

    def __init__(
        self,
        parts: Parts,
        width: PositiveInt | None = None,
        heads: PositiveInt | None = None,
        head_size: PositiveInt | None = None,
    ) -> None:
        sizes = {"width": width, "heads": heads, "head_size": head_size}
        made = [encoding_of(part, sizes) for part in parts]
        for part in made:
            if part.embeds:
                raise TenfoldError(
                    f'encoding "{part.name}" enters at the input, before the first layer; compose it with per-layer'
                )
        super().__init__(made)
        self.layer = None

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        local = {"name": "compose", "parts": ["rotary", {"name": "window", "behind": 5}]}
        return [
            {"parts": ["none", local]},
            {"parts": ["t5", {"name": "compose", "parts": ["alibi", "scalable-softmax"]}]},
            {"parts": ["fox", "kerple-log"]},
        ]

    @property
    def now(self) -> PositionalEncoding:
        """The part of this layer."""
        return self.parts[self._number]

    @property
    def _number(self) -> int:
        return (self.layer or 0) % len(self.parts)

    def in_layer(self, layer: int) -> None:
        """Only the part of this layer is its own: the weights of the others would be read by nothing."""
        self.layer = layer
        self.now.in_layer(layer)
        self._set_parts(self.parts, [n for n in range(len(self.parts)) if n != self._number])

    def borrow(self, first: PositionalEncoding) -> None:
        """The instances in the first layer's list serve the first layer that has each part, and lend to later ones."""
        assert isinstance(first, PerLayer)
        assert self.layer is not None
        number, own = self._number, first.parts[self._number]
        if self.layer < len(self.parts):
            own.in_layer(self.layer)
        elif not own.shared:
            self.now.borrow(own)
            own = self.now
        lent = own is first.parts[number] and self.layer >= len(self.parts)
        parts = [own if n == number else theirs for n, theirs in enumerate(first.parts)]
        self._set_parts(parts, [n for n in range(len(parts)) if n != number or lent])

    def part(self, *, embeds: bool, attends: bool) -> PositionalEncoding | None:
        return self if attends else None

    @property
    def shared(self) -> bool:  # type: ignore[override]
        return False

    @property
    def ways(self) -> frozenset[str]:
        return super().ways if self.layer is None else self.now.ways

    @property
    def reads_keys(self) -> bool:  # type: ignore[override]
        return self.now.reads_keys

    @property
    def features(self) -> int:  # type: ignore[override]
        return self.now.features

    def window(self, axis: str) -> Span | None:
        spans = [part.window(axis) for part in (self.parts if self.layer is None else [self.now])]
        bounded = [span for span in spans if span is not None]
        return Span.join(bounded) if len(bounded) == len(spans) else None

    def steady(self) -> Steady | None:
        return steady_of(self.now)

    def maps(self, pairs: Pairs) -> list[Map]:
        seen = pairs.within(self.visible(pairs.q_at, pairs.k_at))
        return [
            each.of(part.name)
            for number, part in self.parts_of_its_own()
            if number == self._number
            for each in maps_of(part, seen)
        ]

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        return self.now.rotate(q, k, q_at, k_at)

    def scores(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        return self.now.scores(q, k, q_at, k_at)

    def bias(self, q_at: Places, k_at: Places) -> Tensor | None:
        return self.now.bias(q_at, k_at)

    def state(self, x: Tensor, at: Places) -> Tensor | None:
        return self.now.state(x, at)

    def state_bias(
        self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places
    ) -> Tensor | None:
        return self.now.state_bias(state, q, k, q_at, k_at)

    def visible(self, q_at: Places, k_at: Places) -> Tensor | None:
        return self.now.visible(q_at, k_at)

    def normalise(self, logits: Tensor, visible: Tensor | None) -> Tensor:
        return self.now.normalise(logits, visible)

    def values(self, weights: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        return self.now.values(weights, q_at, k_at)
