"""Upper bounds on what an encoding adds, for proofs in float32."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from tenfold.encodings.encoding import PositionalEncoding


class Steady(NamedTuple):
    """Upper bounds on what an encoding adds: lengths of vectors, and a number for the bias.

    They hold for encodings that only read lookup tables, so that what is added for a pair is bitwise
    identical at every position.
    """

    embed: float = 0.0  # of vectors added at the input
    scores: float = 0.0  # of vectors that queries are multiplied with
    bias: float = 0.0
    values: float = 0.0  # of vectors added to a value
    terms: int = 0  # how many such tables may meet in one place


@runtime_checkable
class Bounded(Protocol):
    """An encoding that may state upper bounds on what it adds."""

    def steady(self) -> Steady | None:
        """The bounds; None where they are not known."""


def steady_of(pe: PositionalEncoding) -> Steady | None:
    """The bounds of an encoding; None where it states none."""
    return pe.steady() if isinstance(pe, Bounded) else None


def longest(table: Tensor) -> float:
    """The length of a table's longest row."""
    return table.detach().double().norm(dim=-1).max().item()
