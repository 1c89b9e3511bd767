"""The ring task of the `symmetry` paper (2406.01895, section 5 and appendix D), and its training windows.

    y_i = alpha <theta, x_i> + sum_{k=1..m} beta_k (<theta, x_(i-k)> + <theta, x_(i+k)>),   i mod n

In training, x_i is Gaussian in R^d inside the window and zero elsewhere. At test every position is filled. The output y
depends only on s_i = <theta, x_i>, so the task is one symmetric circulant matrix T with y = T s.

Shapes: N positions, W windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError


@dataclass(frozen=True)
class Ring:
    """The task on `length` positions: alpha at the position itself, betas[k - 1] at its k-th neighbours.

    >>> Ring(5, alpha=2.0, betas=(0.5,)).target()[0].tolist()
    [2.0, 0.5, 0.0, 0.0, 0.5]
    """

    length: int
    alpha: float
    betas: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.length <= 2 * self.neighbours:
            raise TenfoldError(
                f"a ring of {self.length} positions with {self.neighbours} neighbours on either side; "
                f"at least {2 * self.neighbours + 1} positions keep them apart"
            )

    @classmethod
    def tapering(cls, length: int, alpha: float, neighbours: int) -> Ring:
        """A task that a Gram matrix can express: beta_k = alpha/2 (1 - k/(m+1)). Its eigenvalues are at least alpha/2.

        The paper gives no values. Half of alpha and the betas form a Fejer kernel; the other half of alpha is added.

        >>> Ring.tapering(51, 2.0, neighbours=1).betas
        (0.5,)
        """
        shares = (1 - k / (neighbours + 1) for k in range(1, neighbours + 1))
        return cls(length, alpha, tuple(alpha / 2 * share for share in shares))

    @property
    def neighbours(self) -> int:
        return len(self.betas)

    @property
    def power(self) -> float:
        """The mean square of an output, alpha^2 + 2 sum beta_k^2. It is the loss of a model that always predicts 0."""
        return self.alpha**2 + 2 * sum(beta**2 for beta in self.betas)

    def coefficients(self) -> Tensor:
        """The coefficient of the input k positions before an output: (N,), k modulo N."""
        result = torch.zeros(self.length, dtype=torch.float64)
        result[0] = self.alpha
        for k, beta in enumerate(self.betas, 1):
            result[k] = result[-k] = beta
        return result

    def target(self) -> Tensor:
        """T: the coefficient of input r in output i, (N, N)."""
        return self.coefficients()[offsets(self.length)]

    def unreachable(self, window: int) -> float:
        """The lowest training loss that inner products p_i . p_r can reach inside one window.

        A matrix of inner products has no negative eigenvalues. The nearest such matrix to T omits T's negative
        eigenvalues, so the loss is the sum of their squares. It is 0 if alpha + 2 sum_k beta_k cos(k t) >= 0 for all
        t; with one neighbour, if alpha >= 2 |beta|.

        >>> (
        ...     Ring(9, alpha=2.0, betas=(1.0,)).unreachable(4),
        ...     round(Ring(9, 1.0, (1.0,)).unreachable(3), 4),
        ... )
        (0.0, 0.1716)
        """
        inside = self.target()[:window, :window]
        return float(torch.linalg.eigvalsh(inside).clamp(max=0).square().sum())


@cache
def offsets(length: int) -> Tensor:
    """(i - r) modulo N for every output i and input r: (N, N)."""
    place = torch.arange(length)
    return (place[:, None] - place) % length


def distances(length: int) -> Tensor:
    """Distances of positions along the shorter way around the ring: (N, N)."""
    result = offsets(length)
    return torch.minimum(result, length - result)


def fixed(length: int, window: int) -> Tensor:
    """Training always fills the first `window` positions: (1, N).

    >>> fixed(5, 2).int().tolist()
    [[1, 1, 0, 0, 0]]
    """
    _check(length, window)
    return (torch.arange(length) < window)[None]


def shifted(length: int, window: int) -> Tensor:
    """Training fills `window` consecutive positions; every start on the ring is equally likely: (N, N).

    >>> shifted(3, 2).int().tolist()
    [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    """
    _check(length, window)
    since = offsets(length).T  # distance from the window's first position
    return since < window


def together(windows: Tensor) -> Tensor:
    """The share of windows that contain both positions: (N, N). Multiplied by W: the paper's counts, n1 - |i - r|."""
    inside = windows.double()
    return inside.T @ inside / len(windows)


def _check(length: int, window: int) -> None:
    if not 1 <= window <= length:
        raise TenfoldError(f"a window of {window} positions on a ring of {length}")
