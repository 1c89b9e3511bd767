"""Candidate lines, and the mean attention of each head along every line at every answer token.

By what tokens are (`tokens`), a pair of a query and a key lies on at most one moving line (a difference of places) and one
vertical line (a fixed token). In the matrix of indices (`matrix`), as in the paper, it lies on one line of each direction.

Shapes: B batch, H heads, T queries (answer tokens), S keys, L lines.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, Batch, Tokens
from tenfold.data.places import Places, distance, in_order
from tenfold.encodings.calibrated import OPERANDS, line_of, members
from tenfold.models import AttentionModel, Model, attention_in
from tenfold.models.model import trace
from tenfold.models.stack import Encodings

Direction = Literal["diagonal", "anti-diagonal", "vertical", "diagonal-2", "anti-diagonal-2"]
Attention = Literal["causal", "cross", "two-way"]  # two-way: an encoder's
Side = Literal["self", "cross"]
LineKind = Literal["tokens", "matrix"]
Along = Literal["mean", "sum"]
DIRECTIONS: tuple[Direction, ...] = ("diagonal", "anti-diagonal", "vertical")  # the paper's
# How many keys further a line of the matrix is, one query further: the paper's (1,1), (1,-1), (1,0), and two that fit questions
# in which a column has two tokens.
STEPS: dict[Direction, int] = {
    "diagonal": 1, "anti-diagonal": -1, "vertical": 0, "diagonal-2": 2, "anti-diagonal-2": -2,
}  # fmt: skip
GROUPS = ("answer", "operator", "text", *OPERANDS)  # every token belongs to one of these


class Track(NamedTuple):
    """A candidate line: `operand 1, column 2 back`, or vertical: `operator`, `operand 1, digit 0`.

    A single digit of an operand is also a vertical line in the paper, but it does not generalize to longer inputs. It is
    compared with the other lines, and its `extends` is false.
    """

    keys: str
    direction: Direction
    axis: str | None = None
    offset: int | None = None
    digit: int | None = None
    extends: bool = True
    step: tuple[int, int] | None = None  # of a line of the matrix of indices

    def side(self, attention: Attention) -> Side:
        """The paper's term: among tokens of the answer, or from the answer to the question.

        An encoder has no answer of its own, so all its lines are compared as self-attention.
        """
        if self.step is not None:
            return "cross" if attention == "cross" else "self"
        if attention == "two-way":
            return "self"
        return "self" if self.keys in ("answer", "start") else "cross"

    def __str__(self) -> str:
        if self.step is not None:
            return f"{self.direction} {self.offset}"
        if self.axis is not None:
            far = self.offset or 0
            where = f"{self.axis} {abs(far)} {'back' if far > 0 else 'ahead'}"
            return f"{self.keys}, {where if far else f'same {self.axis}'}"
        return self.keys if self.digit is None else f"{self.keys}, digit {self.digit}"


class Tracks(NamedTuple):
    """The numbered tracks of a batch, and the track number of each pair, -1 for none."""

    moving: list[Track]
    moving_of: Tensor  # (B, T, S)
    upright: list[Track]
    upright_of: Tensor  # (B, S)

    @property
    def numbered(self) -> Numbered:
        upright_of = self.upright_of.unsqueeze(-2).expand_as(self.moving_of)
        return [(self.moving, self.moving_of), (self.upright, upright_of)]


# Tracks, and the number of each pair's among them (B, T, S), -1 for none; a pair may have several
Numbered = list[tuple[list[Track], Tensor]]


def tracks(q_at: Places, k_at: Places, graded: Tensor, present: Tensor) -> Tracks:
    """The tracks of queries (B, T) that are `graded` and keys (B, S) that are `present`. Other pairs have no track."""
    shape = (*graded.shape, present.shape[1])
    moving_of, upright_of = torch.full(shape, -1), torch.full_like(present, -1, dtype=torch.long)
    moving: dict[Hashable, int] = {}
    upright: dict[Hashable, int] = {}
    for keys in GROUPS:
        mine = members(keys, k_at) & present
        if not mine.any():
            continue
        axis = _axis(keys, mine, q_at, k_at, graded)
        if axis is not None:
            behind, related = distance(q_at[axis], k_at[axis])
            on = (related & mine.unsqueeze(-2)).expand(shape) & graded.unsqueeze(-1)
            direction = _direction(keys, axis, mine, k_at, graded, q_at)
            for offset in behind.expand(shape)[on].unique().tolist():
                here = Track(keys, direction, axis, offset)
                number = moving.setdefault(here, len(moving))
                moving_of = torch.where(on & (behind == offset), number, moving_of)
        for track, where in _upright(keys, axis, mine, k_at):
            upright_of = torch.where(where, upright.setdefault(track, len(upright)), upright_of)
    return Tracks(list(moving), moving_of, list(upright), upright_of)  # type: ignore[arg-type]


def _axis(keys: str, mine: Tensor, q_at: Places, k_at: Places, graded: Tensor) -> str | None:
    """The axis of lines to these keys: columns if all keys have one, otherwise indices.

    Digits without a column, such as a multiplier's, belong to every column, so they have no lines.
    """
    if "column" not in k_at:  # running text
        return "index"
    columns = k_at["column"].expand_as(mine)[mine]
    if (columns >= 0).all() and (q_at["column"].expand_as(graded)[graded] >= 0).all():
        return "column"
    digits = k_at["significance"].expand_as(mine)[mine]
    several = bool((mine.sum(1) > 1).any())
    return "index" if several and keys != "operator" and (digits < 0).all() else None


def _direction(
    keys: str, axis: str, mine: Tensor, k_at: Places, graded: Tensor, q_at: Places
) -> Direction:
    """Anti-diagonal if places of keys decrease from left to right and those of queries increase, or the other way round.

    Numbers begin with their most significant digit, answers of decoders with their units; in place both decrease.
    """
    slope = _slope(axis, mine, k_at) * (-1 if _slope(axis, graded, q_at) < 0 else 1)
    return "diagonal" if slope > 0 or (slope == 0 and keys == "answer") else "anti-diagonal"


def _slope(axis: str, mine: Tensor, at: Places) -> float:
    """Positive if the places of these tokens increase from left to right."""
    place, index = (at[name].expand_as(mine).double() for name in (axis, "index"))
    count = mine.sum(1, keepdim=True).clamp(min=1)
    middle = [(each * mine).sum(1, keepdim=True) / count for each in (place, index)]
    return float(((place - middle[0]) * (index - middle[1]) * mine).sum())


def _upright(
    keys: str, axis: str | None, mine: Tensor, k_at: Places
) -> Iterator[tuple[Track, Tensor]]:
    if keys == "answer":
        start = members("start", k_at) & mine
        yield Track("start", "vertical"), start
        mine = mine & ~start
    if axis is not None:
        place, extends = k_at[axis], False
    else:
        place, extends = k_at["significance"], True
    for digit in place.expand_as(mine)[mine].unique().tolist():
        where = mine & (place == digit)
        yield Track(keys, "vertical", digit=None if digit < 0 else digit, extends=extends), where


def matrix_tracks(
    q_at: Places, k_at: Places, graded: Tensor, present: Tensor, directions: Iterable[Direction], crossing: bool
) -> Numbered:  # fmt: skip
    """Every line of the matrix of indices in these directions, whatever its tokens are. Arguments as those of `tracks`."""
    pairs = graded.unsqueeze(-1) & present.unsqueeze(-2)  # (B, T, S)
    numbered: Numbered = []
    for direction in directions:
        step = STEPS[direction]
        offset, placed = line_of(step, q_at, k_at, crossing)
        on = placed & pairs
        offsets = offset.expand_as(on)[on].unique()
        lines = [
            Track("all", direction, "index", number, step=(1, step)) for number in offsets.tolist()
        ]
        number_of = torch.searchsorted(offsets, offset.expand_as(on).contiguous())
        numbered.append((lines, torch.where(on, number_of, -1)))
    return numbered


Scores = Literal["logits", "weights"]
NAMES: dict[Attention, str] = {  # in a block
    "causal": "attention", "cross": "cross", "two-way": "attention",
}  # fmt: skip
# kind of attention, layer, scores (B, H, T, S), which of them are visible (B, T, S), and their tracks
Part = tuple[Attention, int, Tensor, Tensor, Numbered]


@dataclass(frozen=True)
class Average:
    """The mean attention of one layer along every line that occurs in the samples."""

    attention: Attention
    layer: int  # from 1
    tracks: tuple[Track, ...]
    cells: Tensor  # (H, T, L), nan if no sample has such a pair; in an encoder T counts from the last token

    def side(self, track: Track) -> Side:
        """That of the track, but running text has no question: all of it is self-attention."""
        text = all(each.keys == "text" for each in self.tracks)
        return "self" if text else track.side(self.attention)

    @property
    def means(self) -> Tensor:
        """(H, L): d_l of the paper, the mean along a line."""
        return self.cells.nanmean(1)

    def strength(self, along: Along) -> Tensor:
        """(H, L): the mean along a line, or the sum, with which a line of few cells cannot be strong."""
        return self.means if along == "mean" else self.cells.nansum(1)

    @property
    def lengths(self) -> Tensor:
        """(L,): the number of answer tokens at which a line has a key."""
        return (~self.cells[0].isnan()).sum(0)


@torch.inference_mode()
def average(
    model: Model,
    batches: Iterable[Batch],
    scores: Scores = "logits",
    *,
    kind: LineKind = "tokens",
    directions: Iterable[Direction] = DIRECTIONS,
    right_only: bool = False,
    digits: Iterable[Tensor] | None = None,
    own_answers: bool = True,
) -> list[Average]:
    """Average the attention of every layer over the model's own answers to these problems.

    Logits are the scores before the softmax, as in the paper's formula. Weights are the scores after it. Lines are those of
    tokens, or of the matrix in the paper's directions and any further `directions`. With `right_only` a problem counts if its whole answer is right.
    `digits` has, for each batch, the number of columns (B,) that count; answer tokens above them are padding, and are left out.
    Without `own_answers` attention is that over the true tokens, as of running text.
    """
    model = attention_in(model, "calibration")
    matrix = tuple(dict.fromkeys((*DIRECTIONS, *directions))) if kind == "matrix" else None
    counted = (
        ((batch, None) for batch in batches)
        if digits is None
        else zip(batches, digits, strict=True)
    )
    read = (
        answered(model, batch, right_only, upto) if own_answers else batch
        for batch, upto in counted
    )
    parts = (part for batch in read if len(batch) for part in _looked(model, batch, scores, matrix))
    averages = _averaged(parts)
    if not averages:
        raise TenfoldError("no answer is right, so there is no attention to average")
    return averages


@torch.inference_mode()
def biases(model: AttentionModel, batches: Iterable[Batch]) -> list[Average]:
    """The bias that a model's encodings add to its logits along every line; 0 where they add nothing.

    This is the positional bias alone, learned end to end, for comparison with `average`, which measures attention.
    """

    def parts() -> Iterator[Part]:
        for batch in batches:
            own, read = batch.sequence, batch.read
            sides: dict[Attention, tuple[Encodings, Tokens]]
            sides = {_own(model): (model.stack.encodings, own)}
            if model.stack.cross_encodings is not None and batch.source is not None:
                sides["cross"] = model.stack.cross_encodings, batch.source
            for where, layer, logits, seen, pair_tracks in _looked(model, batch, "logits"):
                encodings, source = sides[where]
                bias = encodings[layer - 1].bias(own.places.last(read), source.places)
                added = torch.zeros_like(logits) if bias is None else bias.expand_as(logits)
                # windows are ignored: a line that some head does not see is still a line
                query, key = in_order(read, source.tokens.shape[1])
                yield (
                    where,
                    layer,
                    added,
                    (key <= query) | torch.full_like(seen, where != "causal"),
                    pair_tracks,
                )

    return _averaged(parts())


def _averaged(parts: Iterable[Part]) -> list[Average]:
    sums: dict[tuple[Attention, int], dict[tuple[Track, int], Tensor]]
    sums = defaultdict(dict)
    counts: dict[tuple[Attention, int], dict[tuple[Track, int], int]]
    counts = defaultdict(lambda: defaultdict(int))
    for where, number, given, seen, pair_tracks in parts:
        for track, row, total, count in _along(given, seen, pair_tracks):
            totals = sums[where, number]
            totals[track, row] = totals.get((track, row), 0) + total
            counts[where, number][track, row] += count
    return [
        _average(where, number, totals, counts[where, number])
        for (where, number), totals in sorted(sums.items())
    ]


def answered(
    model: Model, batch: Batch, right_only: bool = False, upto: Tensor | None = None
) -> Batch:
    """The batch with the model's own answers in place of the true answers; with `right_only`, its right answers alone.

    Answer tokens of column `upto` (B,) and above are not graded.
    """
    tokens, answer = batch.sequence.tokens.clone(), model.answer(batch)
    tokens[:, batch.given :] = answer[:, : tokens.shape[1] - batch.given]
    filled = replace(batch, sequence=replace(batch.sequence, tokens=tokens))
    if upto is not None:
        column = batch.sequence.places.last(batch.read)["column"]
        target = batch.target.masked_fill(column >= upto[:, None], IGNORED)
        filled = replace(filled, target=target)
    if not right_only:
        return filled
    return filled.rows(((answer == batch.target) | (batch.target == IGNORED)).all(1))


def _own(model: AttentionModel) -> Attention:
    """The kind of a model's attention to its own sequence."""
    return "causal" if model.stack.causal else "two-way"


def _looked(
    model: AttentionModel,
    batch: Batch,
    scores: Scores,
    matrix: tuple[Direction, ...] | None = None,
) -> Iterator[Part]:
    """The scores of every attention of every layer, along lines of tokens, or of the matrix in these directions."""
    blocks, read = len(model.stack.blocks), batch.read
    sources: dict[Attention, Tokens | None] = {_own(model): batch.sequence, "cross": batch.source}
    graded = batch.target != IGNORED  # tokens after the end of an answer are not graded
    with trace(model) as seen:
        model(batch)
    for where, source in sources.items():
        if source is None:
            continue
        present = torch.ones_like(source.tokens, dtype=torch.bool)
        present = present if source.valid is None else source.valid.expand_as(present)
        pairs = (batch.sequence.places.last(read), source.places, graded, present)
        if matrix is None:
            pair_tracks = tracks(*pairs).numbered
        else:
            pair_tracks = matrix_tracks(*pairs, matrix, crossing=where == "cross")
        for layer in range(blocks):
            name = f"stack.blocks.{layer}.{NAMES[where]}"
            passes = zip(seen[f"{name}.logits"], seen[f"{name}.{scores}"], strict=True)
            for logits, given in passes:  # several in a looped model
                shown = (logits[:, :, -read:] > -math.inf).all(1)
                open_pairs = shown & graded.unsqueeze(-1) & present.unsqueeze(-2)
                part = (where, layer + 1, given[:, :, -read:], open_pairs, pair_tracks)
                yield part if where != "two-way" else _from_the_last(part)


def _from_the_last(part: Part) -> Part:
    """The same with queries in the opposite order: in place the last token is column 0, in frames of any width."""
    where, layer, given, seen, pair_tracks = part
    turned = [(names, numbers.flip(1)) for names, numbers in pair_tracks]
    return where, layer, given.flip(2), seen.flip(1), turned


def _along(
    given: Tensor, seen: Tensor, pair_tracks: Numbered
) -> Iterable[tuple[Track, int, Tensor, int]]:
    """For every track and query: the sum over samples, (H,), and the number of samples."""
    queries = given.shape[2]
    for names, numbers in pair_tracks:
        slot = torch.arange(queries)[:, None] * len(names) + numbers
        kept = seen & (numbers >= 0)
        size = queries * len(names)
        values = given.transpose(0, 1)[:, kept].double()  # (H, pairs)
        totals = values.new_zeros(len(values), size).index_add(1, slot[kept], values)
        for cell, count in enumerate(slot[kept].bincount(minlength=size).tolist()):
            if count:
                row, track = divmod(cell, len(names))
                yield names[track], row, totals[:, cell], count


def _average(
    where: Attention,
    layer: int,
    sums: dict[tuple[Track, int], Tensor],
    counts: dict[tuple[Track, int], int],
) -> Average:
    names = sorted({track for track, _ in sums}, key=_order)
    heads, rows = len(next(iter(sums.values()))), 1 + max(row for _, row in sums)
    cells = torch.full((heads, rows, len(names)), math.nan, dtype=torch.float64)
    column = {track: number for number, track in enumerate(names)}
    for (track, row), total in sums.items():
        cells[:, row, column[track]] = total / counts[track, row]
    return Average(where, layer, tuple(names), cells)


def _order(track: Track) -> tuple[str, str, int, int]:
    return (
        track.direction,
        track.keys,
        track.offset or 0,
        -1 if track.digit is None else track.digit,
    )
