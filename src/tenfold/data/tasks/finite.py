"""A training set of so many problems: drawn once, and every batch is drawn from it.

    data: {sampler: {name: finite, count: 1000, inner: longest, seed: 0}}

How few problems are enough is then a question (`principled` paper, its next steps). Measured are new problems, as always.
"""

from __future__ import annotations

import functools

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from tenfold.core.registry import Spec
from tenfold.data.tasks.task import Digits, Ints

BLOCK = 256  # problems that are drawn together


def finite(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    count: PositiveInt = 1000,
    inner: Spec = Spec(name="longest"),  # noqa: B008 (frozen)
    seed: NonNegativeInt = 0,
) -> tuple[Digits, Ints]:
    """Of `count` problems that `inner` draws once, uniformly and with replacement; `seed` decides which these are.

    The problems of a smaller count are the first of a larger one.
    """
    digits, lengths = training_set(count, inner.model_dump_json(), seed, length, terms, base)
    chosen = rng.integers(0, count, n)
    return digits[chosen], lengths[chosen]


@functools.lru_cache(8)
def training_set(
    count: int, inner: str, seed: int, length: int, terms: int, base: int
) -> tuple[Digits, Ints]:
    """The problems, in blocks that do not depend on how many are requested."""
    from tenfold.data.tasks.samplers import SAMPLERS  # it lists this one

    draw = SAMPLERS.bind(Spec.model_validate_json(inner))
    blocks = [
        draw(np.random.default_rng((seed, number, 19)), BLOCK, length, terms, base)
        for number in range(-(-count // BLOCK))
    ]
    digits, lengths = (np.concatenate(parts)[:count] for parts in zip(*blocks, strict=True))
    return digits, lengths
