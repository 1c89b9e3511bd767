"""The reach of a stack of L layers, each of which looks back from the positions that the layer above looks at.

Assumption: in every layer, a position takes its input from distance n with weight b(n)/B, independently of the tokens and
of the other layers. Then the total distance is a sum of L independent distances. Residual connections, which shorten
paths, are left out. So this is how far a stack can look by position alone, not how far it does.

The distribution of the sum is an L-fold convolution, computed by FFT over bins of distances. Rounding a distance down to
its bin changes a sum by at most L (width - 1), so the result is a pair of bounds. Sums above the largest possible result
are cut off, which does not change smaller sums. Two simple bounds are given too: at least the reach of one layer, and at
most L times the reach of one layer at eps / L, since a sum is that large only if one of its L parts is. L times the reach
at eps itself is not a bound, but a common rule of thumb.

Shapes: H heads, N bins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.encodings.decay_series import Series
from tenfold.features.reach.partial_sums import FINENESS, partial
from tenfold.features.reach.receptive_field import Reach, reach

BINS = 1 << 16  # number of bins up to the largest possible result
LEAST = 1e-9  # the smallest eps; below it the rounding of the FFT would matter
MOST = 1000  # the largest number of layers


@dataclass(frozen=True)
class Deep:
    """The reach of a stack of layers, with the simple bounds."""

    field: Reach
    at_least: int  # one layer's
    at_most: int  # L times one layer's at eps / L
    thumb: int  # L times one layer's at eps


def deep(
    series: Series, layers: int, eps: float = 0.05, within: int | None = None
) -> list[Deep | None]:
    """The stacked reach for each head, as if all layers had only that head; None where one layer has no reach.

    >>> from tenfold.encodings import ALiBi
    >>> one, two = (deep(ALiBi(heads=4).series(), layers)[0] for layers in (1, 6))
    >>> str(one.field), str(two.field), two.at_most, two.thumb
    ('12', '40', 115, 72)
    """
    if not 1 <= layers <= MOST:
        raise TenfoldError(f"{layers} layers; 1 to {MOST} are right")
    if eps < LEAST:
        raise TenfoldError(f"a share eps of {eps} over layers; at least {LEAST}")
    ones, strict = reach(series, eps, within), reach(series, eps / layers, within)
    results: list[Deep | None] = []
    for head, (one, far) in enumerate(zip(ones, strict, strict=True)):
        if one is None or far is None or one.high is None or far.high is None:
            results.append(None)
            continue
        at_most = layers * (far.high - 1) + 1
        width = -(-at_most // BINS)
        low = _quantile(_shares(series, head, -(-at_most // width), width, within), layers, eps)
        high = low + 1 if width == 1 else math.ceil((low + layers) * width * (1 + FINENESS))
        field = Reach(max(one.low, low * width + 1), min(at_most, high))
        results.append(Deep(field, one.low, at_most, layers * one.high))
    return results


def _shares(series: Series, head: int, bins: int, width: int, within: int | None) -> Tensor:
    """(N,): the share of a head's weight in each bin of `width` distances. Larger distances are left out."""
    alone = Series(
        series.decay,
        tuple(p[head : head + 1] if len(p) == series.heads else p for p in series.parameters),
    )
    edges = torch.arange(bins + 1, dtype=torch.float64) * width
    last = int(edges[-1]) if within is None else min(within, int(edges[-1]))
    sums = partial(alone, last)
    middle = torch.cat([torch.zeros(1, dtype=torch.float64), ((sums.low + sums.high) / 2)[0]])
    knots = torch.cat([torch.zeros(1, dtype=torch.long), sums.knots])
    whole = middle[-1]
    if within is None:
        low, high = alone.rest(torch.tensor([float(last)], dtype=torch.float64))
        whole = whole + (low + high)[0, 0] / 2
    elif within > last:
        longer = partial(alone, within)
        whole = (longer.low + longer.high)[0, -1] / 2
    at = torch.searchsorted(knots, edges.clamp(max=last).long()).clamp(max=len(knots) - 1)
    return middle[at].diff() / whole


def _quantile(shares: Tensor, layers: int, eps: float) -> int:
    """The smallest sum of bins such that more than 1 - eps of the weight is at or below it."""
    total, power = None, shares
    while True:  # by squaring: 6 layers are 2 and 4
        if layers & 1:
            total = power if total is None else _convolved(total, power)
        layers >>= 1
        if not layers:
            break
        power = _convolved(power, power)
    assert total is not None
    return int(torch.searchsorted(total.cumsum(0), torch.tensor(1 - eps).double(), right=True))


def _convolved(x: Tensor, y: Tensor) -> Tensor:
    """The convolution, cut off at the number of bins."""
    size = 2 * len(x)
    return torch.fft.irfft(torch.fft.rfft(x, size) * torch.fft.rfft(y, size), size)[: len(x)]
