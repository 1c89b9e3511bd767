"""Thresholds for lines that stand out: the paper's rule, and one without a constant.

Shapes: L lines.
"""

from __future__ import annotations

import math

from torch import Tensor

FACTOR = 2.0  # kept lines have, in the mean, at least so many times the attention of the others
FAINT = 30.0  # lines with less than one such part of the strongest line's attention are alike


def by_kappa(means: Tensor, kappa: float) -> float:
    """The paper's threshold: mu + kappa sigma, over all lines.

    >>> import torch
    >>> by_kappa(torch.tensor([0.0, 0.0, 0.0, 4.0]), 1.0)  # mu 1, sigma sqrt(3)
    2.732050807568877
    """
    exact = means.double()
    return float(exact.mean() + kappa * exact.std(correction=0))


def highest_z(lines: int, equal: int = 1) -> float:
    """How many sigmas above mu so many equal lines can be among all of them, at the most; no kappa beyond keeps one.

    >>> round(highest_z(17), 2), round(highest_z(17, equal=2), 2)
    (4.0, 2.74)
    """
    return math.sqrt((lines - equal) / equal) if lines > equal else 0.0


def automatic(means: Tensor, *, logarithm: bool) -> float | None:
    """A threshold between the lines that stand out and the others; None where none does.

    Otsu's split of the logits (of weights, their logarithms: `logarithm`), which has the largest variance between the two
    sides. It counts if the kept side has FACTOR times the attention of the other. Below the FAINT part of the strongest line
    lines count as equal, so one strong line, or several equal ones, can stand out among any number.

    >>> import torch
    >>> automatic(torch.tensor([5.0, 0.0, 0.5, 5.25, 0.25]), logarithm=False)  # two lines
    2.75
    >>> automatic(torch.tensor([0.1, 0.0, 0.2, 0.15]), logarithm=False) is None  # flat
    True
    """
    exact = means.double()
    given = exact.clamp(min=1e-12).log() if logarithm else exact
    clipped = given.clamp(min=float(given.max()) - math.log(FAINT))
    ordered = clipped.sort(descending=True).values
    best, split = 0.0, 0
    for count in range(1, len(ordered)):
        apart = ordered[:count].mean() - ordered[count:].mean()
        between = float(apart**2) * count * (len(ordered) - count) / len(ordered) ** 2
        if between > best + 1e-12:
            best, split = between, count
    if split == 0 or ordered[:split].mean() - ordered[split:].mean() < math.log(FACTOR):
        return None
    raw = exact.sort(descending=True).values
    return float((raw[split - 1] + raw[split]) / 2)
