"""The series of a formula: a known decay where it is one, otherwise numeric bounds.

For other formulas, the sum from n on is bounded by blocks of distances up to 10^300. The sum of a block lies between its
length times its last weight and its length times its first. This holds if b does not grow from 65,536 on, which is checked
at the ends of the blocks and assumed between them. The sum beyond 10^300 follows from the decay of b in the limit.

Shapes: H heads, K knots.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.encodings.decay_series import Decay, Series, SeriesVerdict
from tenfold.features.reach.bias_formula import Floats, Formula
from tenfold.features.reach.convergence_test import beyond, decide
from tenfold.features.reach.known_decays import recognised

FIRST = 1 << 16  # b is assumed not to grow from here on
FINE, COARSE = (2.0**62, 1e-4), (1e300, 1e-2)  # largest distance, and relative growth of blocks
NONE = -1e6  # logarithm of a weight that counts as zero
ASSUMES = "numeric: bounds on the assumption that b does not grow from n = 65,536 on"


def written(text: str, parameters: Mapping[str, Sequence[float | str]] | None = None) -> Series:
    """The series of a bias that is given by a formula. A parameter with several values makes as many heads.

    >>> two = written("-p*log(1 + n)", {"p": [1, 2]})
    >>> [verdict.converges for verdict in two.verdicts]
    [False, True]
    """
    given = {name: list(values) for name, values in (parameters or {}).items()}
    heads = max((len(values) for values in given.values()), default=1)
    for name, values in given.items():
        if len(values) not in (1, heads):
            raise TenfoldError(
                f"{len(values)} values of {name} for {heads} heads; one, or one for each head"
            )
    formulas = [
        Formula.read(text, {name: values[h % len(values)] for name, values in given.items()})
        for h in range(heads)
    ]
    for formula in formulas:
        formula(np.arange(float(FIRST)))  # raises an error if it is not a number everywhere
    forms = [recognised(formula) for formula in formulas]
    known = [each for each in forms if each is not None]
    if len(known) == heads and all(decay is known[0][0] for decay, _ in known):
        columns = zip(*(values for _, values in known), strict=True)
        return Series(
            known[0][0],
            tuple(torch.tensor(column, dtype=torch.float64)[:, None] for column in columns),
        )
    return Series(_numeric(formulas), (torch.arange(heads, dtype=torch.float64)[:, None],))


def _numeric(formulas: Sequence[Formula]) -> Decay:
    verdicts = [_with_evidence(formula, decide(formula)) for formula in formulas]
    weights = [_Weights(formula) for formula in formulas]

    def log_b(n: Tensor, heads: Tensor) -> Tensor:
        rows = n.expand(len(heads), -1).double()
        parts = [weights[int(h)].log_b(row.numpy()) for h, row in zip(heads, rows, strict=True)]
        return torch.from_numpy(np.stack(parts))

    def bounds(n: Tensor, heads: Tensor) -> tuple[Tensor, Tensor]:
        rows = n.expand(len(heads), -1).double()
        pairs = [
            weights[int(h)].rest(row.numpy())
            if verdicts[int(h)].converges
            else (np.full(len(row), math.inf),) * 2
            for h, row in zip(heads, rows, strict=True)
        ]
        low, high = (torch.from_numpy(np.stack(side)) for side in zip(*pairs, strict=True))
        return low, high

    return Decay(
        formulas[0].text,
        log_b,
        lambda n, heads: bounds(n, heads)[0],
        lambda heads: torch.tensor([[verdicts[int(h)].converges is True] for h in heads]),
        verdicts[0].why,
        bounds=bounds,
        judged=lambda heads: [verdicts[int(h)] for h in heads],
        assumes=ASSUMES,
    )


def _with_evidence(formula: Formula, verdict: SeriesVerdict) -> SeriesVerdict:
    """Add the slopes at large distances to an undecided verdict. They are evidence, not a proof."""
    if verdict.converges is not None:
        return verdict
    try:
        slopes = [f"n^{_slope(formula, n):.3g}" for n in (1e3, 1e6, 1e12)]
    except TenfoldError as error:
        return SeriesVerdict(None, f"{verdict.why}; {error}")
    return SeriesVerdict(
        None, f"{verdict.why}; at 10^3, 10^6, 10^12 it goes like {', '.join(slopes)}"
    )


def _slope(formula: Formula, n: float) -> float:
    """d log b / d ln n"""
    low, high = formula(np.array([n, n * 1.01]))
    return float((high - low) / math.log(1.01)) if low > -math.inf else -math.inf


@dataclass(frozen=True)
class _Weights:
    """The weights of one head, relative to the largest of the first weights."""

    formula: Formula

    @functools.cached_property
    def top(self) -> float:
        return float(self.formula(np.arange(float(FIRST))).max())

    def log_b(self, n: Floats) -> Floats:
        return self.formula(n) - self.top

    @functools.cached_property
    def blocks(self) -> tuple[Floats, Floats, Floats]:
        """Knots (K,), and bounds of the sum from each knot on."""
        fine = np.arange(math.log(FIRST), math.log(FINE[0]), FINE[1])
        coarse = np.arange(math.log(FINE[0]), math.log(COARSE[0]), COARSE[1])
        knots = np.unique(np.round(np.exp(np.concatenate([fine, coarse]))))
        logs = np.maximum(self.log_b(knots), NONE)
        rising = np.nonzero(np.diff(logs) > 1e-9 * np.maximum(1, np.abs(logs[1:])))[0]
        if len(rising):
            raise TenfoldError(
                f'the weights of "{self.formula.text}" still grow at a distance of {knots[rising[-1]]:.3g}; '
                "there are no bounds on their sum"
            )
        b, width = np.exp(logs), np.diff(knots)
        far = [
            knots[-1] * b[-1] * times if b[-1] > 0 else 0.0
            for times in beyond(self.formula, knots[-1])
        ]
        low, high = (
            np.append(np.cumsum((each * width)[::-1])[::-1], 0.0) for each in (b[1:], b[:-1])
        )
        return knots, low + far[0], high + far[1]

    def rest(self, n: Floats) -> tuple[Floats, Floats]:
        knots, low, high = self.blocks
        after = np.clip(np.searchsorted(knots, n, side="right"), 1, len(knots) - 1)
        gap = np.maximum(knots[after] - n, 0)
        last, first = np.exp(self.log_b(knots[after])), np.exp(self.log_b(n))
        return low[after] + gap * last, high[after] + gap * first
