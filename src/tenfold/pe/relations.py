"""Relations: which pairs of tokens do the same work, and so share a vector (the `symmetry` paper).

A relation maps places (B|1, T), (B|1, S) to class numbers (B|1, T, S); class 0 is "unrelated".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from tenfold.errors import TenfoldError
from tenfold.places import Places, distance
from tenfold.registry import Registry


class Relation(ABC):
    name: ClassVar[str]
    shift_invariant: ClassVar[bool] = False
    axes: frozenset[str]
    classes: int  # how many, "unrelated" included

    @abstractmethod
    def __call__(self, q_at: Places, k_at: Places) -> Tensor: ...

    def check(self, q_at: Places, k_at: Places) -> None:  # noqa: B027 (most have a class for any pair)
        """Raise one clear error where a pair has no class."""


class Relative(Relation):
    """By difference: p_ij = p_(i-j). With `clip`, all differences beyond `reach` share a class (Shaw et al. 2018).

    >>> at = Places(index=torch.arange(3)[None])
    >>> Relative(reach=1, clip=True)(at, at)[0].tolist()
    [[2, 1, 1], [3, 2, 1], [3, 3, 2]]
    """

    name = "relative"
    shift_invariant = True

    def __init__(self, reach: int = 64, clip: bool = False, axis: str = "index") -> None:
        if reach < 1:
            raise TenfoldError(f"a reach of {reach}; at least 1")
        self.reach, self.clip, self.axis = reach, clip, axis
        self.axes = frozenset({axis})
        self.classes = 2 * reach + 2

    def __call__(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])
        clipped = behind.clamp(-self.reach, self.reach)
        return torch.where(related, clipped + self.reach + 1, 0)

    def check(self, q_at: Places, k_at: Places) -> None:
        q, k = q_at[self.axis], k_at[self.axis]
        far = int(torch.maximum(q.amax(-1) - _lowest(k), k.amax(-1) - _lowest(q)).max())
        if far > self.reach and not self.clip:
            raise TenfoldError(
                f"relative positions reach {self.reach}, the input spans {far} on the axis "
                f'"{self.axis}"; raise pe.relation.reach before training, or set pe.relation.clip'
            )


def _lowest(place: Tensor) -> Tensor:
    """The lowest place of each row, missing ones left out: (B|1, T) -> (B|1,)."""
    return place.masked_fill(place < 0, torch.iinfo(place.dtype).max).amin(-1)


RELATIONS: Registry[Relation] = Registry("relation", "tenfold.relations", of=(Relative,))
