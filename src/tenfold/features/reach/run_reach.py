"""The empirical receptive field of a run's model, next to the theoretical one of its encoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from tenfold.core.errors import TenfoldError
from tenfold.features.reach.empirical_field import Fields, fields
from tenfold.features.reach.receptive_field import reach
from tenfold.features.reach.series_by_name import series_of
from tenfold.models import AttentionModel, attention_in
from tenfold.runs.run import Run, Which


@dataclass(frozen=True)
class MeasuredReach:
    """The empirical fields of a trained model, and for each layer the theoretical field of each head."""

    fields: Fields
    theory: list[list[int] | None]  # None: the encoding has no weight by distance alone


def measured(
    run: Run,
    length: int | None = None,
    n: int = 16,
    eps: float = 0.05,
    *,
    which: Which = "best",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> MeasuredReach:
    """Measure `n` rows of this length (by default the training length), drawn as in training."""
    if n < 1:
        raise TenfoldError(f"{n} rows; at least 1 is needed")
    if seed < 0:
        raise TenfoldError(f"a seed of {seed}; at least 0")
    torch.set_num_threads(run.recipe.train.threads)
    length = run.recipe.data.length if length is None else length
    if length < 1:
        raise TenfoldError(f"a length of {length}; at least 1")
    rng = np.random.default_rng((seed, length, 17))  # another stream than training's
    model = attention_in(run.model(which), "a receptive field").cpu()
    batch = run.built.source.batch(n, length, rng, None)
    model.check(batch)
    empirical = fields(model, batch, eps, progress)
    return MeasuredReach(
        empirical, theoretical_reach(model, empirical.attention.shape[1], empirical.tokens, eps)
    )


def theoretical_reach(
    model: AttentionModel, heads: int, tokens: int, eps: float = 0.05
) -> list[list[int] | None]:
    """For each layer the theoretical field of each head within this many tokens; None: the encoding has no series."""
    theory: list[list[int] | None] = []
    for layer in range(len(model.stack.blocks)):
        series = series_of(model.stack.encodings[layer])
        fields = reach(series, eps, tokens) if series is not None else []
        low = [head.low for head in fields if head is not None]
        theory.append((low * (heads // len(low))) if low else None)
    return theory
