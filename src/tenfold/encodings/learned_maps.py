"""Maps: what an encoding learned, as tables with a row for each offset, place or digit.

Only rows that occur among some pairs of tokens are shown, because nothing trains the others.

Shapes: B batch, T queries, S keys, R rows of a map, C its columns, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from tenfold.data.places import Places, distance
from tenfold.encodings.encoding import PositionalEncoding


@dataclass(frozen=True)
class Pairs:
    """Tokens that meet in attention: where queries and keys are, and which keys a query may see."""

    q_at: Places
    k_at: Places
    allowed: Tensor  # (B|1, T, S) bool

    def within(self, visible: Tensor | None) -> Pairs:
        """The pairs that a window (B|1, H|1, T, S) leaves visible to some head."""
        return self if visible is None else replace(self, allowed=self.allowed & visible.any(1))

    def step_back(self, axis: str) -> int | None:
        """The offset on an axis, query minus key, of the same number's next lower digit.

        -1 on the index of numbers that are written most significant digit first, 1 on `column`.
        """
        column, known = distance(self.q_at["column"], self.k_at["column"])
        alike = self.q_at["role"].unsqueeze(-1) == self.k_at["role"].unsqueeze(-2)
        behind, related = distance(self.q_at[axis], self.k_at[axis])
        pairs = known & alike & related & self.allowed & (column == 1)
        offsets = behind.expand_as(pairs)[pairs]
        return int(offsets.mode().values) if len(offsets) else None


@dataclass(frozen=True)
class MapGroup:
    """Classes of pairs that belong side by side: differences of places, or the digits of a multiplier.

    Without an axis, their numbers are no differences.
    """

    title: str
    along: str  # what its places are
    places: tuple[int, ...]
    classes: tuple[int, ...]
    names: tuple[str, ...] = ()  # of the places; their numbers, if none are given
    axis: str | None = None

    @classmethod
    def offsets(cls, axis: str, reach: int, first: int, clip: bool, title: str = "") -> MapGroup:
        """Differences -reach..reach on an axis, whose classes count from `first` on.

        >>> MapGroup.offsets("index", 1, 1, clip=True).names
        ('-1 or less', '0', '1 or more')
        """
        places = tuple(range(-reach, reach + 1))
        names = [str(place) for place in places]
        if clip:
            names[0], names[-1] = f"{-reach} or less", f"{reach} or more"
        classes = tuple(range(first, first + len(places)))
        return cls(title, f"offset on {axis}, query - key", places, classes, tuple(names), axis)


@dataclass(frozen=True)
class Map:
    """A table with a row for each offset, place or digit.

    Rows are vectors, compared by their length, or numbers of each head, compared by the highest.
    """

    title: str
    along: str
    names: tuple[str, ...]  # of the rows
    places: tuple[int, ...]
    values: Tensor  # (R, C)
    occurs: Tensor  # (R,) bool
    axis: str | None = None  # on which places are differences
    across: Literal["element", "head"] = "element"
    fixed: bool = False  # it follows from options; nothing is learned

    @property
    def strengths(self) -> Tensor:
        """The length of each vector, or the highest of the heads' numbers: (R,)."""
        return self.values.norm(dim=1) if self.across == "element" else self.values.amax(1)

    @property
    def occurring(self) -> Map:
        """Only the rows that occur."""
        kept = self.occurs.nonzero()[:, 0].tolist()
        names, places = (tuple(each[row] for row in kept) for each in (self.names, self.places))
        return replace(
            self, names=names, places=places, values=self.values[kept], occurs=self.occurs[kept]
        )

    def strongest(self, count: int) -> list[tuple[str, float]]:
        """The rows with the longest vectors, or the highest numbers, first."""
        shown = self.occurring
        order = shown.strengths.argsort(descending=True, stable=True)[:count].tolist()
        return [(shown.names[row], float(shown.strengths[row])) for row in order]

    def of(self, part: str) -> Map:
        """The same as a part of something larger."""
        return replace(self, title=f"{part}: {self.title}" if self.title else part)


@runtime_checkable
class Mapped(Protocol):
    """An encoding that has its own way to show what it learned."""

    def maps(self, pairs: Pairs) -> list[Map]:
        """What it learned, for tokens that meet at these places."""


def maps_of(pe: PositionalEncoding, pairs: Pairs) -> list[Map]:
    """What an encoding learned; a bias on one axis is shown by difference of places."""
    if isinstance(pe, Mapped):
        return pe.maps(pairs)
    bias = pe.bias(pairs.q_at, pairs.k_at) if len(pe.axes) == 1 else None
    if bias is None:
        return []
    (axis,) = pe.axes
    return by_offset(bias, pairs, axis, fixed=not any(True for _ in pe.parameters()))


def role_word(role: int) -> str:
    """
    >>> [role_word(role) for role in range(5)]
    ['text', 'operator', 'answer', 'operand 1', 'operand 2']
    """
    return ("text", "operator", "answer")[role] if role < 3 else f"operand {role - 2}"


def grouped(
    groups: Sequence[MapGroup],
    table: Tensor,
    occurring: Tensor,
    title: str,
    across: Literal["element", "head"] = "element",
) -> list[Map]:
    """A table's rows, (classes, C), by groups, where any class of a group is among those `occurring`."""
    seen = torch.zeros(len(table), dtype=torch.bool)
    seen[occurring.unique().cpu()] = True
    rows = table.detach().cpu().double()
    maps = []
    for group in groups:
        classes = torch.tensor(group.classes)
        if seen[classes].any():
            whole = f"{title}, {group.title}" if group.title else title
            names = group.names or tuple(map(str, group.places))
            maps.append(
                Map(whole, group.along, names, group.places, rows[classes], seen[classes],
                    group.axis, across)
            )  # fmt: skip
    return maps


def by_offset(bias: Tensor, pairs: Pairs, axis: str, fixed: bool) -> list[Map]:
    """A bias (B|1, H, T, S) by difference of places on an axis: the mean over the pairs of each offset."""
    behind, related = distance(pairs.q_at[axis], pairs.k_at[axis])
    meet = (related & pairs.allowed).cpu()
    if not meet.any():
        return []
    behind = behind.cpu().expand_as(meet)[meet]
    heads = bias.detach().cpu().double().transpose(0, 1)  # (H, B|1, T, S)
    numbers = heads.expand(-1, *meet.shape)[:, meet]  # (H, pairs)
    offsets, row, counts = behind.unique(return_inverse=True, return_counts=True)
    sums = numbers.new_zeros(len(heads), len(offsets)).index_add(1, row, numbers)
    places = tuple(offsets.tolist())
    along = f"offset on {axis}, query - key"
    occurs = torch.ones(len(places), dtype=torch.bool)
    names = tuple(map(str, places))
    return [Map("bias", along, names, places, (sums / counts).T, occurs, axis, "head", fixed)]
