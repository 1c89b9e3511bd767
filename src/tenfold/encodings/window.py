"""A hard window (ABS of the `bias` paper, 2310.11984): keys that lie further away are not seen."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import NonNegativeInt
from torch import Tensor

from tenfold.data.places import Places, distance
from tenfold.data.roles import Role
from tenfold.encodings.decay_series import WINDOW, Series
from tenfold.encodings.encoding import PositionalEncoding, Span
from tenfold.encodings.steady import Steady


class Window(PositionalEncoding):
    """Query i sees the keys j with -ahead <= i - j <= behind; without `ahead`, as far ahead as behind.

    Unrelated pairs do not see each other. With `answers`, tokens of the answer are seen that far behind
    only: `answers: 0` leaves the query itself. With `hub`, every query sees the digits of that operand (a
    multiplier's), which see only each other. On the axis `column`, one-sided (`ahead: 0`), it is the window
    of a model that can be certified.

    >>> at = Places(index=torch.arange(4)[None])
    >>> Window(behind=1, ahead=0).visible(at, at)[0, 0].int().tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    """

    name = "window"
    known_as = ("ABS", "attention bias scaffolding", "sliding window", "local attention")
    shared = True
    shift_invariant = True

    def __init__(
        self,
        behind: NonNegativeInt = 16,
        ahead: NonNegativeInt | None = None,
        axis: str = "index",
        answers: NonNegativeInt | None = None,
        hub: NonNegativeInt | None = None,
    ) -> None:
        super().__init__(axis, *(() if answers is None and hub is None else ("role",)))
        self.axis, self.behind, self.ahead = axis, behind, behind if ahead is None else ahead
        self.answers, self.hub = answers, None if hub is None else Role.OPERAND + hub

    @property
    def invariant(self) -> frozenset[str]:
        return frozenset({self.axis})

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        one_sided = {"behind": 2, "ahead": 0, "axis": "column"}
        return [{"behind": 3}, one_sided, {**one_sided, "answers": 0}, {**one_sided, "hub": 1}]

    def series(self) -> Series:
        return Series(WINDOW, (torch.tensor([[float(self.behind)]], dtype=torch.float64),))

    def window(self, axis: str) -> Span | None:
        if axis != self.axis:
            return None
        answers = self.behind if self.answers is None else min(self.answers, self.behind)
        hubs = frozenset[int]() if self.hub is None else frozenset({self.hub})
        return Span(self.behind, self.ahead, answers, hubs)

    def steady(self) -> Steady:
        return Steady()

    def visible(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])
        seen = related & (behind <= self.behind) & (behind >= -self.ahead)
        if self.answers is not None:
            seen = seen & ((behind <= self.answers) | (k_at["role"] != Role.ANSWER).unsqueeze(-2))
        if self.hub is not None:
            q_hub, k_hub = q_at["role"] == self.hub, k_at["role"] == self.hub
            seen = torch.where(k_hub.unsqueeze(-2), True, seen & ~q_hub.unsqueeze(-1))
        return seen.unsqueeze(1)
