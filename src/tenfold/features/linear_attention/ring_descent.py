"""Training on the ring: gradient descent on the expected loss, gradient descent on samples, and gradient flow.

    p <- p - rate (dL/dp + decay p)         the same for v where it is learned

With samples, each step draws B inputs, each in a random window, and L is their mean loss. Nothing else differs, so both
descents can be compared step by step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.features.linear_attention.linear_attention import LinearAttention, Problem, State

Gradient = Callable[[State], State]
CHUNK = 500  # samples in memory at a time


@dataclass(frozen=True)
class Descent:
    """Options of gradient descent."""

    steps: int
    rate: float
    decay: float = 0.0

    def notes(self, step: int) -> bool:
        """Whether the loss after this step is recorded: every early step, later ever fewer: 64, 68, ... 128, 136."""
        return step == self.steps or step % max(1, 2 ** (step.bit_length() - 5)) == 0


@dataclass
class LearnedWeights:
    """The state after training and the training curve: the expected loss per output in the window."""

    problem: Problem
    attention: LinearAttention
    state: State
    curve: list[tuple[int, float]] = field(default_factory=list)

    @property
    def scores(self) -> Tensor:
        return self.attention.scores(self.state.p)

    @property
    def effective(self) -> Tensor:
        """The learned coefficient of s_r = <theta, x_r> in output i: (N, N), to be compared with the target."""
        return self.scores * (self.state.v @ self.problem.theta)

    @property
    def train_loss(self) -> float:
        return float(self.problem.loss(self.scores, self.state.v)) / self.problem.window

    @property
    def by_position(self) -> Tensor:
        """The expected test loss of every output: (N,)."""
        return self.problem.loss_by_position(self.scores, self.state.v)

    @property
    def test_loss(self) -> float:
        return float(self.by_position.mean())


def descend(
    problem: Problem,
    attention: LinearAttention,
    state: State,
    how: Descent,
    gradient: Gradient | None = None,
) -> LearnedWeights:
    """Run gradient descent, on the expected loss unless another gradient, such as `sampled`, is given."""
    gradient = gradient or (lambda at: problem.gradient(attention, at))
    learned = LearnedWeights(problem, attention, state)
    for step in range(how.steps + 1):
        if how.notes(step):
            learned.curve.append((step, learned.train_loss))
            if not math.isfinite(learned.train_loss):
                raise TenfoldError(f"descent diverged by step {step}; try a rate below {how.rate}")
        if step < how.steps:
            learned.state = _moved(attention, learned.state, gradient(learned.state), how)
    return learned


def _moved(attention: LinearAttention, state: State, by: State, how: Descent) -> State:
    p = state.p - how.rate * (by.p + how.decay * state.p)
    v = state.v - how.rate * (by.v + how.decay * state.v) if attention.learns_v else state.v
    return State(p, v)


def sampled(
    problem: Problem, attention: LinearAttention, batch: int, generator: torch.Generator
) -> Gradient:
    """The gradient of the mean loss of `batch` new samples: B x M vectors of D numbers are drawn."""
    filled = problem.windows.nonzero()[:, 1].view(len(problem.windows), -1)  # (W, M)

    def gradient(state: State) -> State:
        which = torch.randint(len(filled), (batch,), generator=generator)
        at = filled[which]  # (B, M)
        x = torch.randn(*at.shape, problem.width, generator=generator)  # drawing float32 is faster
        return _sample_gradient(problem, attention, state, at, x)

    return gradient


def _sample_gradient(
    problem: Problem, attention: LinearAttention, state: State, at: Tensor, x: Tensor
) -> State:
    """The gradient of the mean loss of samples x (B, M, D) at the positions `at` (B, M); other inputs are zero."""
    scores = attention.scores(state.p)
    zeros = torch.zeros(len(at), problem.ring.length, dtype=torch.float64)
    ways = torch.stack([state.v, problem.theta], 1).to(x)  # (D, 2)
    read, truth = (zeros.scatter(1, at, s) for s in (x @ ways).double().unbind(2))  # (B, N)
    inside = zeros.scatter(1, at, 1.0)
    error = (read @ scores.T - truth @ problem.target.T) * inside  # only outputs in the window
    by_p = attention.pull(2 / len(at) * error.T @ read, state.p)
    by_v = torch.zeros_like(state.v)
    if attention.learns_v:
        back = (error @ scores).gather(1, at)  # (B, M)
        by_v = 2 / len(at) * (back.flatten().to(x) @ x.flatten(0, 1)).double()
    return State(by_p, by_v)


def sampled_loss(learned: LearnedWeights, samples: int, generator: torch.Generator) -> Tensor:
    """The test loss of every output, averaged over samples that fill the whole ring: (N,)."""
    problem, total = learned.problem, torch.zeros(learned.problem.ring.length, dtype=torch.float64)
    ways = torch.stack([learned.state.v, problem.theta], 1).float()  # (D, 2)
    for first in range(0, samples, CHUNK):
        size = (min(CHUNK, samples - first), problem.ring.length, problem.width)
        x = torch.randn(*size, generator=generator)
        read, truth = (x @ ways).double().unbind(2)  # (B, N) each
        total += (read @ learned.scores.T - truth @ problem.target.T).square().sum(0)
    return total / samples


def flow(
    gradient: Gradient, state: State, until: float, steps: int
) -> Iterator[tuple[float, State]]:
    """Gradient flow d state/dt = -gradient by the classical Runge-Kutta method: times and states from the start on."""
    step = until / steps

    def ahead(at: State, by: State, length: float) -> State:
        return State(at.p - length * by.p, at.v - length * by.v)

    yield 0.0, state
    for number in range(1, steps + 1):
        one = gradient(state)
        two = gradient(ahead(state, one, step / 2))
        three = gradient(ahead(state, two, step / 2))
        four = gradient(ahead(state, three, step))
        mean = State(
            *((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(one, two, three, four, strict=True))
        )
        state = ahead(state, mean, step)
        yield number * step, state


def logistic(time: float, first: Tensor, alpha: float) -> Tensor:
    """The paper's squared length of a vector after gradient flow, for beta = 0 and windows of one position.

    The paper sums the loss over windows, which gives dA/dt = 8 (alpha - A) A for A = |p_i|^2. Every p_i only changes
    its length, so p_i . p_r grows by the same factors and the angles do not change.

    >>> (
    ...     logistic(0.0, torch.tensor([1.0]), alpha=2.0).tolist(),
    ...     logistic(9.0, torch.tensor([1.0]), alpha=2.0).tolist(),
    ... )
    ([1.0], [2.0])
    """
    return alpha / (1 + (alpha / first - 1) * math.exp(-8 * alpha * time))
