"""The three models of the `symmetry` paper's theory on one task: absolute, absolute with shifted windows, relative.

>>> cases = contest(
...     Ring.tapering(13, alpha=2.0, neighbours=1), window=5, width=40, seed=0, steps=400
... )
>>> {name: case.learn().test_loss > 0.1 for name, case in cases.items()}
{'absolute': True, 'augmented': True, 'relative': False}
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch

from tenfold.core.errors import TenfoldError
from tenfold.features.linear_attention.linear_attention import (
    Absolute,
    LinearAttention,
    Problem,
    RelativeAttention,
    State,
    direction,
    start,
)
from tenfold.features.linear_attention.ring import Ring, fixed, shifted
from tenfold.features.linear_attention.ring_descent import Descent, LearnedWeights, descend, sampled

STEPS = 4000
FORGET = 6.0  # parameters without a gradient shrink by e^-6 over the whole training
BATCH = 16


@dataclass(frozen=True)
class Case:
    """A model before training."""

    problem: Problem
    attention: LinearAttention
    state: State
    how: Descent

    def learn(self) -> LearnedWeights:
        """Train with the expected gradient."""
        return descend(self.problem, self.attention, self.state, self.how)

    def simulate(self, generator: torch.Generator, batch: int = BATCH) -> LearnedWeights:
        """Train with gradients of samples, from the same initial state and with the same step sizes."""
        gradient = sampled(self.problem, self.attention, batch, generator)
        return descend(self.problem, self.attention, self.state, self.how, gradient)

    def without_decay(self) -> Case:
        return replace(self, how=replace(self.how, decay=0.0))


def contest(
    ring: Ring, window: int, width: int, seed: int, steps: int = STEPS, forget: float = FORGET
) -> dict[str, Case]:
    """The three models by name. They share theta; learning rates follow from the curvature at the solution."""
    if steps < 1 or width < 1:
        raise TenfoldError(f"{steps} steps at width {width}; at least 1 of each")
    generator = torch.Generator().manual_seed(seed)
    theta, u = direction(width, generator), direction(width, generator)
    steepest = ring.alpha + 2 * sum(map(abs, ring.betas))  # no eigenvalue of T is larger
    one, many = fixed(ring.length, window), shifted(ring.length, window)
    made: dict[str, tuple[torch.Tensor, LinearAttention, float]] = {
        "absolute": (one, Absolute(), 1 / (16 * steepest)),
        "augmented": (many, Absolute(), ring.length / (16 * steepest * window)),
        "relative": (one, RelativeAttention(u), 1 / (5 * window * math.sqrt(ring.power))),
    }
    cases = {}
    for name, (windows, attention, rate) in made.items():
        problem = Problem(ring, windows, theta)
        how = Descent(steps, rate, forget / (steps * rate))
        cases[name] = Case(problem, attention, start(problem, attention, generator), how)
    return cases
