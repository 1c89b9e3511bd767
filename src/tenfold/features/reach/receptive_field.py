"""How far an encoding looks: the theoretical receptive field of the `extrapolation` paper (2307.10156).

Let b(n) be the weight on distance n and B the sum of all weights. Then n_the(eps) = min{ j : sum_{n<j} b(n) > (1 - eps) B }
is the number of nearest keys that hold all but a share eps of the weight. It does not exist if the sum diverges. Within
a number of tokens, as in a trained model, it always exists.

A closed form of the decay is used where there is one. Otherwise the first terms are summed, and the decay gives bounds
for the rest (`Decay.rest`). So a reach is a pair of bounds, which are equal except for the longest reaches. Distances of
10^9 and more are computed by bisection, not by summing.

Shapes: H heads, E shares, N distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.encodings.decay_series import Series
from tenfold.features.reach.partial_sums import partial

TERMS = 1 << 16  # terms that are summed one by one
FARTHEST = 1 << 62  # the end of the search
ROUNDING = 2e-11  # relative error of such sums and of integrals in float64
LAST_BITS = 1e-15  # relative error of a closed form


@dataclass(frozen=True)
class Reach:
    """Bounds low..high of a head's receptive field, mostly equal. `high` is None if the field is too large to compute."""

    low: int
    high: int | None

    def __str__(self) -> str:
        if self.high is None:
            return f"> {self.low:.1e}"
        if self.low == self.high:
            return f"{self.low:,}"
        if self.high < 10**6:
            return f"{self.low:,}-{self.high:,}"
        if self.high - self.low > 0.01 * self.low:
            return f"{self.low:.3g}-{self.high:.3g}"
        return f"about {(self.low + self.high) / 2:.3g}"


Fields = list[Reach | None]  # for each head; None: no number of keys holds enough weight


def reach(series: Series | None, eps: float = 0.05, within: int | None = None) -> Fields:
    """For each head, the number of nearest keys that hold all but a share `eps` of the weight; None if there is none.

    >>> from tenfold.encodings import ALiBi
    >>> [str(head) for head in reach(ALiBi(heads=4).series(), eps=0.05)]  # ceil(-ln eps / slope)
    ['12', '48', '192', '767']
    """
    return reaches(series, [eps], within)[0]


def reaches(
    series: Series | None, shares: Sequence[float], within: int | None = None
) -> list[Fields]:
    """`reach` for many shares at once: a list of heads for each share.

    >>> from tenfold.encodings import Type1
    >>> [[str(head) for head in heads] for heads in reaches(Type1(heads=2).series(), [0.5, 0.01])]
    [['17', '257'], ['1,000', '16,277']]
    """
    if series is None:
        raise TenfoldError("this encoding has no series of weights by distance, so it has no reach")
    for eps in shares:
        if not 0 < eps < 1:
            raise TenfoldError(f"a share eps of {eps}; above 0 and below 1")
    eps_at = torch.tensor(shares, dtype=torch.float64)
    if within is not None:
        low, high = partial(series, within).reach(eps_at)
        return _listed(low, high, [True] * series.heads)
    if not any(series.converges):
        return [[None] * series.heads for _ in shares]
    return _listed(*(_closed(series, eps_at) or _summed(series, eps_at)), series.converges)


def over_heads(fields: Fields) -> tuple[Reach | None, Reach | None, Reach | None]:
    """The smallest, the median (the lower of two) and the largest reach of a model's heads.

    >>> over_heads([Reach(12, 12), None, Reach(6, 6)])
    (Reach(low=6, high=6), Reach(low=12, high=12), None)
    """
    ordered = sorted(fields, key=lambda field: FARTHEST + 1 if field is None else field.low)
    return ordered[0], ordered[(len(ordered) - 1) // 2], ordered[-1]


def _listed(low: Tensor, high: Tensor, finite: list[bool]) -> list[Fields]:
    """(H, E) bounds -> for each share a list of heads."""
    return [
        [
            Reach(min(a, FARTHEST), b if b < FARTHEST else None) if is_finite else None
            for a, b, is_finite in zip(*bounds, finite, strict=True)
        ]
        for bounds in zip(low.T.tolist(), high.T.tolist(), strict=True)
    ]


def _closed(series: Series, shares: Tensor) -> tuple[Tensor, Tensor] | None:
    """The smallest integer above the closed form, with bounds for rounding."""
    if series.decay.closed is None:
        return None
    real = series.decay.closed(shares, *series.parameters)  # (H, E)
    low, high = (
        (real * (1 + sign * LAST_BITS)).clamp(max=FARTHEST).floor().long() + 1 for sign in (-1, 1)
    )
    return low, high


def _summed(series: Series, shares: Tensor) -> tuple[Tensor, Tensor]:
    """(H, E): the smallest j whose rest may be below a share of the whole, and the smallest whose rest must be."""
    sums = series.log_b(torch.arange(TERMS, dtype=torch.float64)).exp().cumsum(1)  # of 1..N terms
    head = sums[:, -1:]
    rests = series.rest(torch.tensor([float(TERMS)], dtype=torch.float64))
    bounds = []
    for cautious, rest in enumerate(rests):
        slack = ROUNDING * (head + rest) * (1 if cautious else -1)
        passed = (1 - shares) * (head + rest) + slack  # (H, E)
        inside = 1 + torch.searchsorted(sums, passed.contiguous(), right=True)
        bounds.append(
            torch.where(
                inside <= TERMS, inside, _beyond(series, shares, head, rests, cautious, slack)
            )
        )
    return bounds[0], bounds[1]


def _beyond(
    series: Series,
    shares: Tensor,
    head: Tensor,
    rests: tuple[Tensor, Tensor],
    cautious: int,
    slack: Tensor,
) -> Tensor:
    """The same beyond the summed terms, by bisection. Bounds of the rest and of the total are combined cautiously."""
    most = shares * (head + rests[1 - cautious]) - slack  # (H, E)
    low, high = torch.full_like(most, TERMS).long(), torch.full_like(most, FARTHEST).long()
    while bool((low < high).any()):
        middle = low + (high - low) // 2
        done = series.rest(middle.double())[cautious] < most
        low, high = torch.where(done, low, middle + 1), torch.where(done, middle, high)
    return low
