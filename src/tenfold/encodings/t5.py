"""T5's relative bias (Raffel et al. 2020): a learned scalar for each bucket of distances, wider the further."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places, distance
from tenfold.encodings.decay_series import Decay, Series, never, unbounded
from tenfold.encodings.encoding import Attends, PositionalEncoding, looked_up
from tenfold.encodings.fading import Fading


class T5(PositionalEncoding):
    """bias(i, j) = r_h[bucket(i - j)]; unrelated pairs get none.

    Half of the buckets hold one distance each, the other half logarithmically more, up to `furthest`;
    whatever is further shares the last. With `ahead` half of all buckets are for keys ahead (T5's
    encoder); without it, all keys ahead share the bucket of distance 0 (T5's decoder). Not given, it
    follows the attention that it is in.

    >>> T5(heads=2, buckets=8, furthest=16, ahead=False).bucket(
    ...     torch.tensor([0, 3, 4, 8, 99, -5])
    ... ).tolist()
    [0, 3, 4, 6, 7, 0]
    """

    name = "t5"
    known_as = ("T5 bias", "T5 relative bias")
    shared = True
    shift_invariant = True

    def __init__(
        self,
        heads: PositiveInt,
        buckets: PositiveInt = 32,
        furthest: PositiveInt = 128,
        ahead: bool | None = None,
        axis: str = "index",
    ) -> None:
        super().__init__(axis)
        self.axis, self.buckets, self.furthest = axis, buckets, furthest
        self.ahead, self.follows = ahead is not False, ahead is None
        least, single = (4, buckets // 4) if ahead else (4 if self.follows else 2, buckets // 2)
        if buckets < least or furthest <= single:
            raise TenfoldError(
                f"{buckets} buckets up to a distance of {furthest}; at least {least} buckets, and a "
                f"distance above {single}, are right"
            )
        self.table = nn.Parameter(torch.randn(buckets, heads) * 0.02)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"ahead": True}, {"ahead": False}]

    def serve(self, kind: Attends) -> None:
        super().serve(kind)
        if self.follows:
            self.ahead = kind is not Attends.CAUSAL

    def bucket(self, behind: Tensor) -> Tensor:
        """The bucket of each difference of places, query minus key."""
        one_way = self.buckets // 2 if self.ahead else self.buckets
        far = behind.abs() if self.ahead else behind.clamp(min=0)
        exact = one_way // 2
        wider = torch.log(far.clamp(min=1) / exact) / math.log(self.furthest / exact)
        wider = exact + (wider * (one_way - exact)).long()
        bucket = torch.where(far < exact, far, wider.clamp(max=one_way - 1))
        return bucket + one_way * (behind < 0) if self.ahead else bucket

    def series(self) -> Series:
        table = self.table.detach().double()

        def log_b(n: Tensor, by_head: Tensor) -> Tensor:
            return by_head.gather(1, self.bucket(n.long()).expand(len(by_head), -1))

        why = "diverges: every distance from the last bucket on has the same weight"
        decay = Decay("r[bucket(n)]", log_b, unbounded, never, why, wavy=True)
        return Series(decay, (table.mT,))

    def fading(self, axis: str) -> Fading | None:
        if axis != self.axis:
            return Fading()
        last = self.bucket(torch.tensor([self.furthest, -self.furthest]))
        return Fading(self.furthest, (), self.table.detach().double()[last].amax(0))

    def bias(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])  # (B|1, T, S)
        return looked_up(self.table, self.bucket(behind)) * related.unsqueeze(1)
