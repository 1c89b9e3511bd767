"""ALiBi (Press et al. 2022): a penalty on the logits that grows linearly with distance."""

from __future__ import annotations

from tenfold.encodings.decay_bias import Sloped
from tenfold.encodings.decay_series import GEOMETRIC


class ALiBi(Sloped):
    """bias(i, j) = -m_h |i - j| with slopes m_h = 2^(-8h/H); for H not a power of 2, as in the paper's code.

    One formula for both uses: under a causal mask it is the paper's, without one its symmetric form.

    >>> import torch
    >>> from tenfold.data.places import Places
    >>> at = Places(index=torch.arange(3)[None])
    >>> ALiBi(heads=8).bias(at, at)[0, 0].tolist()
    [[-0.0, -0.5, -1.0], [-0.5, -0.0, -0.5], [-1.0, -0.5, -0.0]]
    """

    name = "alibi"
    known_as = ("ALiBi", "attention with linear biases")
    decay = GEOMETRIC
