"""Models without memory for their weights: on the meta device, with nothing drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


@contextmanager
def weightless() -> Iterator[None]:
    """Make modules on the meta device and leave their weights undrawn.

    PyTorch draws normal numbers on this device through its compiler, whose import takes longer than PyTorch's own.
    """
    with torch.device("meta"), _Undrawn():
        yield


class _Undrawn(TorchFunctionMode):
    """Take a meta tensor for drawn, and for scaled, as it is."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        given = kwargs or {}
        if func is torch.randn and not given.keys() & {"device", "generator"}:
            return torch.empty(*args, **given)
        if func in (Tensor.normal_, nn.init.normal_) or (
            func is Tensor.mul and isinstance(args[-1], float)
        ):
            tensor: Tensor = args[0] if args else given["tensor"]
            if tensor.is_meta and tensor.is_floating_point():
                return tensor
        return func(*args, **given)
