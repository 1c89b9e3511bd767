"""How long the training problems are, step by step."""

from __future__ import annotations

import numpy as np

from tenfold.errors import TenfoldError
from tenfold.registry import Registry


def longest(rng: np.random.Generator, length: int) -> int:
    """Always the training length; the sampler draws what lies below it."""
    return length


def bucketed(rng: np.random.Generator, length: int, *, shortest: int = 1) -> int:
    """One length a batch, uniform over shortest..length: rows are alike, so little is padding."""
    if not 1 <= shortest <= length:
        raise TenfoldError(f"the shortest length is {shortest}; 1 to {length} would be right")
    return int(rng.integers(shortest, length + 1))


LENGTHS: Registry[int] = Registry("length sampler", "tenfold.lengths", of=(longest, bucketed))
