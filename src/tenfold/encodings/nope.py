"""No positional encoding: a causal model may still count, an encoder sees a bag of tokens."""

from __future__ import annotations

import torch

from tenfold.encodings.decay_series import CONSTANT, Series
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.steady import Steady


class NoPE(PositionalEncoding):
    """`NoPE()` leaves everything as it is."""

    name = "none"
    known_as = ("NoPE",)
    shared = True
    shift_invariant = True

    def steady(self) -> Steady:
        return Steady()

    def series(self) -> Series:
        return Series(CONSTANT, (torch.zeros(1, 1, dtype=torch.float64),))
