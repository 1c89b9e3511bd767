"""The base of biases that decay with distance: log b(|i - j|), with parameters of each head."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import PositiveInt
from torch import Tensor

from tenfold.data.places import Places, distance
from tenfold.encodings.decay_series import Decay, Series, slopes
from tenfold.encodings.encoding import PositionalEncoding


class Decaying(PositionalEncoding, ABC):
    """bias(i, j) = log b(|i - j|), and log b(0) for unrelated pairs.

    The bias is symmetric; a causal mask hides keys after the query. It is computed in at least single
    precision, because half precision cannot count long distances.
    """

    decay: ClassVar[Decay]
    ranges: ClassVar[
        Mapping[str, tuple[float, float]]
    ] = {}  # of learned numbers, which are clamped to them
    shared = True
    shift_invariant = True
    anchor: Tensor

    def __init__(self, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis = axis
        self.register_buffer("anchor", torch.empty(0), persistent=False)  # where, and how precise

    @abstractmethod
    def by_head(self) -> tuple[Tensor, ...]:
        """The decay's parameters, (H,) each."""

    def within_range(self, name: str) -> Tensor:
        """A learned number clamped to its range, with the gradient of the unclamped one: it can leave its bound again."""
        parameter = self.get_parameter(name)
        return parameter.clamp(*self.ranges[name]).detach() + (parameter - parameter.detach())

    def series(self) -> Series:
        return Series(self.decay, tuple(p.detach().cpu().double()[:, None] for p in self.by_head()))

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])  # (B|1, T, S)
        wide = torch.promote_types(self.anchor.dtype, torch.float32)
        far = torch.where(related, behind.abs(), 0).unsqueeze(1).to(wide)
        parameters = (p.to(self.anchor.device, wide)[:, None, None] for p in self.by_head())
        return self.decay.log_b(far, *parameters)  # (B|1, H, T, S)


class Sloped(Decaying):
    """A decay with ALiBi's slopes, k = 2^(-8h/H)."""

    def __init__(self, heads: PositiveInt, axis: str = "index") -> None:
        super().__init__(axis)
        self.heads = heads

    @property
    def slopes(self) -> Tensor:
        return slopes(self.heads)

    def by_head(self) -> tuple[Tensor, ...]:
        return (self.slopes,)
