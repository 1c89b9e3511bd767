"""How much memory a function takes, counted and not measured: the same on every machine and every run.

Every operation of torch passes by, so that each tensor is counted from when it is made until it is freed. What
an operation uses inside, such as the buffers of a matrix product, is not seen.
"""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary


class Watch(TorchDispatchMode):
    """`peak`: the most bytes alive at once of what was made inside; `largest`: elements of the largest tensor.

    >>> import torch
    >>> with Watch() as watch:
    ...     total = (torch.ones(10) + 1).sum()
    >>> watch.peak, watch.largest  # the ones and the twos, in float32
    (80, 10)
    """

    def __init__(self) -> None:
        super().__init__()
        self.live = self.peak = self.largest = 0
        self._held = WeakIdKeyDictionary()  # storages; a view has that of its base, and is no more

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        for given in tree_leaves((args, kwargs)):
            if isinstance(given, Tensor):  # if not made here, such as weights, it is not counted
                self._held.setdefault(given.untyped_storage(), 0)
        out = func(*args, **(kwargs or {}))
        for made in tree_leaves(out):
            if isinstance(made, Tensor):
                self._hold(made)
        return out

    def _hold(self, made: Tensor) -> None:
        storage = made.untyped_storage()
        size = storage.nbytes()
        if storage in self._held:
            return
        self._held[storage] = size
        weakref.finalize(storage, self._free, size)
        self.live += size
        self.peak = max(self.peak, self.live)
        self.largest = max(self.largest, size // made.element_size())

    def _free(self, size: int) -> None:
        self.live -= size
