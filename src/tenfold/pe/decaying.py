"""What all biases by a decay share: log b(|i - j|), one formula of `series`, with parameters of each head."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from tenfold.pe.base import PositionalEncoding
from tenfold.pe.series import Decay, Series, slopes
from tenfold.places import Places, distance


class Decaying(PositionalEncoding):
    """bias(i, j) = log b(|i - j|), and log b(0) for unrelated pairs. Symmetric: a causal mask hides what lies ahead."""

    decay: ClassVar[Decay]
    shared = True
    shift_invariant = True

    def __init__(self, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis = axis

    def by_head(self) -> tuple[Tensor, ...]:
        """The decay's parameters, (H,) each."""
        raise NotImplementedError

    def series(self) -> Series:
        return Series(self.decay, tuple(p.detach().double()[:, None] for p in self.by_head()))

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])  # (B|1, T, S)
        far = torch.where(related, behind.abs(), 0).unsqueeze(1)
        return self.decay.log_b(far, *(p[:, None, None] for p in self.by_head()))  # (B|1, H, T, S)


class Sloped(Decaying):
    """A decay with ALiBi's slopes, k = 2^(-8h/H)."""

    slopes: Tensor

    def __init__(self, heads: int, axis: str = "index") -> None:
        super().__init__(axis)
        self.register_buffer("slopes", slopes(heads), persistent=False)

    def by_head(self) -> tuple[Tensor, ...]:
        return (self.slopes,)


def at_least(parameter: Tensor, low: float, high: float | None = None) -> Tensor:
    """Clamped, with the gradient of the unclamped: a parameter at its bound can come back."""
    return parameter + (parameter.clamp(low, high) - parameter).detach()
