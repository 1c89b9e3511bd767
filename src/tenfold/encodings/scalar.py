"""Pairwise scalars: a learned bias per class of pairs and head, the plainest relative encoding."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.data.places import Places
from tenfold.encodings.encoding import PositionalEncoding, looked_up
from tenfold.encodings.learned_maps import Map, Pairs, grouped
from tenfold.encodings.relations import Related, relation_examples, relation_of
from tenfold.encodings.steady import Steady


class Scalar(PositionalEncoding):
    """bias(i, j) = r_h[class of (i, j)]: `Pairwise` with a number in place of a vector, for any relation.

    >>> at = Places(index=torch.arange(5)[None])
    >>> Scalar(heads=4, relation={"reach": 4}).bias(at, at).shape
    torch.Size([1, 4, 5, 5])
    """

    name = "scalar"
    no_series = "its bias is a learned number for each class of pairs, and classes end"
    known_as = ("learned relative bias",)

    def __init__(self, heads: PositiveInt, relation: Related = "relative") -> None:
        given = relation_of(relation)
        super().__init__(*given.axes)
        self.relation, self.limit = given, given.limit
        self.table = nn.Parameter(torch.randn(given.classes, heads) * 0.02)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"relation": given} for given in relation_examples(room)]

    @property
    def invariant(self) -> frozenset[str]:
        return self.relation.invariant

    @property
    def digits_of(self) -> frozenset[int]:
        return self.relation.digits_of

    def check(self, q_at: Places, k_at: Places) -> None:
        self.relation.check(q_at, k_at)

    def steady(self) -> Steady:
        return Steady(bias=self.table.detach().abs().max().item(), terms=1)

    def maps(self, pairs: Pairs) -> list[Map]:
        classes = self.relation.occurring(pairs)
        return grouped(self.relation.groups(), self.table, classes, "bias", "head")

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        return looked_up(self.table, self.relation(q_at, k_at))
