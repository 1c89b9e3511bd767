"""1/n decay (Qin et al. 2023, the `extrapolation` paper): weights 1 / (1 + k n), which do not sum."""

from __future__ import annotations

from tenfold.encodings.decay_bias import Sloped
from tenfold.encodings.decay_series import INVERSE


class Inverse(Sloped):
    """bias(i, j) = -ln(1 + k_h |i - j|), with ALiBi's slopes k_h. It decays, but its series diverges.

    >>> import torch
    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> Inverse(heads=8).bias(at, at)[0, 0, 2].exp()
    tensor([0.5000, 0.6667, 1.0000])
    """

    name = "inverse"
    known_as = ("1/n",)
    decay = INVERSE
