"""Pairwise keys: a learned vector per class of pairs, added to the key (the `symmetry` paper's RPE and its kin).

A_ij = softmax_j((W_Q z_i)^T (W_K z_j + p_r(i,j))): the relation r decides which pairs share a vector.
With the relation "relative" this is Shaw et al. 2018, `relative_key` of BERT; with `values`, a second
vector of the class is added to the value, as Shaw et al. do.
"""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.data.places import Places
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.fading import Fading
from tenfold.encodings.learned_maps import Map, Pairs, grouped
from tenfold.encodings.relations import Related, relation_examples, relation_of
from tenfold.encodings.steady import Steady, longest


class Pairwise(PositionalEncoding):
    """`Pairwise(head_size=16, relation=Relative(reach=40))`, or by name with the relation's options.

    With `unrelated: false`, pairs of class 0 (text, in the `symmetry` paper) have no vector. By default they share a
    learned one.

    >>> from tenfold.encodings.relations import Relative
    >>> at = Places(index=torch.arange(5)[None])
    >>> q = torch.zeros(2, 4, 5, 16)
    >>> Pairwise(head_size=16, relation=Relative(reach=4)).scores(q, q, at, at).shape
    torch.Size([2, 4, 5, 5])
    """

    name = "pairwise"
    no_series = "its vectors meet the queries, so that no weight follows from distance alone"
    known_as = ("RPE", "UPE", "Shaw", "relative_key")

    def __init__(
        self,
        head_size: PositiveInt,
        relation: Related = "relative",
        values: bool = False,
        unrelated: bool = True,
    ) -> None:
        given = relation_of(relation)
        super().__init__(*given.axes)
        self.relation, self.limit, self.unrelated = given, given.limit, unrelated
        rows = given.classes if unrelated else given.classes - 1
        self.table = nn.Parameter(torch.randn(rows, head_size) * 0.02)
        self.value_table = nn.Parameter(torch.zeros_like(self.table)) if values else None

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        keys: list[dict[str, Any]] = [{"relation": given} for given in relation_examples(room)]
        by_column = {"name": "significance", "reach": room}
        return [
            *keys,
            {"values": True, "relation": {"name": "relative", "reach": room}},
            {"values": True, "relation": by_column, "unrelated": False},
        ]

    @property
    def invariant(self) -> frozenset[str]:
        return self.relation.invariant

    @property
    def digits_of(self) -> frozenset[int]:
        return self.relation.digits_of

    @property
    def ways(self) -> frozenset[str]:
        return frozenset({"scores"} if self.value_table is None else {"scores", "values"})

    def check(self, q_at: Places, k_at: Places) -> None:
        self.relation.check(q_at, k_at)

    def vectors(self, table: Tensor) -> Tensor:
        """The vector of every class (classes, K) from what is learned; zeros for class 0 where it has none."""
        return table if self.unrelated else F.pad(table, (0, 0, 1, 0))

    def steady(self) -> Steady:
        values = 0.0 if self.value_table is None else longest(self.value_table)
        return Steady(scores=longest(self.table), values=values, terms=1)

    def fading(self, axis: str) -> Fading | None:
        return self.relation.fading(axis)

    def maps(self, pairs: Pairs) -> list[Map]:
        classes = self.relation.occurring(pairs)
        if not self.unrelated:
            classes = classes[classes > 0]
        maps = grouped(self.relation.groups(), self.vectors(self.table), classes, "keys")
        if self.value_table is not None:
            vectors = self.vectors(self.value_table)
            maps += grouped(self.relation.groups(), vectors, classes, "values")
        return maps

    def scores(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        classes = self.relation(q_at, k_at)  # (B|1, T, S)
        if self._alike(classes, q):
            return self._shared(q, classes[0])
        if not _abstract(classes) and self.relation.classes > MANY * classes.shape[-1]:
            some = max(FEW, q.shape[2] // 64)
            slices = zip(q.split(some, 2), classes.split(some, 1), strict=True)
            return torch.cat([self._occurring(each, theirs) for each, theirs in slices], 2)
        return self._gathered(q, classes)

    def values(self, weights: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        """The weight of each class, summed over its keys, times its vector."""
        if self.value_table is None:
            return None
        b, h, t, s = weights.shape
        classes, vectors = self.relation(q_at, k_at), self.vectors(self.value_table)
        if self._alike(classes, weights):
            by_query = weights.permute(2, 0, 1, 3).reshape(t, b * h, s)
            mixed = by_query @ vectors[classes[0]]  # (T, BH, K)
            return mixed.view(t, b, h, -1).permute(1, 2, 0, 3)
        by_class = weights.new_zeros(b, h, t, self.relation.classes)
        classes = classes.unsqueeze(1).expand(b, h, t, -1)
        return by_class.scatter_add(-1, classes, weights) @ vectors

    def _alike(self, classes: Tensor, x: Tensor) -> bool:
        """Whether all rows have the same classes, and (T, S, K) takes no more memory than (B, H, T, S)."""
        if _abstract(classes) or classes.shape[0] > 1 or x.shape[0] < 8:
            return False
        return x.shape[0] * x.shape[1] >= self.table.shape[1]

    def _shared(self, q: Tensor, classes: Tensor) -> Tensor:
        """All rows alike: one matrix product per query over the gathered (T, S, K) vectors."""
        b, h, t, size = q.shape
        vectors = self.vectors(self.table)[classes]  # (T, S, K)
        by_query = q.permute(2, 0, 1, 3).reshape(t, b * h, size)
        scores = by_query @ vectors.mT  # (T, BH, S)
        return scores.view(t, b, h, -1).permute(1, 2, 0, 3)

    def _gathered(self, q: Tensor, classes: Tensor) -> Tensor:
        """Rows differ: each query against the whole table, then the score of each pair's class."""
        return _picked(q @ self.vectors(self.table).mT, classes)

    def _occurring(self, q: Tensor, classes: Tensor) -> Tensor:
        """The same, with only the classes that occur: a few queries meet few of thousands."""
        occurs = classes.new_zeros(self.relation.classes, dtype=torch.bool)
        occurs[classes.flatten()] = True
        number = (occurs.cumsum(0) - 1)[classes]
        return _picked(q @ self.vectors(self.table)[occurs].mT, number)


MANY = 4  # times as many classes as keys: most of them do not occur
FEW = 8  # queries in a slice, at the least


def _picked(by_class: Tensor, classes: Tensor) -> Tensor:
    """(B, H, T, classes), (B|1, T, S) -> (B, H, T, S)"""
    b, h, t, _ = by_class.shape
    return by_class.gather(-1, classes.unsqueeze(1).expand(b, h, t, -1))


def _abstract(x: Tensor) -> bool:
    """Whether x has no numbers by which to choose a faster form."""
    return x.is_meta or torch.compiler.is_exporting()
