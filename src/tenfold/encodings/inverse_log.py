"""1/(n ln n) decay (Qin et al. 2023, the `extrapolation` paper): weights that only just do not sum."""

from __future__ import annotations

from tenfold.encodings.decay_bias import Sloped
from tenfold.encodings.decay_series import INVERSE_LOG


class InverseLog(Sloped):
    """bias(i, j) = -(z + ln z), z = ln(3 + k_h |i - j|), with ALiBi's slopes k_h. Its series diverges.

    >>> import torch
    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> InverseLog(heads=8).bias(at, at)[0, 0, 2].exp()  # 1 / (4 ln 4), 1 / (3.5 ln 3.5), ...
    tensor([0.1803, 0.2281, 0.3034])
    """

    name = "inverse-log"
    known_as = ("1/(n ln n)",)
    decay = INVERSE_LOG
