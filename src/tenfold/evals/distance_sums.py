"""Sums of attention by distance, and the receptive field that they give.

Shapes: H heads, T queries, S keys.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def quantile(amounts: Tensor, eps: float) -> Tensor:
    """The number of nearest distances that hold more than 1 - eps of the total: (..., S) -> (...).

    >>> import torch
    >>> quantile(torch.tensor([6.0, 3.0, 1.0]), 0.2)
    tensor(2)
    """
    sums = amounts.cumsum(-1)
    return (1 + (sums <= (1 - eps) * sums[..., -1:]).sum(-1)).clamp(max=amounts.shape[-1])


def by_distance(amounts: Tensor) -> Tensor:
    """Sum by how far a key lies before its query: (..., T, S) -> (..., S). The queries are the last T of the S tokens.

    Keys are turned around and each row is shifted by its number, as a view: no table of distances is made.

    >>> import torch
    >>> by_distance(torch.tensor([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]]))
    tensor([7., 5., 3.])
    """
    rows, keys = amounts.shape[-2:]
    padded = F.pad(amounts.flip(-1), (0, rows)).flatten(-2)
    shifted = padded[..., rows - 1 : rows - 1 + rows * (keys + rows - 1)]
    return shifted.unflatten(-1, (rows, keys + rows - 1))[..., :keys].sum(-2)
