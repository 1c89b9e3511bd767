"""Kerple, power (Chi et al. 2022): a learned power of the distance as a penalty."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.encodings.decay_bias import Decaying
from tenfold.encodings.decay_series import POWER


class KerplePower(Decaying):
    """bias(i, j) = -a_h |i - j|^p_h, a > 0 and 0 < p <= 2 learned for each head, shared by the layers.

    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> pe = KerplePower(heads=2)
    >>> with torch.no_grad():
    ...     _ = pe.p.fill_(2), pe.a.fill_(1)
    >>> pe.bias(at, at)[0, 0, 2].tolist()
    [-4.0, -1.0, -0.0]
    """

    name = "kerple-power"
    known_as = ("KERPLE (power)", "Kerple-power")
    decay = POWER
    ranges: ClassVar = {"p": (0.01, 2.0), "a": (0.01, math.inf)}

    def __init__(self, heads: PositiveInt, axis: str = "index") -> None:
        super().__init__(axis)
        self.p = nn.Parameter(torch.rand(heads) * 2)
        self.a = nn.Parameter(torch.rand(heads))

    def by_head(self) -> tuple[Tensor, ...]:
        return torch.ones_like(self.p), self.within_range("p"), self.within_range("a")
