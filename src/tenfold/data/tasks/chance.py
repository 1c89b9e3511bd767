"""Random numbers that belong to a problem: the same digits, the same numbers, whatever else is in a batch.

So what is drawn around a problem (words, a template) needs no generator and keeps no state: an evaluation asks the same
thing each time, and a run that was stopped and resumed trains on the same batches.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tenfold.data.tasks.task import Examples

Bits = NDArray[np.uint64]

STEP = 0x9E3779B97F4A7C15  # odd, so that counting by it meets every number


def draws(examples: Examples, count: int) -> Bits:
    """`count` numbers of 64 random bits for every problem (N, count), from its digits alone.

    >>> from tenfold.data.tasks.arithmetic.addition import Addition
    >>> wide = Addition().sample(
    ...     1, 9, np.random.default_rng(0)
    ... )  # zeros above a number count for nothing
    >>> wide = Addition().solve(np.pad(wide.operands, ((0, 0), (0, 0), (0, 5))), wide.lengths)
    >>> text = Addition().question(wide, 0)
    >>> bool((draws(wide, 4) == draws(Addition().parse(text), 4)).all())
    True
    """
    _, terms, width = examples.operands.shape
    place = np.arange(terms, dtype=np.uint64)[:, None] << np.uint64(32)
    keys = _mixed(place + np.arange(1, width + 1, dtype=np.uint64))  # (M, W)
    seed = (examples.operands * keys).sum((1, 2), dtype=np.uint64)  # (N,)
    return _mixed(seed[:, None] + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(STEP))


def below(bits: Bits, limit: int) -> NDArray[np.int64]:
    """Random bits as numbers from 0 to `limit` - 1."""
    return (bits % np.uint64(limit)).astype(np.int64)


def _mixed(x: Bits) -> Bits:
    """Every bit of the result depends on every bit given (the finalizer of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
