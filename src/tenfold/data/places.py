"""Where tokens are: places on named axes, and the distance between them.

A task states facts (`index`, `role`, `significance`, `column`); a scheme (`schemes.py`) turns facts into further
axes; an encoding names the axis that it reads. -1 means "no place on this axis".

Shapes: B batch, T queries, S keys. An axis is (B, T), or (1, T) when every row is alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tenfold.core.errors import unknown


class Places:
    """One integer per token on each named axis.

    >>> at = Places(index=torch.arange(4)[None])
    >>> at.add(cyclic=at["index"] % 3)["cyclic"].tolist()
    [[0, 1, 2, 0]]
    >>> at.last(2)["index"].tolist()
    [[2, 3]]
    """

    def __init__(self, **axes: Tensor) -> None:
        self._axes = axes

    def __getitem__(self, axis: str) -> Tensor:
        if axis not in self._axes:
            raise unknown("axis", axis, self._axes)
        return self._axes[axis]

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    @property
    def count(self) -> int:
        """How many tokens have places; unlike `len`, it may stay a symbol under `torch.export`."""
        return next(iter(self._axes.values())).shape[-1]

    def __len__(self) -> int:
        return self.count

    def add(self, **axes: Tensor) -> Places:
        return Places(**{**self._axes, **axes})

    def slice(self, start: int, stop: int) -> Places:
        return Places(**{name: axis[:, start:stop] for name, axis in self._axes.items()})

    def last(self, count: int) -> Places:
        return self.slice(self.count - count, self.count)

    def to(self, device: torch.device | str) -> Places:
        return Places(**{name: axis.to(device) for name, axis in self._axes.items()})


def distance(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """How far each key lies behind each query, and whether both have a place: (B, T), (B, S) -> 2 x (B, T, S).

    >>> behind, related = distance(torch.tensor([[5, 6]]), torch.tensor([[5, -1]]))
    >>> behind[related].tolist()
    [0, 1]
    """
    q, k = q.unsqueeze(-1), k.unsqueeze(-2)
    return q - k, (q >= 0) & (k >= 0)


def in_order(
    queries: int, keys: int, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    """The numbers of queries and keys in the sequence, (T, 1) and (S,): queries are the last of the keys.

    >>> query, key = in_order(2, 3)
    >>> (key <= query).int().tolist()
    [[1, 1, 0], [1, 1, 1]]
    """
    key = torch.arange(keys, device=device)
    return key[keys - queries :, None], key
