"""No positional encoding: a causal model may still count, an encoder sees a bag of tokens."""

from tenfold.pe.base import PositionalEncoding


class NoPE(PositionalEncoding):
    """`NoPE()` leaves everything as it is."""

    name = "none"
    shared = True
    shift_invariant = True
