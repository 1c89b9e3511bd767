"""Alpha-entmax with a learned temperature (Vasylenko et al. 2025, arXiv 2506.16640): sparse weights, exactly 0 far below the best."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped

STEPS = 40  # of Newton's method at most; about 6 are usual, 25 where a million keys are alike


class Entmax(PositionalEncoding):
    """weights = entmax((delta + b log(1 + n)^c) logits), n the number of keys that a query sees; b and c by head.

    entmax(z)_j = max(0, (alpha - 1) z_j - t)^(1 / (alpha - 1)), with t such that the weights add up to 1
    (Peters et al. 2019, arXiv 1905.05702). It is sparsemax at `alpha` 2 and tends to softmax as `alpha` goes
    to 1. Keys far below the best get no weight at all, so more of them do not flatten attention.

    b starts at 0.5 and c at 0, hence the factor at `delta` + 0.5 for every n. This is the paper's form with a
    learned b and c for each head; its other form makes them from the query's input. All logits are
    multiplied, also what other encodings of a composition add. With `learned` false the factor is `delta`.
    It knows no positions, so compose it with an encoding that does.

    >>> pe, logits = Entmax(heads=1, learned=False), torch.tensor([[[[1.0, 0.0, -2.0]]]])
    >>> weights = pe.normalise(logits, None)[0, 0, 0]
    >>> [round(float(weight), 3) for weight in weights]
    [0.831, 0.169, 0.0]
    """

    name = "entmax"
    known_as = ("alpha-entmax", "sparsemax", "ASEntmax")
    no_series = "it has no bias; which keys it drops depends on what they contain"
    shift_invariant = True

    def __init__(
        self,
        heads: PositiveInt,
        alpha: float = 1.5,
        delta: float = 1.0,
        learned: bool = True,
    ) -> None:
        super().__init__()
        if not 1 < alpha <= 2:
            raise TenfoldError(
                f"entmax has alpha {alpha}; above 1, at most 2 is right (2 is sparsemax, near 1 it is softmax)"
            )
        self.alpha, self.delta, self.learned = alpha, delta, learned
        if learned:
            self.b = nn.Parameter(torch.full((heads,), 0.5))
            self.c = nn.Parameter(torch.zeros(heads))

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"alpha": 2.0}, {"alpha": 1.25, "delta": 0.5}, {"learned": False}]

    def maps(self, pairs: Pairs) -> list[Map]:
        if not self.learned:
            return []
        rows = MapGroup("", "number of each head", (0, 1), (0, 1), ("b", "c"))
        both = torch.stack([self.b, self.c])
        return grouped([rows], both, torch.tensor([0, 1]), "temperature", "head")

    def normalise(self, logits: Tensor, visible: Tensor | None) -> Tensor:
        wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
        seen = torch.ones_like(logits[:1, :1, :1], dtype=torch.bool) if visible is None else visible
        scaled = wide.masked_fill(~seen, 0.0) * self._factor(
            seen, wide
        )  # -inf times 0 is no number
        return entmax(scaled.masked_fill(~seen, -math.inf), self.alpha).to(logits.dtype)

    def _factor(self, seen: Tensor, like: Tensor) -> Tensor | float:
        """(B|1, H, T|1, 1)"""
        if not self.learned:
            return self.delta
        size = seen.sum(-1, keepdim=True).to(like.dtype).log1p()  # (B|1, H|1, T|1, 1)
        b, c = (each.to(like.dtype)[:, None, None] for each in (self.b, self.c))
        return self.delta + b * size**c


def entmax(logits: Tensor, alpha: float) -> Tensor:
    """Alpha-entmax over the last dimension, for 1 < alpha <= 2; -inf gets 0.

    The sum of the weights is a convex function of the threshold t and falls with it, so that Newton's method
    from below never passes the solution. The last step is differentiated: by the implicit function theorem
    its gradient is that of the solution.

    >>> entmax(torch.tensor([1.0, 0.5, -1.0]), 2.0).tolist()  # sparsemax: 1 - 0.25, 0.5 - 0.25
    [0.75, 0.25, 0.0]
    """
    power = 1 / (alpha - 1)
    z = (alpha - 1) * logits
    z = z - z.detach().amax(-1, keepdim=True)  # the threshold is between -1 and 0
    threshold = torch.full_like(z[..., :1], -1.0)
    small, free = 4 * torch.finfo(z.dtype).eps, torch.compiler.is_exporting() or z.is_meta
    with torch.no_grad():
        for _ in range(STEPS):
            step = _next(z, threshold, power)
            threshold = threshold + step
            if not free and bool((step.abs() <= small).all()):
                break
    threshold = threshold + _step(z, threshold, power)
    return (z - threshold).clamp(min=0.0) ** power


def _next(z: Tensor, threshold: Tensor, power: float) -> Tensor:
    """As `_step`, without a gradient: fewer tensors of all pairs."""
    above = (z - threshold).clamp_(min=0.0)
    below = above.sign() if power == 1 else above.pow(power - 1)  # to one power less
    slope = below.sum(-1, keepdim=True)
    return (above.mul_(below).sum(-1, keepdim=True) - 1) / (power * slope)


def _step(z: Tensor, threshold: Tensor, power: float) -> Tensor:
    """Newton's: how far the sum of the weights is above 1, by its slope."""
    above = (z - threshold).clamp(min=0.0)
    slope = torch.where(above > 0, above.detach() ** (power - 1), 0.0).sum(-1, keepdim=True)
    return ((above**power).sum(-1, keepdim=True) - 1) / (power * slope)
