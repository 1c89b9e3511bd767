"""DAPE (Zheng et al. 2024, arXiv 2405.14722): a small network changes a bias by distance with what the logits say."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.compose import Part, encoding_of
from tenfold.encodings.encoding import Attends, PositionalEncoding
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped, maps_of

ROOM = 1 << 22  # numbers that a slice of the hidden layer may have


class DAPE(PositionalEncoding):
    """logit(i, j) = z + b + f(z, b), z = q_i.k_j / sqrt(K) of all heads, b the bias `of` another encoding.

    f is a network with one hidden layer, the same for all pairs: 2 H numbers in (z and b of every head), H out.
    It adapts the bias to the content, and lets the heads of a pair read each other. `of` is an encoding that only
    adds a bias; the paper's are `alibi`, `kerple-log` and `fire`. Its weights are those of this layer alone.

    f reads queries and keys as they are, so no other part of a composition may rotate them.

    >>> at, q = Places(index=torch.arange(3)[None]), torch.ones(1, 2, 3, 4)
    >>> DAPE(heads=2, of="alibi").scores(q, q, at, at).shape
    torch.Size([1, 2, 3, 3])
    """

    name = "dape"
    known_as = ("DAPE", "data-adaptive positional encoding")
    no_series = "its bias depends on queries and keys too, not on distance alone"
    multiplies = True

    def __init__(
        self,
        heads: PositiveInt,
        of: Part = "kerple-log",
        hidden: PositiveInt = 32,
        width: PositiveInt | None = None,
        head_size: PositiveInt | None = None,
    ) -> None:
        inner = encoding_of(of, {"heads": heads, "width": width, "head_size": head_size})
        if inner.ways != {"bias"}:
            raise TenfoldError(
                f'dape of "{inner.name}", which does not add a bias alone; "alibi", "kerple-log" or "fire" is right'
            )
        super().__init__(*inner.axes)
        self.of, self.heads, self.limit = inner, heads, inner.limit
        self.expand = nn.Linear(2 * heads, hidden)
        self.contract = nn.Linear(hidden, heads)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"of": "alibi", "hidden": 5}, {"of": {"name": "fire", "threshold": 64.0}}]

    @property
    def kinds(self) -> frozenset[Attends]:  # type: ignore[override]
        return self.of.kinds

    @property
    def invariant(self) -> frozenset[str]:
        return self.of.invariant

    @property
    def digits_of(self) -> frozenset[int]:
        return self.of.digits_of

    def serve(self, kind: Attends) -> None:
        self.of.serve(kind)

    def in_layer(self, layer: int) -> None:
        self.of.in_layer(layer)

    def check(self, q_at: Places, k_at: Places) -> None:
        self.of.check(q_at, k_at)

    def maps(self, pairs: Pairs) -> list[Map]:
        numbers = tuple(range(self.expand.out_features))
        rows = MapGroup("", "hidden unit", numbers, numbers)
        network = grouped([rows], self.expand.weight, torch.tensor(numbers), "network")
        return [*network, *(each.of(self.of.name) for each in maps_of(self.of, pairs))]

    def scores(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        root = math.sqrt(q.shape[-1])
        logits = q @ k.mT / root  # (B, H, T, S)
        bias = self.of.bias(q_at, k_at)
        assert bias is not None
        bias = bias.to(logits.dtype).expand_as(logits)
        both = torch.cat([logits, bias], 1).permute(0, 2, 3, 1)  # (B, T, S, 2 H)
        return (bias + self._network(both).permute(0, 3, 1, 2)) * root

    def _network(self, x: Tensor) -> Tensor:
        """Never with a hidden layer of all pairs at once."""
        rows = max(1, ROOM // (x.shape[0] * x.shape[2] * self.expand.out_features))
        if torch.compiler.is_exporting() or x.shape[1] <= rows:
            return self.contract(F.leaky_relu(self.expand(x)))
        return torch.cat([self._network(some) for some in x.split(rows, 1)], 1)
