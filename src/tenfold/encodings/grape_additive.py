"""Additive GRAPE along a path (Zhang et al. 2025, arXiv 2512.07805): a bias that the query sums up over the tokens between."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places, distance, in_order
from tenfold.encodings.decay_series import slopes
from tenfold.encodings.encoding import Attends, PositionalEncoding
from tenfold.encodings.exact_angles import exactly, rounded
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped


class GrapeAP(PositionalEncoding):
    """bias(i, j) = m_h sum over l = j+1..i of log sigmoid(p_i.R_l u_l / P), p = W x, u = p / rms(p), m ALiBi's slopes.

    Each token between key and query takes something away, and the query decides how much: what `fox` leaves to
    the token alone. R_l turns pairs of the P components by l radians, as in the public code. So the bias depends
    on the place of l, not on differences alone. ALiBi and `fox` are GRAPE's other additive forms.

    x is the input of the attention layer, W has P = `size` rows for each head. The sum runs in the order of
    the tokens, over those that have a place on the axis, so attention must be causal.

    >>> at, x = Places(index=torch.arange(3)[None]), torch.zeros(1, 3, 8)
    >>> pe, q = GrapeAP(width=8, heads=8), torch.zeros(1, 8, 3, 1)
    >>> bias = pe.state_bias(pe.state(x, at), q, q, at, at)
    >>> bias[0, 0, 2].exp()  # p is 0, so a token between takes ln 2 times the slope, 1/2
    tensor([0.5000, 0.7071, 1.0000], grad_fn=<ExpBackward0>)
    """

    name = "grape-ap"
    known_as = ("GRAPE-AP", "additive GRAPE", "path-integral GRAPE")
    no_series = "how fast it falls depends on what the tokens contain, not on distance alone"
    kinds = frozenset({Attends.CAUSAL})
    reads_keys = True

    def __init__(
        self, width: PositiveInt, heads: PositiveInt, size: PositiveInt = 8, axis: str = "index"
    ) -> None:
        super().__init__(axis)
        if size % 2:
            raise TenfoldError(f"grape-ap with a size of {size}; an even number, pairs turn")
        self.axis, self.heads, self.features = axis, heads, size
        self.path = nn.Linear(width, heads * size, bias=False)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"size": 2, "axis": "column"}]

    def maps(self, pairs: Pairs) -> list[Map]:
        numbers = tuple(range(len(self.path.weight)))
        names = tuple(f"{n // self.features}.{n % self.features}" for n in numbers)
        rows = MapGroup("", "head and component", numbers, numbers, names)
        return grouped([rows], self.path.weight, torch.tensor(numbers), "path")

    def state(self, x: Tensor, at: Places) -> Tensor:
        """(B, H, S, P): p of each token."""
        return self.path(x).unflatten(-1, (self.heads, self.features)).transpose(1, 2)

    def state_bias(self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        precise = torch.promote_types(state.dtype, torch.float32)  # sums get long
        p, place, queries = state.to(precise), k_at[self.axis], q.shape[2]
        unit = F.rms_norm(p, (self.features,))
        taken = F.logsigmoid(p[:, :, -queries:] @ self._turned(unit, place).mT / self.features)
        _, related = distance(q_at[self.axis], place)
        query, key = in_order(queries, k_at.count, place.device)
        taken = torch.where((related & (key <= query)).unsqueeze(1), taken, 0.0)  # (B, H, T, S)
        after = (
            taken.flip(-1).cumsum(-1).flip(-1) - taken
        )  # summed from the query on: exact near it
        bias = after * slopes(self.heads).to(p)[:, None, None]
        return torch.where(related.unsqueeze(1), bias, 0.0)

    def _turned(self, x: Tensor, place: Tensor) -> Tensor:
        """Pairs (c, c + P/2) turned by their place in radians; keys against the queries."""
        angle = exactly(place).clamp(min=0).double()[:, None, :, None]
        cos, sin = rounded(angle.cos(), x), rounded(angle.sin(), x)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos + b * sin, b * cos - a * sin], -1)
