"""Kerple, logarithmic (Chi et al. 2022): a learned logarithmic penalty on distance."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.encodings.decay_bias import Decaying
from tenfold.encodings.decay_series import KERPLE_LOG


class KerpleLog(Decaying):
    """bias(i, j) = -p_h ln(1 + a_h |i - j|), p and a > 0 learned for each head, shared by the layers.

    The weights are (1 + a n)^-p: their series converges where p > 1.

    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> pe = KerpleLog(heads=2)
    >>> with torch.no_grad():
    ...     _ = pe.p.fill_(2), pe.a.fill_(1)
    >>> pe.bias(at, at)[0, 0, 2].exp()
    tensor([0.1111, 0.2500, 1.0000], grad_fn=<ExpBackward0>)
    """

    name = "kerple-log"
    known_as = ("KERPLE (log)", "Kerple-log")
    decay = KERPLE_LOG
    ranges: ClassVar = {"p": (0.01, math.inf), "a": (0.01, math.inf)}

    def __init__(self, heads: PositiveInt, axis: str = "index") -> None:
        super().__init__(axis)
        self.p = nn.Parameter(torch.rand(heads) * 2)
        self.a = nn.Parameter(torch.rand(heads))

    def by_head(self) -> tuple[Tensor, ...]:
        return self.within_range("p"), self.within_range("a")
