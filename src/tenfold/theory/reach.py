"""How far an encoding looks: the theoretical receptive field of the `extrapolation` paper (2307.10156).

With b(n) the weight on distance n and B its whole sum, n_the(eps) = min{ j : sum_{n<j} b(n) > (1 - eps) B }:
the nearest keys that hold all but a share eps of the weight. Where the sum diverges there is none; within a
number of tokens, as in a trained model, there always is.

The first terms are summed as they are. The rest lies between two integrals, since b does not grow:
the integral of b from j on <= sum_{n>=j} b(n) <= the same + b(j). So a reach is a pair of bounds, and they
are equal for all but the longest.

Shapes: H heads, N distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tenfold.errors import TenfoldError
from tenfold.pe.series import Series

TERMS = 1 << 16  # summed one by one
FARTHEST = 1 << 62  # where the search ends
ROUNDING = 2e-11  # of sums of so many terms in float64, and of integrals, as a share


@dataclass(frozen=True)
class Reach:
    """The receptive field of a head lies in low..high; mostly both are the same. No `high`: too far to say."""

    low: int
    high: int | None

    def __str__(self) -> str:
        if self.high is None:
            return f"> {self.low:.1e}"
        if self.low == self.high:
            return f"{self.low:,}"
        if self.high < 10**6:
            return f"{self.low:,}-{self.high:,}"
        return f"about {(self.low + self.high) / 2:.3g}"


def reach(
    series: Series | None, eps: float = 0.05, within: int | None = None
) -> list[Reach | None]:
    """For each head, how many of the nearest keys hold all but a share `eps` of the weight; None: no number does.

    >>> from tenfold.pe import ALiBi
    >>> [str(head) for head in reach(ALiBi(heads=4).series(), eps=0.05)]  # ceil(-ln eps / slope)
    ['12', '48', '192', '767']
    """
    if series is None:
        raise TenfoldError("this encoding states no series of weights by distance; it has no reach")
    if not 0 < eps < 1:
        raise TenfoldError(f"a share eps of {eps}; above 0 and below 1")
    if within is not None:
        return [Reach(found, found) for found in _within(series, eps, within)]
    if series.decay.wavy:  # none of these converges; the bounds below would not hold
        return [None] * series.heads
    n = torch.arange(TERMS, dtype=torch.float64)
    sums = series.log_b(n).exp().cumsum(1)  # (H, N): of the first 1..N terms
    low = sums[:, -1] + _rest(series, torch.full_like(sums[:, -1], TERMS))
    high = low + _term(series, torch.full_like(low, TERMS))
    bounds = (_first(series, sums, eps, high, 0), _first(series, sums, eps, low, 1))
    return [
        Reach(min(int(a), FARTHEST), int(b) if b < FARTHEST else None) if finite else None
        for a, b, finite in zip(*bounds, series.converges, strict=True)
    ]


def _within(series: Series, eps: float, within: int) -> list[int]:
    """Where only the first `within` distances exist."""
    if within < 1 or within != int(within):
        raise TenfoldError(f"a reach within {within} tokens; a whole number, at least 1")
    weights = series.log_b(torch.arange(within, dtype=torch.float64)).exp()
    sums = weights.cumsum(1)
    return (1 + (sums <= (1 - eps) * sums[:, -1:]).sum(1)).clamp(max=within).tolist()


def _first(series: Series, sums: Tensor, eps: float, whole: Tensor, cautious: int) -> Tensor:
    """The smallest j whose rest is below a share eps of the whole; `cautious` takes the larger rest."""
    slack = ROUNDING * whole * (1 if cautious else -1)
    inside = 1 + (sums <= ((1 - eps) * whole + slack)[:, None]).sum(1)
    low, high = torch.full_like(inside, TERMS), torch.full_like(inside, FARTHEST)
    while bool((low < high).any()):  # beyond the summed terms, by bisection
        middle = low + (high - low) // 2
        at = middle.double()
        rest = _rest(series, at) + cautious * _term(series, at)
        done = rest < eps * whole - slack
        low, high = torch.where(done, low, middle + 1), torch.where(done, middle, high)
    return torch.where(inside <= TERMS, inside, low)


def _rest(series: Series, n: Tensor) -> Tensor:
    return series.tail(n[:, None])[:, 0]


def _term(series: Series, n: Tensor) -> Tensor:
    return series.log_b(n[:, None])[:, 0].exp()
