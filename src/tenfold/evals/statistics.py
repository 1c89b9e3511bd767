"""Intervals for what was counted."""

from __future__ import annotations

import math


def wilson(right: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """The Wilson score interval of a share, 95% by default: never outside 0..1, honest at 0 and at n.

    >>> [round(bound, 4) for bound in wilson(0, 100)]
    [0.0, 0.037]
    >>> [round(bound, 4) for bound in wilson(50, 100)]
    [0.4038, 0.5962]
    """
    if n == 0:
        return 0.0, 1.0
    share = right / n
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if right == 0 else (middle - spread) / scale
    high = 1.0 if right == n else (middle + spread) / scale
    return low, high
