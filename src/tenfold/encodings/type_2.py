"""Type 2 decay (Qin et al. 2023, the `extrapolation` paper): weights exp(-(ln(3 + k n))^2)."""

from __future__ import annotations

from tenfold.encodings.decay_bias import Sloped
from tenfold.encodings.decay_series import TYPE_2


class Type2(Sloped):
    """bias(i, j) = -(ln(3 + k_h |i - j|))^2, with ALiBi's slopes k_h. Its series converges.

    >>> import torch
    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> Type2(heads=8).bias(at, at)[0, 0, 2]  # -(ln 4)^2, -(ln 3.5)^2, -(ln 3)^2
    tensor([-1.9218, -1.5694, -1.2069])
    """

    name = "type-2"
    known_as = ("Type 2",)
    decay = TYPE_2
