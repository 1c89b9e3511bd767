"""Different encodings on different heads: some heads rotary, some windowed, some without position."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.compose import Parted, Parts, encoding_of
from tenfold.encodings.encoding import Span
from tenfold.encodings.learned_maps import Map, Pairs, maps_of
from tenfold.encodings.steady import Steady, steady_of


class PerHead(Parted):
    """Part p has `split[p]` heads, in order; without a split all parts have equally many.

    Encodings that enter at the input have no heads; compose them with this one.

    >>> pe = PerHead(["alibi", "none"], heads=4, split=[3, 1])
    >>> at = Places(index=torch.arange(3)[None])
    >>> pe.bias(at, at)[0, :, 2, 0].tolist()  # ALiBi's three slopes, and nothing
    [-0.125, -0.0078125, -0.5, 0.0]
    """

    name = "per-head"

    def __init__(
        self,
        parts: Parts,
        heads: PositiveInt,
        split: list[PositiveInt] | None = None,
        width: PositiveInt | None = None,
        head_size: PositiveInt | None = None,
    ) -> None:
        if split is None:
            if heads % len(parts):
                raise TenfoldError(
                    f"{heads} heads do not divide into {len(parts)} parts; give a split"
                )
            split = [heads // len(parts)] * len(parts)
        if len(split) != len(parts) or sum(split) != heads:
            raise TenfoldError(
                f"a split of {split} for {len(parts)} parts and {heads} heads; {len(parts)} numbers "
                f"that add up to {heads} are right"
            )
        sizes = {"width": width, "head_size": head_size}
        made = [
            encoding_of(part, {**sizes, "heads": count})
            for part, count in zip(parts, split, strict=True)
        ]
        for part in made:
            if part.embeds:
                raise TenfoldError(
                    f'encoding "{part.name}" enters at the input, which all heads share; '
                    "compose it with per-head"
                )
        super().__init__(made)
        self.split, self.heads = split, heads

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        pairs = {"name": "pairwise", "relation": {"name": "significance", "reach": room}}
        return [
            {"parts": [pairs, "none"]},
            {"parts": ["t5", {**pairs, "values": True}]},
            {"parts": ["rotary", {"name": "window", "behind": 3}]},
            {"parts": ["fox", {"name": "compose", "parts": ["alibi", "scalable-softmax"]}]},
        ]

    @property
    def features(self) -> int:  # type: ignore[override]
        return max(part.features for part in self.parts)

    def window(self, axis: str) -> Span | None:
        spans = [part.window(axis) for part in self.parts]
        bounded = [span for span in spans if span is not None]
        # a hub of one head would pass on to all columns what it sees in another head
        same = len({span.hubs for span in bounded}) == 1
        return Span.join(bounded) if len(bounded) == len(spans) and same else None

    def steady(self) -> Steady | None:
        parts = [steady for part in self.parts if (steady := steady_of(part)) is not None]
        return (
            Steady(*map(max, zip(*parts, strict=True))) if len(parts) == len(self.parts) else None
        )

    def maps(self, pairs: Pairs) -> list[Map]:
        maps = []
        for number, part in self.parts_of_its_own():
            first, last = sum(self.split[:number]) + 1, sum(self.split[: number + 1])
            heads = f"head {first}" if first == last else f"heads {first} to {last}"
            seen = pairs.within(part.visible(pairs.q_at, pairs.k_at))
            maps += [each.of(f"{heads}, {part.name}") for each in maps_of(part, seen)]
        return maps

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        turned = [
            part.rotate(some_q, some_k, q_at, k_at)
            for part, some_q, some_k in zip(self.parts, *map(self._split, (q, k)), strict=True)
        ]
        size = max(
            q.shape[-1] for q, _ in turned
        )  # more numbers than a head where a part lengthens
        return _stacked([q for q, _ in turned], size), _stacked([k for _, k in turned], size)

    def scores(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        both = zip(self.parts, self._split(q), self._split(k[..., : q.shape[-1]]), strict=True)
        return self._joined([p.scores(some_q, some_k, q_at, k_at) for p, some_q, some_k in both], 0)

    def bias(self, q_at: Places, k_at: Places) -> Tensor | None:
        return self._joined([part.bias(q_at, k_at) for part in self.parts], 0)

    def state(self, x: Tensor, at: Places) -> Tensor | None:
        """Heads side by side, with zeros where a part has fewer features than another."""
        states = [part.state(x, at) for part in self.parts]
        wide = [
            None if state is None else F.pad(state, (0, self.features - state.shape[-1]))
            for state in states
        ]
        return self._joined(wide, 0)

    def state_bias(
        self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places
    ) -> Tensor | None:
        each = zip(self.parts, *map(self._split, (state, q, k[..., : q.shape[-1]])), strict=True)
        return self._joined(
            [
                part.state_bias(own[..., : part.features], some_q, some_k, q_at, k_at)
                if part.features
                else None
                for part, own, some_q, some_k in each
            ],
            0,
        )

    def visible(self, q_at: Places, k_at: Places) -> Tensor | None:
        return self._joined([part.visible(q_at, k_at) for part in self.parts], True)

    def normalise(self, logits: Tensor, visible: Tensor | None) -> Tensor:
        if "normalise" not in self.ways:  # all heads at once
            return super().normalise(logits, visible)
        count = len(self.parts)
        seen = [visible] * count
        if visible is not None and visible.shape[1] > 1:
            seen = list(self._split(visible))
        each = zip(self.parts, self._split(logits), seen, strict=True)
        return torch.cat([part.normalise(some, shown) for part, some, shown in each], 1)

    def values(self, weights: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        both = zip(self.parts, self._split(weights), strict=True)
        return self._joined([part.values(some, q_at, k_at) for part, some in both], 0)

    def _split(self, x: Tensor) -> tuple[Tensor, ...]:
        return x.split(self.split, 1)

    def _joined(self, parts: list[Tensor | None], nothing: float) -> Tensor | None:
        """Side by side along the heads; a part without a tensor has `nothing` in its heads."""
        given = [part for part in parts if part is not None]
        if not given:
            return None
        for pe, part, count in zip(self.parts, parts, self.split, strict=True):
            if part is not None and part.shape[1] not in (1, count):
                raise TenfoldError(
                    f'encoding "{pe.name}" is for {part.shape[1]} heads, its part of the split is {count}'
                )
        batch = max(part.shape[0] for part in given)
        full = [
            given[0].new_full((), nothing).expand(batch, count, *given[0].shape[2:])
            if part is None
            else part.expand(batch, count, *part.shape[2:])
            for part, count in zip(parts, self.split, strict=True)
        ]
        return torch.cat(full, 1)


def _stacked(vectors: list[Tensor], size: int) -> Tensor:
    """Heads side by side, with zeros at the end of shorter vectors, which change no product."""
    return torch.cat([F.pad(each, (0, size - each.shape[-1])) for each in vectors], 1)
