"""ALiBi (Press et al. 2022): a penalty on the logits that grows linearly with distance."""

from __future__ import annotations

import torch
from torch import Tensor

from tenfold.pe.base import PositionalEncoding
from tenfold.places import Places, distance


class ALiBi(PositionalEncoding):
    """bias(i, j) = -m_h |i - j| with slopes m_h = 2^(-8h/H); for H not a power of 2, as in the paper's code.

    >>> ALiBi(heads=8).slopes.tolist()[:3]
    [0.5, 0.25, 0.125]
    >>> at = Places(index=torch.arange(3)[None])
    >>> ALiBi(heads=8).bias(at, at)[0, 0].tolist()[2]
    [-1.0, -0.5, 0.0]
    """

    name = "alibi"
    shared = True
    shift_invariant = True
    slopes: Tensor

    def __init__(self, heads: int, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis = axis
        self.register_buffer("slopes", _slopes(heads), persistent=False)

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])  # (B|1, T, S)
        far = torch.where(related, behind.abs(), 0).unsqueeze(1)
        return -far * self.slopes[:, None, None]  # (B|1, H, T, S)


def _slopes(heads: int) -> Tensor:
    """A geometric series for a power of two; otherwise the next lower one's, and every other of the next higher's."""
    whole = 2 ** (heads.bit_length() - 1)
    slopes = [2 ** (-8 * h / whole) for h in range(1, whole + 1)]
    between = [2 ** (-4 * h / whole) for h in range(1, 2 * whole + 1, 2)]
    return torch.tensor((slopes + between)[:heads])
