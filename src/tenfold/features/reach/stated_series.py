"""Protocols that reach requires of an encoding: its weight by distance, or the reason why it has none."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from tenfold.encodings.decay_series import Series
from tenfold.encodings.encoding import PositionalEncoding


@runtime_checkable
class StatesSeries(Protocol):
    """An encoding whose weight on each distance may be a function of distance alone."""

    def series(self) -> Series | None:
        """The weights by distance; None if the encoding's options do not give such a function."""


@runtime_checkable
class ExplainsNoSeries(Protocol):
    """An encoding that states why it has no weight by distance."""

    no_series: ClassVar[str]


def stated_series(pe: PositionalEncoding) -> Series | None:
    return pe.series() if isinstance(pe, StatesSeries) else None


def why_no_series(pe: PositionalEncoding) -> str:
    return pe.no_series if isinstance(pe, ExplainsNoSeries) else "it states no weight by distance"
