"""Whether torch can compute on a device here."""

from __future__ import annotations

import torch

from tenfold.core.errors import TenfoldError


def usable_device(name: str) -> torch.device:
    """The device of this name; an error of one line if it is unknown, not here, or holds no numbers."""
    try:
        device = torch.device(name)
        if torch.empty(1, device=device).is_meta:
            raise RuntimeError("it holds no numbers")
    except Exception as error:  # of many kinds: a backend that is missing is an ImportError
        reason = " ".join(str(error).split())[:160]
        raise TenfoldError(
            f'device "{name}" cannot be used here: {reason}; cpu always can'
        ) from None
    return device
