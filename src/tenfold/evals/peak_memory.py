"""The most memory that tensors take while a model reads a batch, measured on a small one."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tenfold.data.batch import Batch
from tenfold.models import Model


class Peak(TorchDispatchMode):
    """Counts the bytes of the tensors that were made since it was entered and still exist; `most` is their maximum."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.most = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        out = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, Tensor):
                self._add(tensor.untyped_storage())
        return out

    def _add(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key not in self._known:
            self._known.add(key)
            self.now += size
            self.most = max(self.most, self.now)
            weakref.finalize(storage, self._remove, key, size)

    def _remove(self, key: int, size: int) -> None:
        self._known.discard(key)
        self.now -= size


@torch.inference_mode()
def peak_bytes(model: Model, batch: Batch) -> int:
    """The most bytes that tensors take at a time while the model reads a batch."""
    with Peak() as peak:
        model(batch)
    return peak.most
