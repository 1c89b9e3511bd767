"""A training set of so many problems: drawn once, and every batch is drawn from it.

    data: {sampler: {name: finite, count: 1000, inner: longest, seed: 0}}

How few problems are enough is then a question (`principled` paper, its next steps). Measured are new problems, as always.
A product is fixed with its multiplier, which the task draws: `finite` is handed the task's `fit` (`whole_problems`).
"""

from __future__ import annotations

import functools

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from tenfold.core.registry import Spec
from tenfold.data.tasks.task import Digits, Fit, Ints, as_drawn, whole_problems

BLOCK = 256  # problems that are drawn together


@whole_problems
def finite(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    fit: Fit = as_drawn,
    *,
    count: PositiveInt = 1000,
    inner: Spec = Spec(name="longest"),  # noqa: B008 (frozen)
    seed: NonNegativeInt = 0,
) -> tuple[Digits, Ints]:
    """Of `count` problems that `inner` draws once, uniformly and with replacement; `seed` decides which these are.

    The problems of a smaller count are the first of a larger one. Products have it around other samplers, not inside of
    them, where it would not fix the multiplier.
    """
    digits, lengths = training_set(count, inner.model_dump_json(), seed, length, terms, base, fit)
    chosen = rng.integers(0, count, n)
    return digits[chosen], lengths[chosen]


@functools.lru_cache(8)
def training_set(
    count: int, inner: str, seed: int, length: int, terms: int, base: int, fit: Fit = as_drawn
) -> tuple[Digits, Ints]:
    """The problems, in blocks that do not depend on how many are requested."""
    from tenfold.data.tasks.samplers import SAMPLERS  # it lists this one

    draw = SAMPLERS.bind(Spec.model_validate_json(inner))
    blocks = []
    for number in range(-(-count // BLOCK)):
        rng = np.random.default_rng((seed, number, 19))
        blocks.append(fit(rng, *draw(rng, BLOCK, length, terms, base)))
    digits, lengths = zip(*blocks, strict=True)
    width = max(block.shape[2] for block in digits)
    wide = [np.pad(block, ((0, 0), (0, 0), (0, width - block.shape[2]))) for block in digits]
    return np.concatenate(wide)[:count], np.concatenate(lengths)[:count]
