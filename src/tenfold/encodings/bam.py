"""BAM (Bianchessi et al. 2025, arXiv 2505.22842): attention with a learned prior over distance, a generalized Gaussian."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.encodings.decay_bias import Decaying
from tenfold.encodings.decay_series import BAM_PRIOR, Series


class BAM(Decaying):
    """bias(i, j) = -e^(a_h) (|i - j| + 1e-5)^(b_h), a and b learned for each head of each layer.

    The weights exp(-(n/s)^b) are a generalized Gaussian of the distance n: Laplace (ALiBi's) for b = 1, Gauss
    for b = 2, even for b = 0. With b < 0 a head weighs near keys less than far ones. As in the authors' code a
    and b start at 0, so that training starts without positions, and the centre is the query itself. a stays
    within -20..10 and b within -4..4. Unrelated pairs have the bias of distance 0.

    The series converges where b > 0. The paper's best form composes it with `scalable-softmax`.

    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> pe = BAM(heads=2)
    >>> with torch.no_grad():
    ...     _ = pe.b.fill_(2)
    >>> pe.bias(at, at)[0, 0, 2]
    tensor([-4.0000e+00, -1.0000e+00, -1.0000e-10], grad_fn=<SelectBackward0>)
    """

    name = "bam"
    known_as = ("BAM", "GGD-BAM", "Bayesian attention mechanism")
    decay = BAM_PRIOR
    shared = False
    ranges: ClassVar = {"a": (-20.0, 10.0), "b": (-4.0, 4.0)}  # powers stay finite in float32

    def __init__(self, heads: PositiveInt, axis: str = "index") -> None:
        super().__init__(axis)
        self.a = nn.Parameter(torch.zeros(heads))
        self.b = nn.Parameter(torch.zeros(heads))

    def by_head(self) -> tuple[Tensor, ...]:
        return self.within_range("a").exp(), self.within_range("b")

    def series(self) -> Series:
        series = super().series()
        if not bool((series.parameters[1] < 0).any()):
            return series
        return replace(series, decay=replace(BAM_PRIOR, wavy=True))  # it rises in some head
