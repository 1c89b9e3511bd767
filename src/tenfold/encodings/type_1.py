"""Type 1 decay (Qin et al. 2023, the `extrapolation` paper): weights 1 / (1 + (k n)^2)."""

from __future__ import annotations

from tenfold.encodings.decay_bias import Sloped
from tenfold.encodings.decay_series import TYPE_1


class Type1(Sloped):
    """bias(i, j) = -ln(1 + (k_h |i - j|)^2), with ALiBi's slopes k_h. Its series converges.

    >>> import torch
    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> Type1(heads=8).bias(at, at)[0, 0, 2].exp()  # 1/2, 1/(1 + 1/4), 1
    tensor([0.5000, 0.8000, 1.0000])
    """

    name = "type-1"
    known_as = ("Type 1",)
    decay = TYPE_1
