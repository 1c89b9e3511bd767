"""The base of biases that decay with distance: log b(|i - j|), with parameters of each head."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.data.places import Places, distance
from tenfold.encodings.decay_series import Decay, Series, slopes
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.fading import Fading


class Decaying(PositionalEncoding, ABC):
    """bias(i, j) = log b(|i - j|), and log b(0) for unrelated pairs.

    The bias is symmetric; a causal mask hides keys after the query. It is computed in at least single
    precision, because half precision cannot count long distances.
    """

    decay: Decay
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

    def fading(self, axis: str) -> Fading | None:
        return Fading(0, (self.series(),) if axis == self.axis else ())

    def apart(self, q_at: Places, k_at: Places) -> Tensor:
        """The distance that decays, (B|1, T, S); 0 for unrelated pairs."""
        behind, related = distance(q_at[self.axis], k_at[self.axis])
        return torch.where(related, behind.abs(), 0)

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        wide = torch.promote_types(self.anchor.dtype, torch.float32)
        far = self.apart(q_at, k_at).unsqueeze(1).to(wide)
        parameters = (p.to(self.anchor.device, wide)[:, None, None] for p in self.by_head())
        return self.decay.log_b(far, *parameters)  # (B|1, H, T, S)


class Sloped(Decaying):
    """A decay with ALiBi's slopes, k = 2^(-8h/H); or with one `slope` for all heads."""

    def __init__(
        self, heads: PositiveInt, axis: str = "index", slope: PositiveFloat | None = None
    ) -> None:
        super().__init__(axis)
        self.heads, self.slope = heads, slope

    @property
    def slopes(self) -> Tensor:
        if self.slope is None:
            return slopes(self.heads)
        return torch.full((self.heads,), self.slope, dtype=torch.float64)

    def by_head(self) -> tuple[Tensor, ...]:
        return (self.slopes,)
