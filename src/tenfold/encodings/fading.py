"""What an encoding adds for far pairs, for proofs without a window."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from tenfold.encodings.decay_series import Series
from tenfold.encodings.encoding import PositionalEncoding


class Fading(NamedTuple):
    """What is added for pairs that are far apart on an axis.

    From the distance `beyond` on, on either side: vectors depend on the roles of the two tokens alone; the bias is at
    most `most` (a number, or one for each head) plus the sum of log b(n) over the `series`.
    """

    beyond: int = 0
    series: tuple[Series, ...] = ()
    most: Tensor | float = 0.0


@runtime_checkable
class Fades(Protocol):
    """An encoding that states what becomes of it at long distances."""

    def fading(self, axis: str) -> Fading | None:
        """What it adds for far pairs on this axis; None where that has no such form."""


def fading_of(pe: PositionalEncoding, axis: str) -> Fading | None:
    """What an encoding adds for far pairs on an axis; by default nothing is known of one that reads it."""
    if isinstance(pe, Fades):
        return pe.fading(axis)
    return None if axis in pe.axes else Fading()
