"""Linear attention whose scores depend on positions only: expected loss on the ring and its gradient, in closed form.

    yhat_i = sum_r S_ir <v, x_r>       absolute positions: S_ir = p_i . p_r;   relative: S_ir = p_(i-r) . u

Inputs inside a window are independent standard normal vectors, so the mean of every product of two inputs is known. Let
q_ir be the share of windows that contain both i and r. The expected loss of a sample, summed over the outputs in its
window, is

    L = sum_ir q_ir |S_ir v - T_ir theta|^2
    dL/dS_ir = 2 q_ir (|v|^2 S_ir - <v, theta> T_ir)
    dL/dv    = 2 sum_ir q_ir (S_ir^2 v - S_ir T_ir theta)

The paper sums over windows and we take the mean. Its loss is W times ours, and its gradient flow is W times as fast.

Shapes: N positions, D width, W windows, B samples, M positions in a window.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.features.linear_attention.ring import Ring, offsets, together


class State(NamedTuple):
    """The learned parameters."""

    p: Tensor  # (N, D): a vector for each position, or for each difference of positions modulo N
    v: Tensor  # (D,): the vector that projects an input to a number


class LinearAttention(ABC):
    """A rule that computes scores from positional vectors. `learns_v`: v is trained; otherwise v is fixed to theta."""

    learns_v: bool

    @abstractmethod
    def scores(self, p: Tensor) -> Tensor:
        """Compute the scores S from the vectors: (N, D) -> (N, N)."""

    @abstractmethod
    def pull(self, by_score: Tensor, p: Tensor) -> Tensor:
        """Compute the gradient of the vectors from the gradient of the scores: (N, N), (N, D) -> (N, D)."""


@dataclass(frozen=True)
class Absolute(LinearAttention):
    """One vector for each position, S = P P^T. The paper's proofs start from v = theta, so v stays fixed here."""

    learns_v: bool = False

    def scores(self, p: Tensor) -> Tensor:
        return p @ p.T

    def pull(self, by_score: Tensor, p: Tensor) -> Tensor:
        return (by_score + by_score.T) @ p


@dataclass(frozen=True, eq=False)
class RelativeAttention(LinearAttention):
    """One vector for each difference of positions, with one constant query u: S_ir = a_(i-r), a_k = p_k . u."""

    u: Tensor  # (D,)
    learns_v: bool = True

    def scores(self, p: Tensor) -> Tensor:
        return (p @ self.u)[offsets(len(p))]

    def pull(self, by_score: Tensor, p: Tensor) -> Tensor:
        by_coefficient = torch.zeros(len(p), dtype=p.dtype)
        by_coefficient.index_add_(0, offsets(len(p)).flatten(), by_score.flatten())
        return by_coefficient[:, None] * self.u


@dataclass(frozen=True)
class Problem:
    """A task, its training windows, and the unit vector theta that defines the signal <theta, x>."""

    ring: Ring
    windows: Tensor  # (W, N): true where inputs are not zero; all windows have the same size
    theta: Tensor  # (D,)

    def __post_init__(self) -> None:
        if self.windows.shape[1] != self.ring.length:
            raise TenfoldError(
                f"windows over {self.windows.shape[1]} positions for a ring of {self.ring.length}"
            )
        if not math.isclose(float(self.theta.norm()), 1.0, rel_tol=1e-9):
            raise TenfoldError(f"theta has length {float(self.theta.norm()):.3g}; it has to be 1")

    @property
    def width(self) -> int:
        return len(self.theta)

    @property
    def window(self) -> int:
        return int(self.windows[0].sum())

    @cached_property
    def target(self) -> Tensor:
        return self.ring.target()

    @cached_property
    def together(self) -> Tensor:
        return together(self.windows)

    def loss(self, scores: Tensor, v: Tensor) -> Tensor:
        """The expected training loss of a sample, summed over the outputs in its window."""
        return (self.together * self._squares(scores, v)).sum()

    def loss_by_position(self, scores: Tensor, v: Tensor) -> Tensor:
        """The expected squared error of every output when all positions are filled: (N,)."""
        return self._squares(scores, v).sum(1)

    def _squares(self, scores: Tensor, v: Tensor) -> Tensor:
        """|S_ir v - T_ir theta|^2, along theta and across it: (N, N)."""
        along = v @ self.theta
        across = (v - along * self.theta).square().sum()
        return (along * scores - self.target).square() + across * scores.square()

    def gradient(self, attention: LinearAttention, state: State) -> State:
        """Compute the gradient of the expected training loss."""
        scores = attention.scores(state.p)
        reads = state.v @ state.v * scores - state.v @ self.theta * self.target
        by_v = torch.zeros_like(state.v)
        if attention.learns_v:
            weighted = self.together * scores
            by_v = 2 * (
                (weighted * scores).sum() * state.v - (weighted * self.target).sum() * self.theta
            )
        return State(attention.pull(2 * self.together * reads, state.p), by_v)


def start(
    problem: Problem, attention: LinearAttention, generator: torch.Generator, size: float = 1.0
) -> State:
    """Initialize with isotropic Gaussian vectors of mean squared length `size`. If v is not learned, it is theta."""
    p = _normal(generator, problem.ring.length, problem.width) * math.sqrt(size)
    v = _normal(generator, problem.width) if attention.learns_v else problem.theta.clone()
    return State(p, v)


def direction(width: int, generator: torch.Generator) -> Tensor:
    """A random vector of length 1: (D,)."""
    vector = _normal(generator, width)
    return vector / vector.norm()


def _normal(generator: torch.Generator, *shape: int) -> Tensor:
    drawn = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return drawn / math.sqrt(shape[-1])
