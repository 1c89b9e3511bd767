"""The mean attention of each head over samples: one number for every line at every answer token.

Shapes: B batch, H heads, T queries (answer tokens), S keys, L lines.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, Batch, Tokens
from tenfold.data.places import in_order
from tenfold.features.calibration.candidate_lines import Track, Tracks, tracks
from tenfold.models import AttentionModel, Model, attention_in
from tenfold.models.trace import trace

Scores = Literal["logits", "weights"]
Attention = Literal["causal", "cross"]
NAMES: dict[Attention, str] = {"causal": "attention", "cross": "cross"}  # in a block
# which attention, its layer, scores (B, H, T, S), which of them are seen (B, T, S), and their tracks
Part = tuple[Attention, int, Tensor, Tensor, Tracks]


@dataclass(frozen=True)
class Average:
    """The attention of one layer along every line, as far as samples have it."""

    attention: Attention
    layer: int  # from 1
    tracks: tuple[Track, ...]
    cells: Tensor  # (H, T, L), nan where no sample has such a pair

    @property
    def means(self) -> Tensor:
        """(H, L): d_l of the paper, the mean along a line."""
        return self.cells.nanmean(1)

    @property
    def lengths(self) -> Tensor:
        """(L,): at how many answer tokens a line has a key."""
        return (~self.cells[0].isnan()).sum(0)


@torch.inference_mode()
def average(model: Model, batches: Iterable[Batch], scores: Scores = "logits") -> list[Average]:
    """Average the attention of every layer over the model's own answers to these problems.

    Logits are those before the softmax, as the paper's formula has them; weights are those after it.
    """
    model = attention_in(model, "calibration")
    if not model.stack.causal:
        raise TenfoldError(
            f'a model of the kind "{model.name}" reads its answer in place; calibration needs one that '
            "writes it token by token: seq2seq or decoder"
        )
    return _averaged(
        part for batch in batches for part in _looked(model, answered(model, batch), scores)
    )


@torch.inference_mode()
def biases(model: AttentionModel, batches: Iterable[Batch]) -> list[Average]:
    """What a model's encodings add to its logits along every line; 0 where they add nothing.

    The bias alone: what is learned of places end to end, beside what `average` finds in attention.
    """

    def parts() -> Iterator[Part]:
        for batch in batches:
            own, read = batch.sequence, batch.read
            sides = {"causal": (model.stack.encodings, own)}
            if model.stack.cross_encodings is not None and batch.source is not None:
                sides["cross"] = model.stack.cross_encodings, batch.source
            for where, layer, logits, seen, pair_tracks in _looked(model, batch, "logits"):
                encodings, source = sides[where]
                bias = encodings[layer - 1].bias(own.places.last(read), source.places)
                added = torch.zeros_like(logits) if bias is None else bias.expand_as(logits)
                # whatever a window hides: a line that some head does not see is a line
                query, key = in_order(read, source.tokens.shape[1])
                yield (
                    where,
                    layer,
                    added,
                    (key <= query) | torch.full_like(seen, where == "cross"),
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


def answered(model: Model, batch: Batch) -> Batch:
    """The batch with the model's own answer in place of the true one."""
    tokens = batch.sequence.tokens.clone()
    tokens[:, batch.given :] = model.answer(batch)[:, : tokens.shape[1] - batch.given]
    return replace(batch, sequence=replace(batch.sequence, tokens=tokens))


def _looked(model: AttentionModel, batch: Batch, scores: Scores) -> Iterator[Part]:
    """Every attention of every layer."""
    blocks, read = len(model.stack.blocks), batch.read
    sources: dict[Attention, Tokens | None] = {"causal": batch.sequence, "cross": batch.source}
    graded = batch.target != IGNORED  # what follows the end of an answer is nobody's
    with trace(model) as seen:
        model(batch)
    for where, source in sources.items():
        if source is None:
            continue
        present = torch.ones_like(source.tokens, dtype=torch.bool)
        present = present if source.valid is None else source.valid.expand_as(present)
        pair_tracks = tracks(batch.sequence.places.last(read), source.places, graded, present)
        for layer in range(blocks):
            name = f"stack.blocks.{layer}.{NAMES[where]}"
            logits = seen[f"{name}.logits"][0][:, :, -read:]
            open_pairs = (logits > -math.inf).all(1) & graded.unsqueeze(-1) & present.unsqueeze(-2)
            yield (
                where,
                layer + 1,
                seen[f"{name}.{scores}"][0][:, :, -read:],
                open_pairs,
                pair_tracks,
            )


def _along(
    given: Tensor, seen: Tensor, pair_tracks: Tracks
) -> Iterable[tuple[Track, int, Tensor, int]]:
    """For every track and query: the sum over samples (H,), and how many there are."""
    queries = given.shape[2]
    each = (
        (pair_tracks.moving, pair_tracks.moving_of),
        (pair_tracks.upright, pair_tracks.upright_of.unsqueeze(-2).expand_as(seen)),
    )
    for names, numbers in each:
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
    for (track, row), total in sums.items():
        cells[:, row, names.index(track)] = total / counts[track, row]
    return Average(where, layer, tuple(names), cells)


def _order(track: Track) -> tuple[str, str, int, int]:
    return (
        track.direction,
        track.keys,
        track.offset or 0,
        -1 if track.digit is None else track.digit,
    )
