"""Float64 for angles at any place, also for devices that have no float64, such as Apple's MPS.

In float32 an angle of a million radians is off by hundredths. So angles are computed in float64, on the device itself
where it has float64, else on the CPU. Cosines and sines are then rounded and moved.
"""

from __future__ import annotations

import torch
from torch import Tensor

WITH_FLOAT64 = {"cpu", "cuda", "meta"}  # types of devices; every other is served by the CPU


def exact_device(device: torch.device) -> torch.device:
    """Where float64 numbers for a device are computed.

    >>> exact_device(torch.device("mps"))
    device(type='cpu')
    """
    return device if device.type in WITH_FLOAT64 else torch.device("cpu")


def exactly(x: Tensor) -> Tensor:
    """A tensor where float64 can be computed with; of its own type."""
    return x.to(exact_device(x.device))


def rounded(x: Tensor, like: Tensor) -> Tensor:
    """A tensor in the type of another one and on its device; rounded first, since the device may not have x's type."""
    return x.to(like.dtype).to(like.device)
