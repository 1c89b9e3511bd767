"""A sorted array as a map from integers to integers: many keys are looked up at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class IntMap:
    """A growing map from keys to numbers, both 64-bit."""

    def __init__(self) -> None:
        self.keys, self.numbers = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.keys)

    def has(self, keys: Ints) -> NDArray[np.bool_]:
        if not len(self.keys):
            return np.zeros(len(keys), dtype=bool)
        return self.keys[self._place(keys)] == keys

    def get(self, keys: Ints) -> Ints:
        """The numbers of keys that are there."""
        return self.numbers[self._place(keys)] if len(self.keys) else np.zeros(0, dtype=np.int64)

    def add(self, keys: Ints, numbers: Ints) -> None:
        """New keys, each once."""
        merged = np.concatenate([self.keys, keys])
        order = np.argsort(merged, kind="stable")
        self.keys, self.numbers = merged[order], np.concatenate([self.numbers, numbers])[order]

    def _place(self, keys: Ints) -> Ints:
        return np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
