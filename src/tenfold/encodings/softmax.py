"""The softmax over keys, which turns logits into attention weights where an encoding does not say otherwise."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

VECTOR = 16  # floats in the widest vectors of a CPU


def softmax(logits: Tensor) -> Tensor:
    """The softmax over the last dimension.

    PyTorch has only scalar code on a CPU for rows shorter than a vector, which is three times as slow.
    Such rows are padded.
    """
    keys = logits.shape[-1]
    if not logits.is_cpu or torch.compiler.is_compiling() or keys >= VECTOR:
        return logits.softmax(-1)
    return F.pad(logits, (0, VECTOR - keys), value=-math.inf).softmax(-1)[..., :keys]
