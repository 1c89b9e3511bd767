"""Several encodings at once, on all heads: a window and pairwise keys, learned positions and rotary ones."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from typing import Annotated, Any

import pydantic
import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.places import Places
from tenfold.encodings.encoding import ENCODINGS, SIZES, Attends, PositionalEncoding, Span
from tenfold.encodings.fading import Fading, fading_of
from tenfold.encodings.learned_maps import Map, Pairs, maps_of
from tenfold.encodings.nope import NoPE
from tenfold.encodings.steady import Steady, steady_of

Part = PositionalEncoding | Spec | str | dict[str, Any]
Parts = Annotated[list[Part], pydantic.Field(min_length=1)]


class Parted(PositionalEncoding):
    """The base of encodings that are made of encodings; `parts` are encodings, or their names and options.

    A later layer borrows the shared parts of the first layer, so that they are not saved twice.
    """

    no_series = "it is made of several encodings; try each of them"

    def __init__(self, parts: list[PositionalEncoding]) -> None:
        super().__init__(*(axis for part in parts for axis in part.axes))
        self._set_parts(parts)

    def _set_parts(self, parts: list[PositionalEncoding], borrowed: Collection[int] = ()) -> None:
        """Parts by their number; those that are borrowed belong to another layer."""
        self.own = nn.ModuleDict(
            {str(n): part for n, part in enumerate(parts) if n not in borrowed}
        )
        self.parts = parts
        self.axes = frozenset(axis for part in parts for axis in part.axes)
        limits = [part.limit for part in parts if part.limit is not None]
        self.limit = min(limits, default=None)

    def parts_of_its_own(self) -> list[tuple[int, PositionalEncoding]]:
        """The parts that are not borrowed from another layer, with their numbers."""
        return [(n, part) for n, part in enumerate(self.parts) if str(n) in self.own]

    @property
    def kinds(self) -> frozenset[Attends]:  # type: ignore[override]
        return frozenset(Attends).intersection(*(part.kinds for part in self.parts))

    @property
    def shared(self) -> bool:  # type: ignore[override]
        return all(part.shared for part in self.parts)

    @property
    def reads_keys(self) -> bool:  # type: ignore[override]
        return any(part.reads_keys for part in self.parts)

    @property
    def multiplies(self) -> bool:  # type: ignore[override]
        return any(part.multiplies for part in self.parts)

    @property
    def lengthens(self) -> bool:  # type: ignore[override]
        return any(part.lengthens for part in self.parts)

    @property
    def features(self) -> int:  # type: ignore[override]
        return sum(part.features for part in self.parts)

    @property
    def invariant(self) -> frozenset[str]:
        return self.axes - frozenset().union(*(part.axes - part.invariant for part in self.parts))

    @property
    def digits_of(self) -> frozenset[int]:
        reading = [part.digits_of for part in self.parts if "significance" in part.axes]
        return frozenset().union(*reading) if all(reading) else frozenset()

    @property
    def differences(self) -> frozenset[str]:
        return self.axes - frozenset().union(*(part.axes - part.differences for part in self.parts))

    @property
    def ways(self) -> frozenset[str]:
        return frozenset().union(*(part.ways for part in self.parts))

    def part(self, *, embeds: bool, attends: bool) -> PositionalEncoding | None:
        left = [part.part(embeds=embeds, attends=attends) for part in self.parts]
        if not any(left):
            return None
        self._set_parts([part or NoPE() for part in left])
        return self

    def borrow(self, first: PositionalEncoding) -> None:
        assert isinstance(first, Parted)
        for part, theirs in zip(self.parts, first.parts, strict=True):
            part.borrow(theirs)
        borrowed = [number for number, theirs in enumerate(first.parts) if theirs.shared]
        parts = [first.parts[n] if n in borrowed else part for n, part in enumerate(self.parts)]
        self._set_parts(parts, borrowed)

    def serve(self, kind: Attends) -> None:
        for part in self.parts:
            part.serve(kind)

    def in_layer(self, layer: int) -> None:
        for part in self.parts:
            part.in_layer(layer)

    def check(self, q_at: Places, k_at: Places) -> None:
        for part in self.parts:
            part.check(q_at, k_at)


class Compose(Parted):
    """Each part does its work in turn: embeddings, scores, biases and values add up, windows intersect.

    States stand side by side. One part may replace the softmax.

    >>> import torch
    >>> pe = Compose([{"name": "window", "behind": 1}, "alibi"], heads=4)
    >>> at = Places(index=torch.arange(3)[None])
    >>> pe.visible(at, at).shape, pe.bias(at, at).shape
    (torch.Size([1, 1, 3, 3]), torch.Size([1, 4, 3, 3]))
    """

    name = "compose"

    def __init__(
        self,
        parts: Parts,
        width: PositiveInt | None = None,
        heads: PositiveInt | None = None,
        head_size: PositiveInt | None = None,
    ) -> None:
        sizes = {"width": width, "heads": heads, "head_size": head_size}
        super().__init__([encoding_of(part, sizes) for part in parts])
        names = [f'"{part.name}"' for part in self.parts if "normalise" in part.ways]
        if len(names) > 1:
            raise TenfoldError(
                f"the encodings {' and '.join(names)} both replace the softmax; one of a composition may"
            )
        for part in self.parts:
            others = [each for each in self.parts if each is not part]
            read = [each for each in others if "rotate" in each.ways or each.multiplies]
            if part.lengthens and read:
                raise TenfoldError(
                    f'encoding "{part.name}" makes turned queries and keys longer, which "{read[0].name}" would read '
                    "too; one of them is right in a composition, or different heads for each (per-head)"
                )

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        pairs = {"name": "pairwise", "relation": {"name": "relative", "reach": room}}
        return [
            {"parts": ["t5", pairs, {"name": "learned", "limit": room}]},
            {"parts": ["rotary", {"name": "window", "behind": 5}, "alibi"]},
            {"parts": ["rotary", pairs]},
            {"parts": ["fox", "rotary", "scalable-softmax"]},
        ]

    @property
    def invariant(self) -> frozenset[str]:
        return super().invariant - self._turned_under_scores()

    @property
    def differences(self) -> frozenset[str]:
        return super().differences - self._turned_under_scores()

    def _turned_under_scores(self) -> frozenset[str]:
        """Axes that rotate keys which the scores of another part then read."""
        if not self.multiplies:
            return frozenset()
        return frozenset(a for part in self.parts if "rotate" in part.ways for a in part.axes)

    def window(self, axis: str) -> Span | None:
        spans = [span for part in self.parts if (span := part.window(axis)) is not None]
        return Span.meet(spans) if spans else None

    def steady(self) -> Steady | None:
        parts = [steady for part in self.parts if (steady := steady_of(part)) is not None]
        return (
            Steady(*map(sum, zip(*parts, strict=True))) if len(parts) == len(self.parts) else None
        )

    def fading(self, axis: str) -> Fading | None:
        parts = [fading for part in self.parts if (fading := fading_of(part, axis)) is not None]
        if len(parts) < len(self.parts):
            return None
        series = tuple(each for part in parts for each in part.series)
        most = sum((part.most for part in parts), torch.zeros((), dtype=torch.float64))
        return Fading(max(part.beyond for part in parts), series, most)

    def maps(self, pairs: Pairs) -> list[Map]:
        seen = pairs.within(self.visible(pairs.q_at, pairs.k_at))
        return [
            each.of(part.name)
            for _, part in self.parts_of_its_own()
            for each in maps_of(part, seen)
        ]

    def embed(self, x: Tensor, at: Places) -> Tensor:
        for part in self.parts:
            x = part.embed(x, at)
        return x

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        for part in self.parts:
            q, k = part.rotate(q, k, q_at, k_at)
        return q, k

    def scores(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        return _total(part.scores(q, k, q_at, k_at) for part in self.parts)

    def bias(self, q_at: Places, k_at: Places) -> Tensor | None:
        return _total(part.bias(q_at, k_at) for part in self.parts)

    def state(self, x: Tensor, at: Places) -> Tensor | None:
        states = [s for part in self.parts if (s := part.state(x, at)) is not None]
        heads = max((state.shape[1] for state in states), default=1)
        return (
            torch.cat([state.expand(-1, heads, -1, -1) for state in states], -1) if states else None
        )

    def state_bias(
        self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places
    ) -> Tensor | None:
        each = zip(self.parts, state.split([part.features for part in self.parts], -1), strict=True)
        return _total(part.state_bias(own, q, k, q_at, k_at) for part, own in each if part.features)

    def visible(self, q_at: Places, k_at: Places) -> Tensor | None:
        seen = None
        for part in self.parts:
            also = part.visible(q_at, k_at)
            seen = also if seen is None else seen if also is None else seen & also
        return seen

    def normalise(self, logits: Tensor, visible: Tensor | None) -> Tensor:
        for part in self.parts:
            if "normalise" in part.ways:
                return part.normalise(logits, visible)
        return super().normalise(logits, visible)

    def values(self, weights: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        return _total(part.values(weights, q_at, k_at) for part in self.parts)


def encoding_of(part: Part, sizes: dict[str, int | None]) -> PositionalEncoding:
    """An encoding as it is, or made from its name, its options and the sizes that are known."""
    if isinstance(part, PositionalEncoding):
        return part
    known = {name: size for name, size in sizes.items() if size is not None}
    spec = Spec.of(part)
    for name in SIZES:
        needed = inspect.signature(ENCODINGS[spec.name]).parameters.get(name)
        if needed is not None and needed.default is needed.empty and name not in known:
            raise TenfoldError(f'encoding "{spec.name}" needs {name}; give it with the parts')
    return ENCODINGS.factory(spec, SIZES)(**known)


def _total(given: Iterable[Tensor | None]) -> Tensor | None:
    total = None
    for one in given:
        total = one if total is None else total if one is None else total + one
    return total
