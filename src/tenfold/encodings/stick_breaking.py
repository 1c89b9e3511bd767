"""Stick-breaking attention (Tan et al. 2025, arXiv 2410.17980): each key takes a share of what nearer keys left."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.encodings.encoding import Attends, PositionalEncoding


class StickBreaking(PositionalEncoding):
    """weight(i, j) = s(z_ij) times the product over l = j+1..i-1 of (1 - s(z_il)), s the sigmoid, z the logits.

    It replaces the softmax. A stick of length 1 is broken from the query backwards: key i-1 takes the share
    s(z) of it, key i-2 a share of the rest, and so on. So order enters by itself, near keys come first, and
    the paper uses no other positions. Only visible keys take a share.

    As in the paper the query does not see itself, and the weights of a row add up to less than 1. With
    `remainder` the query itself takes what is left, so that they add up to 1. With `itself` the query takes
    the first share, like any other key. The order is that of the tokens, so attention must be causal.

    >>> logits = torch.zeros(1, 1, 1, 4)  # every share is 1/2; the last key is the query itself
    >>> StickBreaking().normalise(logits, None)[0, 0, 0].tolist()
    [0.125, 0.25, 0.5, 0.0]
    >>> StickBreaking(remainder=True).normalise(logits, None)[0, 0, 0].tolist()
    [0.125, 0.25, 0.5, 0.125]
    """

    name = "stick-breaking"
    known_as = ("stick-breaking attention",)
    no_series = (
        "it has no bias; how far it looks depends on what the keys contain, not on distance alone"
    )
    kinds = frozenset({Attends.CAUSAL})
    shift_invariant = True
    shared = True

    def __init__(self, remainder: bool = False, itself: bool = False) -> None:
        super().__init__()
        if remainder and itself:
            raise TenfoldError(
                "stick-breaking with remainder and itself: the query would take two shares; one of them is right"
            )
        self.remainder, self.itself = remainder, itself

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"remainder": True}, {"itself": True}]

    def normalise(self, logits: Tensor, visible: Tensor | None) -> Tensor:
        own = _last_visible(logits, visible)
        seen = torch.ones_like(own) if visible is None else visible
        takes = seen if self.itself else seen & ~own
        wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # sums get long
        wide = wide.masked_fill(~takes, 0.0)
        kept = F.logsigmoid(-wide).masked_fill(~takes, 0.0)  # log of what a key leaves
        total = kept.flip(-1).cumsum(-1).flip(-1)  # (B, H, T, S), with the key's own
        weights = (F.logsigmoid(wide) + total - kept).exp().masked_fill(~takes, 0.0)
        if self.remainder:
            weights = weights + own * total[..., :1].exp()
        return weights.to(logits.dtype)


def _last_visible(logits: Tensor, visible: Tensor | None) -> Tensor:
    """(B|1, H|1, T|1, S) bool: the last key that a query sees, which under causality is the query itself."""
    if visible is None:
        key = torch.arange(logits.shape[-1], device=logits.device)
        return (key == logits.shape[-1] - 1)[None, None, None]
    after = visible.flip(-1).cumsum(-1).flip(-1)  # visible keys from this one on
    return visible & (after == 1)
