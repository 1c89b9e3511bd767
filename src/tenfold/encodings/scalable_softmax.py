"""Scalable-Softmax (Nakanishi 2025, arXiv 2501.19399): logits grow with the logarithm of the number of visible keys."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor, nn

from tenfold.encodings.encoding import PositionalEncoding, softmax
from tenfold.encodings.learned_maps import Map, MapGroup, Pairs, grouped


class ScalableSoftmax(PositionalEncoding):
    """weights = softmax(s log(n) logits), n the number of keys that a query sees, s learned for each head.

    Softmax flattens as n grows; here attention stays as sharp. All logits are multiplied, also what other
    encodings of a composition add. It knows no places, so compose it with an encoding that does.

    `start` is the first value of s. The paper's Figure 1 uses 0.43. Attention starts like softmax on average
    where `start` is 1 / mean of log(n) over the queries: 0.43 fits causal sequences of 25 tokens, 0.17 of 1024.

    >>> pe, logits = ScalableSoftmax(heads=1, start=1.0), torch.tensor([[[[1.0, 0.0, 0.0, 0.0]]]])
    >>> weights = pe.normalise(logits, None)[0, 0, 0]  # 4 to the power of each logit, normalised
    >>> [round(float(weight), 3) for weight in weights.detach()]
    [0.571, 0.143, 0.143, 0.143]
    """

    name = "scalable-softmax"
    known_as = ("Scalable-Softmax", "SSMax")
    no_series = "it has no bias; its temperature depends on how many keys are visible"
    shift_invariant = True

    def __init__(self, heads: PositiveInt, start: PositiveFloat = 0.43) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((heads,), start))

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"start": 0.2}]

    def maps(self, pairs: Pairs) -> list[Map]:
        row = MapGroup("", "factor of log(n)", (0,), (0,), ("s",))
        return grouped([row], self.scale[None], torch.tensor([0]), "temperature", "head")

    def normalise(self, logits: Tensor, visible: Tensor | None) -> Tensor:
        seen = torch.ones_like(logits[:1, :1, :1], dtype=torch.bool) if visible is None else visible
        count = seen.sum(-1, keepdim=True)  # (B|1, H|1, T|1, 1)
        factor = self.scale[:, None, None] * count.to(torch.float32).log().to(logits.dtype)
        if visible is None:
            return softmax(logits * factor)
        finite = logits.masked_fill(~visible, 0.0)  # -inf times 0, where n is 1, is no number
        return softmax((finite * factor).masked_fill(~visible, -math.inf))
