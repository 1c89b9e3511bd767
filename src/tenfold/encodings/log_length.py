"""Log-length temperature (Chiang and Cholak 2022, arXiv 2202.12172): sharper logits where more keys are seen than in training."""

from __future__ import annotations

import math
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.encodings.encoding import PositionalEncoding, softmax


class LogLength(PositionalEncoding):
    """weights = softmax(max(1, log(n) / log(trained)) logits), n the number of keys that a query sees.

    `trained` is the largest n in training. Up to it nothing changes, so a trained model can be evaluated with
    it; beyond it attention stays about as sharp as in training. It has no parameters. All logits are
    multiplied, also what other encodings of a composition add. It knows no places, so compose it with an
    encoding that does. `scalable-softmax` learns such a factor instead.

    >>> pe, logits = LogLength(trained=2), torch.tensor([[[[1.0, 0.0, 0.0, 0.0]]]])
    >>> weights = pe.normalise(logits, None)[0, 0, 0]  # log 4 / log 2 = 2
    >>> torch.allclose(weights, (2 * logits).softmax(-1)[0, 0, 0])
    True
    """

    name = "log-length"
    known_as = ("log-length temperature", "log-n scaling")
    no_series = "it has no bias; its temperature depends on how many keys are visible"
    shift_invariant = True
    shared = True

    def __init__(self, trained: PositiveInt) -> None:
        super().__init__()
        if trained < 2:
            raise TenfoldError(
                f"log-length has trained {trained}, whose logarithm divides; give the number of keys that "
                "a query sees in training, at least 2"
            )
        self.trained = trained

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"trained": 2}, {"trained": max(2, room // 2)}]

    def normalise(self, logits: Tensor, visible: Tensor | None) -> Tensor:
        seen = torch.ones_like(logits[:1, :1, :1], dtype=torch.bool) if visible is None else visible
        count = seen.sum(-1, keepdim=True).to(torch.float32)  # (B|1, H|1, T|1, 1)
        factor = (count.log() / math.log(self.trained)).clamp(min=1.0).to(logits.dtype)
        return softmax(logits * factor)  # -inf stays, since no factor is below 1
