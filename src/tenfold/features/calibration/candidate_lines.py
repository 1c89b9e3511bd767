"""The lines that attention may run along, and which of them each pair of a query and a key lies on.

A pair lies on at most one moving line (a difference of places) and one vertical one (a certain token).

Shapes: B batch, T queries, S keys.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from tenfold.data.places import Places, distance
from tenfold.encodings.calibrated import OPERANDS, members

Direction = Literal["diagonal", "anti-diagonal", "vertical"]  # the paper's (1,1), (1,-1), (1,0)
Side = Literal["self", "cross"]
DIRECTIONS: tuple[Direction, ...] = ("diagonal", "anti-diagonal", "vertical")
GROUPS = ("answer", "operator", "text", *OPERANDS)  # every token is of one of these


class Track(NamedTuple):
    """A line to be scored: `operand 1, column 2 back`, or vertical: `operator`, `operand 1, digit 0`.

    The place of one digit of an operand is a vertical line of the paper's, too, but one that says nothing of longer
    inputs: it counts among the others and `extends` no further.
    """

    keys: str
    direction: Direction
    axis: str | None = None
    offset: int | None = None
    digit: int | None = None
    extends: bool = True

    @property
    def side(self) -> Side:
        """What the paper calls it: among tokens of the answer, or from the answer to the question."""
        return "self" if self.keys in ("answer", "start") else "cross"

    def __str__(self) -> str:
        if self.axis is not None:
            far = self.offset or 0
            where = f"{self.axis} {abs(far)} {'back' if far > 0 else 'ahead'}"
            return f"{self.keys}, {where if far else f'same {self.axis}'}"
        return self.keys if self.digit is None else f"{self.keys}, digit {self.digit}"


class Tracks(NamedTuple):
    """The tracks of a batch, numbered, and the number of each pair's, -1 for none."""

    moving: list[Track]
    moving_of: Tensor  # (B, T, S)
    upright: list[Track]
    upright_of: Tensor  # (B, S)


def tracks(q_at: Places, k_at: Places, graded: Tensor, present: Tensor) -> Tracks:
    """For queries (B, T) that are `asked` and keys (B, S) that are `held`; the others have no track."""
    shape = (*graded.shape, present.shape[1])
    moving_of, upright_of = torch.full(shape, -1), torch.full_like(present, -1, dtype=torch.long)
    moving: dict[Hashable, int] = {}
    upright: dict[Hashable, int] = {}
    for keys in GROUPS:
        mine = members(keys, k_at) & present
        if not mine.any():
            continue
        axis = _axis(keys, mine, q_at, k_at, graded)
        if axis is not None:
            behind, related = distance(q_at[axis], k_at[axis])
            on = (related & mine.unsqueeze(-2)).expand(shape) & graded.unsqueeze(-1)
            direction = _direction(keys, axis, mine, k_at)
            for offset in behind.expand(shape)[on].unique().tolist():
                here = Track(keys, direction, axis, offset)
                number = moving.setdefault(here, len(moving))
                moving_of = torch.where(on & (behind == offset), number, moving_of)
        for track, where in _upright(keys, axis, mine, k_at):
            upright_of = torch.where(where, upright.setdefault(track, len(upright)), upright_of)
    return Tracks(list(moving), moving_of, list(upright), upright_of)  # type: ignore[arg-type]


def _axis(keys: str, mine: Tensor, q_at: Places, k_at: Places, graded: Tensor) -> str | None:
    """By which difference of places a line to these keys runs: of columns, where all have one, else of indices.

    Digits without a column, such as a multiplier's, belong to every column: no line runs along them.
    """
    columns = k_at["column"].expand_as(mine)[mine]
    if (columns >= 0).all() and (q_at["column"].expand_as(graded)[graded] >= 0).all():
        return "column"
    digits = k_at["significance"].expand_as(mine)[mine]
    several = bool((mine.sum(1) > 1).any())
    return "index" if several and keys != "operator" and (digits < 0).all() else None


def _direction(keys: str, axis: str, mine: Tensor, k_at: Places) -> Direction:
    """Anti-diagonal where places fall from left to right, as in a number written most significant digit first."""
    place, index = (k_at[name].expand_as(mine).double() for name in (axis, "index"))
    count = mine.sum(1, keepdim=True).clamp(min=1)
    middle = [(each * mine).sum(1, keepdim=True) / count for each in (place, index)]
    slope = float(((place - middle[0]) * (index - middle[1]) * mine).sum())
    return "diagonal" if slope > 0 or (slope == 0 and keys == "answer") else "anti-diagonal"


def _upright(
    keys: str, axis: str | None, mine: Tensor, k_at: Places
) -> Iterator[tuple[Track, Tensor]]:
    if keys == "answer":
        start = members("start", k_at) & mine
        yield Track("start", "vertical"), start
        mine = mine & ~start
    if axis is not None:
        place, extends = k_at[axis], False
    else:
        place, extends = k_at["significance"], True
    for digit in place.expand_as(mine)[mine].unique().tolist():
        where = mine & (place == digit)
        yield Track(keys, "vertical", digit=None if digit < 0 else digit, extends=extends), where
