"""From averages to lines: what each head keeps, with what value, and why it drops the rest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import pydantic
from torch import Tensor

from tenfold.encodings.calibrated import AttentionLine
from tenfold.features.calibration.candidate_lines import DIRECTIONS, Direction, Side, Track
from tenfold.features.calibration.mean_attention import Attention, Average, Scores
from tenfold.features.calibration.thresholds import automatic, by_kappa, highest_z


class FiniteStrict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Source = Literal["last", "each"]


class Rules(FiniteStrict):
    """How lines are chosen; without a kappa, automatically."""

    scores: Scores = "logits"
    kappa_self: float | None = None
    kappa_cross: float | None = None
    directions: tuple[Direction, ...] = DIRECTIONS
    source: Source = "each"  # the last layer for all, or each layer its own
    soft: bool = False

    def kappa(self, side: str) -> float | None:
        return self.kappa_self if side == "self" else self.kappa_cross


class Scored(FiniteStrict):
    """A line with its mean attention, and what it has at each answer token."""

    keys: str
    direction: Direction
    axis: str | None = None
    offset: int | None = None
    digit: int | None = None
    extends: bool = True
    mean: float
    kept: bool
    short: bool = False  # it has too few keys to be compared with the others
    cells: tuple[float | None, ...]

    @property
    def track(self) -> Track:
        return Track(self.keys, self.direction, self.axis, self.offset, self.digit, self.extends)


class LineFamily(FiniteStrict):
    """Lines of one direction that were compared with each other, and the mean above which they are kept."""

    side: Side
    direction: Direction
    threshold: float | None  # none stands out: nothing is kept
    lines: tuple[Scored, ...]


class Head(FiniteStrict):
    """What was found in one head; where nothing is kept it is transparent, without any bias."""

    attention: Attention
    layer: int
    head: int
    families: tuple[LineFamily, ...]

    @property
    def kept(self) -> list[Scored]:
        """The lines that it keeps, the strongest first."""
        chosen = [line for family in self.families for line in family.lines if line.kept]
        return sorted(chosen, key=lambda line: -line.mean)

    @property
    def dropped(self) -> list[Scored]:
        """Those that it does not, as far as they could have been."""
        every = [line for family in self.families for line in family.lines]
        chosen = [line for line in every if line.extends and not (line.kept or line.short)]
        return sorted(chosen, key=lambda line: -line.mean)

    def lines(self, layer: int | None, soft: bool) -> Iterator[AttentionLine]:
        """With values d_l - d_max; where soft, whatever lies off the lines has what the dropped lines have in the mean."""
        if not self.kept:
            return
        best, lowest = self.kept[0].mean, self.kept[-1].mean
        about = {"attention": self.attention, "layer": layer, "head": self.head}
        for line in self.kept:
            place = {"keys": line.keys, "axis": line.axis, "offset": line.offset}
            value = round(line.mean - best, 4)
            yield AttentionLine.model_validate(
                {**about, **place, "digit": line.digit, "value": value}
            )
        others = [line.mean for line in self.dropped]
        if soft and others:
            floor = min(sum(others) / len(others), lowest) - best
            yield AttentionLine.model_validate({**about, "keys": "all", "value": round(floor, 4)})


def find(averages: Sequence[Average], rules: Rules) -> tuple[list[Head], list[str]]:
    """The heads of the last layer, or of every layer; and notes on what could not have been found."""
    last = max(each.layer for each in averages)
    heads: list[Head] = []
    notes: dict[str, None] = {}
    for each in averages:
        if rules.source == "last" and each.layer != last:
            continue
        for number in range(len(each.cells)):
            families = tuple(_families(each, number, rules, notes))
            heads.append(
                Head(attention=each.attention, layer=each.layer, head=number + 1, families=families)
            )
    return heads, list(notes)


def _families(
    each: Average, head: int, rules: Rules, notes: dict[str, None]
) -> Iterator[LineFamily]:
    """A line that has keys at less than half as many answer tokens as the longest of its family says too little."""
    means, lengths = each.means[head], each.lengths
    for side, direction in itertools.product(get_args(Side), DIRECTIONS):
        mine = [
            n
            for n, track in enumerate(each.tracks)
            if track.side == side and track.direction == direction
        ]
        longest = max((int(lengths[n]) for n in mine), default=0)
        compared = [n for n in mine if 2 * int(lengths[n]) >= longest]
        if not compared:
            continue
        threshold = None
        if direction in rules.directions:
            threshold = _threshold(side, direction, means[compared], rules, notes)
        along = rules.kappa(side) is None
        lines = tuple(
            _scored(each, head, n, threshold, short=n not in compared, along=along) for n in mine
        )
        yield LineFamily(side=side, direction=direction, threshold=threshold, lines=lines)


def _threshold(
    side: str, direction: str, means: Tensor, rules: Rules, notes: dict[str, None]
) -> float | None:
    kappa = rules.kappa(side)
    if kappa is None:
        return automatic(means, logarithm=rules.scores == "weights")
    most = highest_z(len(means))
    if kappa >= most:
        notes[
            f"{side}-attention has {len(means)} {direction} lines, none of which can be more than {most:.2f} sigma "
            f"above the mean: a kappa of {kappa:g} keeps none"
        ] = None
    return by_kappa(means, kappa)


def _scored(
    each: Average, head: int, number: int, threshold: float | None, *, short: bool, along: bool
) -> Scored:
    """Where `along`, a line is above the threshold at more than a third of its answer tokens, not only in the mean.

    Else a single place that draws all attention lifts every line that crosses it.
    """
    track, mean = each.tracks[number], float(each.means[head, number])
    cells = [
        None if cell != cell else round(cell, 4) for cell in each.cells[head, :, number].tolist()
    ]
    kept = track.extends and not short and threshold is not None and mean > threshold
    if kept and along:
        present = [cell for cell in cells if cell is not None]
        kept = 3 * sum(cell > threshold for cell in present) > len(present)
    about = {**track._asdict(), "mean": round(mean, 6), "cells": tuple(cells)}
    return Scored.model_validate({**about, "kept": kept, "short": short})
