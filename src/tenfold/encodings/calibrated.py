"""Calibrated biases (ABC of the `bias` paper, 2310.11984): attention along lines of a trained model.

Shapes: B batch, H heads, T queries, S keys.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import pydantic
import torch
from pydantic import NonNegativeInt, PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places, distance
from tenfold.data.roles import ROLES, Role
from tenfold.encodings.encoding import Attends, PositionalEncoding, Span, looked_up
from tenfold.encodings.learned_maps import role_word
from tenfold.encodings.steady import Steady

# The bias of pairs off the lines. A query always sees itself; off its lines that weighs nothing if it sees another key.
UNSEEN = -50.0
OPERANDS = {role_word(role): role for role in range(Role.OPERAND, ROLES)}  # "operand 1": 3


class AttentionLine(pydantic.BaseModel):
    """Keys that a head attends to: those at one offset on an axis, or certain tokens wherever the query is.

    `{attention: cross, head: 2, keys: operand 1, axis: column, offset: 1, value: -0.3}`: the digits of operand 1 one
    column below the query's, with 0.3 less than the head's best line. Without an axis it is a vertical line, to all
    `keys`, or to those of one `digit` (power of the base). Layers and heads count from 1; no layer means all of them.

    `{attention: cross, head: 2, keys: all, step: [1, -1], axis: index, offset: 3, value: 0}`: with a `step` it is a line of the
    matrix of indices, as in the paper, whatever the tokens are; `line_of` numbers them.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    attention: Literal["causal", "cross", "two-way"]
    layer: PositiveInt | None = None
    head: PositiveInt
    keys: str  # answer (with the token that starts it), start, operator, text, operand 1, ..., all
    axis: str | None = None
    offset: int | None = None  # query minus key
    digit: NonNegativeInt | None = None
    step: tuple[int, int] | None = None  # rows and columns from one cell of the matrix to the next
    value: float

    @pydantic.model_validator(mode="after")
    def _whole(self) -> AttentionLine:
        if self.keys not in KEYS:
            known = "answer, start, operator, text, operand 1, operand 2, ..., all"
            raise ValueError(f'no tokens are called "{self.keys}"; there are {known}')
        if (self.axis is None) is not (self.offset is None):
            raise ValueError("an axis goes with an offset; a vertical line has neither")
        if self.step is not None:
            if (self.keys, self.axis) != ("all", "index") or self.step[0] != 1:
                raise ValueError(
                    f"a step of {list(self.step)} to the keys {self.keys}; it goes with keys: all, axis: index, and "
                    "is 1 query to any number of keys: [1, -1]"
                )
            return self
        if self.axis is not None and (self.digit is not None or self.keys in ("start", "all")):
            raise ValueError(f'a line to "{self.keys}" or to one digit is vertical: it has no axis')
        return self

    @property
    def digit_of(self) -> int | None:
        """The role of the operand of which it names one digit."""
        return None if self.digit is None else OPERANDS.get(self.keys, 0)


def members(keys: str, at: Places) -> Tensor:
    """Which tokens are of this kind: (B|1, S) bool.

    The token that starts the answer (`start`, or `=`) works on a column; an operator such as `+` does not.
    """
    role = at["role"]
    if keys in OPERANDS:
        return role == OPERANDS[keys]
    placed = at["column"] >= 0 if "column" in at else torch.zeros_like(role, dtype=torch.bool)
    return {
        "all": role >= 0,
        "text": role == Role.TEXT,
        "operator": (role == Role.OPERATOR) & ~placed,
        "start": (role == Role.OPERATOR) & placed,
        "answer": (role == Role.ANSWER) | (role == Role.OPERATOR) & placed,
    }[keys]


def line_of(step: int, q_at: Places, k_at: Places, crossing: bool) -> tuple[Tensor, Tensor]:
    """The number of the line that each pair lies on in the matrix of indices, and whether both have one: 2 x (B|1, T, S).

    One query further, a line is `step` keys further: 1 is a diagonal, numbered by query minus key; 0 a vertical, numbered by its
    key; -1 an anti-diagonal, numbered by query plus key. Lines that fall to the left are counted from the right end of a
    question (`crossing`), so that in a wider one they begin at the same corner; of an answer, whose end is not known yet, from its left.

    >>> q, k = Places(index=torch.arange(2)[None]), Places(index=torch.arange(3)[None])
    >>> line_of(-1, q, k, crossing=True)[0].tolist()
    [[[-2, -1, 0], [-1, 0, 1]]]
    """
    query, key = q_at["index"], k_at["index"]
    present = (query >= 0).unsqueeze(-1) & (key >= 0).unsqueeze(-2)
    if step < 0 and crossing:
        key = key - key.amax(-1, keepdim=True)
    ahead = step * query.unsqueeze(-1) - key.unsqueeze(-2)
    return ahead if step > 0 else -ahead, present


KEYS = frozenset({"all", "text", "operator", "start", "answer", *OPERANDS})


class Calibrated(PositionalEncoding):
    """On the lines of a head the bias is their value, the highest where lines meet. Off the lines nothing is seen.

    A head without lines sees everything, with no bias. A vertical line to `all` is a floor: a soft bias. In a
    decoder-only model tokens of the question see only themselves, as with an encoder of no layers, unless `question`
    is `all`, as it has to be in a language model, whose tokens are all text. In an encoder lines are of all tokens
    (`two-way`); the encoder of an encoder-decoder has none. Lines have no end, so the bias has no limit.

    >>> lines = [
    ...     {
    ...         "attention": "causal",
    ...         "head": 1,
    ...         "keys": "answer",
    ...         "axis": "column",
    ...         "offset": n,
    ...         "value": -n,
    ...     }
    ...     for n in (0, 1)
    ... ]
    >>> pe = Calibrated(heads=1, lines=lines)
    >>> at = Places(role=torch.tensor([[1, 2, 2]]), column=torch.arange(3)[None])
    >>> pe.bias(at, at)[0, 0].tolist()
    [[0.0, -50.0, -50.0], [-1.0, 0.0, -50.0], [-50.0, -1.0, 0.0]]
    >>> pe.visible(at, at)[0, 0].int().tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """

    name = "calibrated"
    no_series = "its lines depend on what tokens are, not on distance alone"
    known_as = ("ABC", "attention bias calibration")
    measured = frozenset({"lines"})
    anchor: Tensor

    def __init__(
        self,
        heads: PositiveInt,
        lines: list[AttentionLine],
        question: Literal["itself", "all"] = "itself",
    ) -> None:
        for line in lines:
            if line.head > heads:
                raise TenfoldError(f"a line for head {line.head} of a model that has {heads} heads")
        axes = {line.axis for line in lines if line.axis is not None}
        digits = {"significance"} if any(line.digit is not None for line in lines) else set()
        text = question == "all" and all(line.keys in ("text", "all") for line in lines)
        super().__init__("role", *([] if text else ["column"]), *axes, *digits)
        self.heads, self.lines, self.question = heads, tuple(lines), question
        self.shared = all(line.layer is None for line in lines)
        self.kind, self.layer = Attends.CAUSAL, 1
        self.register_buffer("anchor", torch.empty(0), persistent=False)  # where, and how precise

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        def line(attention: str, head: int, keys: str, **more: Any) -> dict[str, Any]:
            return {"attention": attention, "head": head, "keys": keys, "value": 0.0, **more}

        def near(attention: str, head: int, keys: str, **more: Any) -> list[dict[str, Any]]:
            column = {"axis": "column", "offset": 0, **more}
            return [
                line(attention, head, keys, **column),
                line(attention, head, keys, **{**column, "offset": 1, "value": -0.5}),
            ]

        hard = [
            *near("causal", 1, "answer"), *near("causal", 1, "operand 1"), *near("causal", 2, "operand 2"),
            *near("cross", 1, "operand 1"), *near("cross", 1, "operand 2", offset=-1),
            *near("cross", 2, "operand 2"),
        ]  # fmt: skip
        open_heads = [
            *near("causal", 1, "answer", axis="index"),
            line("causal", 1, "start", value=-1.0),
            *near("cross", 2, "operand 2"),
            line("cross", 2, "operator", value=-0.1),
            line("cross", 2, "all", value=-3.0),
        ]
        first = [{**one, "layer": 1} for one in near("causal", 1, "answer")]
        indices = {"axis": "index"}
        matrix = [
            line("causal", 1, "all", **indices, step=(1, 1), offset=1),
            line("causal", 2, "all", **indices, step=(1, 0), offset=0),
            *(line("cross", 1, "all", **indices, step=(1, -1), offset=at) for at in (-1, 0, 1)),
            *(line("cross", 2, "all", **indices, step=(1, -2), offset=at) for at in (-2, -1, 0)),
        ]
        return [
            {"lines": hard},
            {"lines": open_heads, "question": "all"},
            {"lines": [*first, *near("cross", 1, "operand 2")]},
            {"lines": matrix},
        ]

    @property
    def invariant(self) -> frozenset[str]:
        counted = any(line.step is not None and line.step[1] != 1 for line in self.own)
        return self.axes - {"role", "significance", *(["index"] if counted else [])}

    @property
    def digits_of(self) -> frozenset[int]:
        return frozenset(line.digit_of for line in self.lines if line.digit_of is not None)

    def serve(self, kind: Attends) -> None:
        super().serve(kind)
        self.kind = kind

    def in_layer(self, layer: int) -> None:
        self.layer = layer + 1

    @property
    def own(self) -> list[AttentionLine]:
        """The lines of this attention in this layer."""
        return [
            line
            for line in self.lines
            if line.attention == self.kind and line.layer in (None, self.layer)
        ]

    def window(self, axis: str) -> Span | None:
        """Bounded where every head has lines, all of them by that axis, or to the digits of an operand without columns.

        The latter are hubs: a multiplier, which every column sees.
        """
        own = self.own
        upright = [line for line in own if line.axis is None]
        if {line.head for line in own} != set(range(1, self.heads + 1)):
            return None
        if any(line.axis not in (axis, None) or line.step is not None for line in own):
            return None
        if self.kind is not Attends.CROSS and upright:
            return None
        if any(line.keys not in OPERANDS for line in upright):
            return None
        offsets = [line.offset for line in own if line.offset is not None]
        answers = [line.offset for line in own if line.keys == "answer" and line.offset is not None]
        hubs = frozenset(OPERANDS[line.keys] for line in upright)
        behind, ahead = max([0, *offsets]), max(0, *(-offset for offset in [0, *offsets]))
        return Span(behind, ahead, max([0, *answers]), hubs)

    def steady(self) -> Steady:
        values = [abs(line.value) for line in self.lines]
        return Steady(bias=max([-UNSEEN, *values]), terms=1)

    def bias(self, q_at: Places, k_at: Places) -> Tensor | None:
        values = self._values(q_at, k_at)
        return None if values is None else values.masked_fill(values == -math.inf, UNSEEN)

    def visible(self, q_at: Places, k_at: Places) -> Tensor | None:
        values = self._values(q_at, k_at)
        seen = None if values is None else values > -math.inf
        calibrated = any(line.attention == self.kind for line in self.lines)
        if self.kind is Attends.CAUSAL and self.question == "itself" and calibrated:
            answering = members("answer", q_at)[:, None, :, None]
            itself = answering.expand(-1, -1, -1, k_at.count)
            seen = itself if seen is None else seen & answering
        return seen

    def _values(self, q_at: Places, k_at: Places) -> Tensor | None:
        """(B|1, H, T, S): the highest value of the lines that a pair lies on, -inf on none; 0 in heads without lines."""
        own = self.own
        if not own:
            return None
        values = self._upright([line for line in own if line.axis is None], k_at).unsqueeze(-2)
        for axis in sorted({line.axis for line in own if line.axis is not None}):
            moving = [line for line in own if line.axis == axis and line.step is None]
            if moving:
                values = torch.maximum(values, self._moving(moving, axis, q_at, k_at))
        for step in sorted({line.step[1] for line in own if line.step is not None}):
            along = [line for line in own if line.step == (1, step)]
            values = torch.maximum(values, self._stepping(along, step, q_at, k_at))
        free = [head not in {line.head for line in own} for head in range(1, self.heads + 1)]
        open_heads = torch.tensor(free, device=values.device)[:, None, None]
        return values.masked_fill(open_heads, 0.0)

    def _upright(self, lines: Sequence[AttentionLine], k_at: Places) -> Tensor:
        """(B|1, H, S)"""
        role = k_at["role"]
        values = self._wide([-math.inf]).expand(role.shape[0], self.heads, role.shape[1])
        for line in lines:
            listed = members(line.keys, k_at)
            if line.digit is not None:
                listed = listed & (k_at["significance"] == line.digit)
            head = torch.arange(1, self.heads + 1, device=role.device) == line.head
            here = head[None, :, None] & listed[:, None]
            values = torch.where(here, values.clamp(min=line.value), values)
        return values

    def _moving(
        self, lines: Sequence[AttentionLine], axis: str, q_at: Places, k_at: Places
    ) -> Tensor:
        """(B|1, H, T, S): lines by a difference of places, to several kinds of keys."""
        kinds = sorted({line.keys for line in lines})
        behind, related = distance(q_at[axis], k_at[axis])  # (B|1, T, S)
        kind = torch.full_like(k_at["role"], -1)
        for number, keys in enumerate(kinds):
            kind = torch.where(members(keys, k_at), number, kind)
        return self._looked_up(lines, kinds, kind.unsqueeze(-2), behind, related)

    def _stepping(
        self, lines: Sequence[AttentionLine], step: int, q_at: Places, k_at: Places
    ) -> Tensor:
        """(B|1, H, T, S): lines of the matrix of indices, to all keys."""
        number, present = line_of(step, q_at, k_at, self.kind is Attends.CROSS)
        return self._looked_up(lines, ["all"], torch.zeros_like(number), number, present)

    def _looked_up(
        self, lines: Sequence[AttentionLine], kinds: list[str], kind: Tensor, offset: Tensor, related: Tensor
    ) -> Tensor:  # fmt: skip
        """(B|1, H, T, S): a row of the table for each kind of key and offset, the first for all other pairs."""
        offsets = [line.offset for line in lines if line.offset is not None]
        low, wide = min(offsets), max(offsets) - min(offsets) + 1
        rows = [[-math.inf] * self.heads for _ in range(1 + len(kinds) * wide)]
        for line in lines:
            assert line.offset is not None
            row = rows[1 + kinds.index(line.keys) * wide + line.offset - low]
            row[line.head - 1] = max(row[line.head - 1], line.value)
        on = related & (kind >= 0) & (offset >= low) & (offset < low + wide)
        classes = torch.where(on, 1 + kind * wide + offset - low, 0)
        return looked_up(self._wide(rows), classes)

    def _wide(self, numbers: Sequence[Any]) -> Tensor:
        """In at least single precision, whatever the model's."""
        dtype = torch.promote_types(self.anchor.dtype, torch.float32)
        return torch.tensor(numbers, device=self.anchor.device, dtype=dtype)
