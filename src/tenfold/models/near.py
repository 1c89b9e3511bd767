"""Which keys are near on the axis `column`, and a run of a model in which only near keys are seen.

Near are operand digits up to some columns behind the query, answer tokens up to some columns behind it, and tokens
without a column (operators, a hub), of which there is a bounded number. Everything else is far.

Shapes: B batch, H heads, T queries, S keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from tenfold.data.places import Places, distance
from tenfold.data.roles import Role
from tenfold.models.layers import Attention, Seen
from tenfold.models.locality import AXIS


class Near(NamedTuple):
    """How far behind the query keys are near."""

    columns: int  # of operand digits
    answers: int  # of answer tokens; 0 leaves the query itself

    def keys(self, q_at: Places, k_at: Places) -> Tensor:
        """Which keys are near, (B|1, T, S)."""
        behind, related = distance(q_at[AXIS], k_at[AXIS])
        answer = (k_at["role"] == Role.ANSWER).unsqueeze(-2)
        allowed = torch.where(answer, self.answers, self.columns)
        return ~related | ((behind >= 0) & (behind <= allowed))


class Watched:
    """While it is entered, a function is called on an activation of every attention, with which keys are near.

    `at` names the activation, "logits" or "weights". What the function returns takes its place, unless it is None.
    """

    def __init__(
        self,
        model: nn.Module,
        near: Near,
        at: str,
        ran: Callable[[Tensor, Tensor], Tensor | None],
    ) -> None:
        self.near, self.at, self.ran, self._hooks = near, at, ran, list[RemovableHandle]()
        self._attentions = [m for m in model.modules() if isinstance(m, Attention)]

    def __enter__(self) -> Self:
        for attention in self._attentions:
            latest: list[Seen] = []

            def remember(_: nn.Module, given: tuple[Any, ...], latest: list[Seen] = latest) -> None:
                latest[:] = [given[2]]

            def watch(
                _: nn.Module, __: Any, out: Tensor, latest: list[Seen] = latest
            ) -> Tensor | None:
                seen = self.near.keys(latest[0].q_at, latest[0].k_at)  # (B|1, T, S)
                return self.ran(out, seen.unsqueeze(1))

            named: nn.Module = getattr(attention, self.at)
            self._hooks.append(attention.register_forward_pre_hook(remember))
            self._hooks.append(named.register_forward_hook(watch, prepend=True))
        return self

    def __exit__(self, *_: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()


def near_only(model: nn.Module, near: Near) -> Watched:
    """While it is entered, every attention of the model sees near keys alone.

    with near_only(model, near):
        model(batch)
    """

    def hide(logits: Tensor, seen: Tensor) -> Tensor:
        return logits.masked_fill(~seen, -math.inf)

    return Watched(model, near, "logits", hide)
