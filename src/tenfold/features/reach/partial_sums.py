"""Sums of the first terms of a series, without adding up every term of a long one.

Up to 2^20 distances are summed term by term. Beyond, distances are grouped into blocks, each longer than the one before
by one part in 50,000. Since b does not grow, the sum of a block lies between its length times its last term and its
length times its first. An oscillating series has no such bounds: it is summed term by term or not at all.

Shapes: H heads, N distances, K knots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.encodings.decay_series import Series

EXACT = 1 << 20  # distances that are summed term by term
WAVY = 1 << 22  # the largest number of distances of an oscillating series
LONGEST = 1 << 62
FINENESS = 2e-5  # the relative growth of blocks


@dataclass(frozen=True)
class Partial:
    """Bounds of the sum of b(n) over n < x at each knot x: knots (K,), bounds (H, K)."""

    knots: Tensor
    low: Tensor
    high: Tensor

    def reach(self, shares: Tensor) -> tuple[Tensor, Tensor]:
        """For each share (E,), the knots between which the sum passes 1 - share of the total: (H, E) each."""
        low, high = (
            torch.searchsorted(sums.contiguous(), ((1 - shares) * last).contiguous(), right=True)
            for sums, last in ((self.high, self.low[:, -1:]), (self.low, self.high[:, -1:]))
        )
        last = len(self.knots) - 1
        below = self.knots[(low - 1).clamp(min=0)]  # not yet passed there
        below = torch.where(low > 0, below + 1, torch.ones_like(below))
        return below, self.knots[high.clamp(max=last)]


def partial(series: Series, length: int) -> Partial:
    """Sums over the first `length` distances.

    >>> from tenfold.encodings import Inverse
    >>> harmonic = partial(Inverse(heads=8).series(), 10**9)
    >>> f"{harmonic.low[0, -1]:.2f} {harmonic.high[0, -1]:.2f}"  # 2 (H(10^9 + 1) - 1), the slope being 1/2
    '40.60 40.60'
    """
    decay = series.decay
    if length < 1 or length != int(length):
        raise TenfoldError(f"a reach within {length} tokens; a whole number, at least 1")
    if decay.ends is not None and length > decay.ends:
        raise TenfoldError(f"a reach within {length} tokens; the table ends at {decay.ends}")
    if length > (WAVY if decay.wavy else LONGEST):
        most, why = (WAVY, "a wavy bias is summed term by term") if decay.wavy else (LONGEST, "")
        raise TenfoldError(
            f"a reach within {length} tokens; at most {most:,}{f': {why}' if why else ''}"
        )
    first = min(length, WAVY if decay.wavy else EXACT)
    sums = _terms(series, first)
    knots = torch.arange(1, first + 1)
    if first == length:
        return Partial(knots, sums, sums)
    more, low, high = _blocks(series, first, length)
    return Partial(
        torch.cat([knots, more]),
        torch.cat([sums, sums[:, -1:] + low], 1),
        torch.cat([sums, sums[:, -1:] + high], 1),
    )


def growth(series: Series, short: int, long: int) -> list[float]:
    """For each head, the weight that a longer text adds: the sum up to `long` divided by the sum up to `short`, minus 1.

    >>> from tenfold.encodings import ALiBi, NoPE
    >>> [
    ...     f"{head:.2f}" for head in growth(ALiBi(heads=4).series(), 512, 4096)
    ... ]  # of slope 2^-8: e^-2 / (1 - e^-2)
    ['0.00', '0.00', '0.00', '0.16']
    >>> growth(NoPE().series(), 512, 4096)
    [7.0]
    """
    if long < short:
        raise TenfoldError(f"from {short} to {long} tokens; the second number is the longer one")
    ends = partial(series, long)
    begins = partial(series, short)
    middle = [(each.low[:, -1] + each.high[:, -1]) / 2 for each in (begins, ends)]
    return (middle[1] / middle[0] - 1).clamp(min=0).tolist()


def _terms(series: Series, count: int) -> Tensor:
    """(H, count): sums of the first 1, 2, ... terms, computed in chunks of distances."""
    some = [
        series.log_b(torch.arange(start, min(start + EXACT, count), dtype=torch.float64)).exp()
        for start in range(0, count, EXACT)
    ]
    return torch.cat(some, 1).cumsum(1)


def _blocks(series: Series, start: int, stop: int) -> tuple[Tensor, Tensor, Tensor]:
    """The ends of blocks from `start` to `stop`, (K,), and bounds of the sum from `start` up to each end, (H, K)."""
    count = math.ceil(math.log(stop / start) / FINENESS)
    grid = torch.linspace(math.log(start), math.log(stop), count + 1, dtype=torch.float64).exp()
    ends = grid.round().long().clamp(start, stop)
    ends[0], ends[-1] = start, stop
    ends = ends.unique()
    b = series.log_b(ends.double()).exp()  # (H, K + 1)
    width = ends.diff().double()
    low, high = (b[:, 1:] * width).cumsum(1), (b[:, :-1] * width).cumsum(1)
    return ends[1:], low, high
