"""One's own encoding, in one file: attention falls off with the logarithm of the distance.

tenfold train symmetry/addition-relative --pe examples/log_bias.py:LogBias
"""

import torch
from torch import Tensor, nn

from tenfold.data.places import Places, distance
from tenfold.encodings import PositionalEncoding


class LogBias(PositionalEncoding):
    """bias(i, j) = -w log(1 + |i - j|), with w learned for each head."""

    name = "log-bias"
    shift_invariant = True  # a promise that the laws check

    def __init__(self, heads: int, start: float = 1.0, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis = axis
        self.weight = nn.Parameter(torch.full((heads,), start))

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])  # (B|1, T, S)
        far = (behind.abs().log1p() * related).unsqueeze(1)  # (B|1, 1, T, S)
        return -far * self.weight[:, None, None]  # (B|1, H, T, S)
