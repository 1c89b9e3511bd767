"""Select lines from mean attention, for each head, by the paper's rule or by an automatic threshold.

Shapes: L lines.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import pydantic
from torch import Tensor

from tenfold.encodings.calibrated import AttentionLine
from tenfold.features.calibration.mean_attention import (
    DIRECTIONS,
    Along,
    Attention,
    Average,
    Direction,
    LineKind,
    Scores,
    Side,
    Track,
)


class FiniteStrict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Source = Literal["last", "each"]
Compared = Literal["head", "direction"]
Rows = Literal["all", "digits"]


class Rules(FiniteStrict):
    """The rules by which lines are chosen. Without a kappa the threshold is automatic.

    `kappa_share` is a kappa for any number of lines: a share of the largest that some line could pass (`highest_z`).
    """

    scores: Scores = "logits"
    kappa_self: float | None = None
    kappa_cross: float | None = None
    kappa_share: float | None = None
    directions: tuple[Direction, ...] = DIRECTIONS
    cross_directions: tuple[Direction, ...] | None = None  # None: the same in cross-attention
    source: Source = "each"  # separate lines for each layer, or the last layer's for all
    soft: bool = False
    lines: LineKind = "tokens"  # of the matrix of indices: all lines count, short ones too
    best: Compared = (
        "head"  # what a line's bias is relative to: the best line of the head, or of its direction
    )
    right_only: bool = False  # averages over right answers alone
    rows: Rows = "all"  # all answer tokens, or those in whose column some number has a digit

    along: Along = "mean"  # what is compared: means along lines, or sums

    def kappa(self, side: str, lines: int) -> float | None:
        """The kappa of so many lines of one direction; None: automatic."""
        named = self.kappa_self if side == "self" else self.kappa_cross
        if named is not None or self.kappa_share is None:
            return named
        return self.kappa_share * highest_z(lines)

    def searched(self, side: str) -> tuple[Direction, ...]:
        """The directions of the lines that may be kept."""
        if side == "cross" and self.cross_directions is not None:
            return self.cross_directions
        return self.directions


class Scored(FiniteStrict):
    """A line with its mean attention, and its attention at each answer token."""

    keys: str
    direction: Direction
    axis: str | None = None
    offset: int | None = None
    digit: int | None = None
    extends: bool = True
    step: tuple[int, int] | None = None
    mean: float
    kept: bool
    short: bool = False  # it has too few keys to be compared with the others
    cells: tuple[float | None, ...]

    @property
    def place(self) -> int:
        """Where a vertical line is: its index in the matrix, or its digit, -1 for a named token."""
        where = self.digit if self.step is None else self.offset
        return -1 if where is None else where

    @property
    def track(self) -> Track:
        return Track(
            self.keys, self.direction, self.axis, self.offset, self.digit, self.extends, self.step
        )


class LineFamily(FiniteStrict):
    """Lines of one direction that are compared with each other, and the threshold of the mean above which they are kept."""

    side: Side
    direction: Direction
    threshold: float | None  # None: no line stands out, so none is kept
    lines: tuple[Scored, ...]


class Head(FiniteStrict):
    """The lines of one head. A head that keeps no line is transparent: it has no bias."""

    attention: Attention
    layer: int
    head: int
    families: tuple[LineFamily, ...]

    @property
    def kept(self) -> list[Scored]:
        """The kept lines, the strongest first."""
        chosen = [line for family in self.families for line in family.lines if line.kept]
        return sorted(chosen, key=lambda line: -line.mean)

    @property
    def dropped(self) -> list[Scored]:
        """The dropped lines, among those that could have been kept."""
        every = [line for family in self.families for line in family.lines]
        chosen = [line for line in every if line.extends and not (line.kept or line.short)]
        return sorted(chosen, key=lambda line: -line.mean)

    def lines(
        self, layer: int | None, soft: bool, compared: Compared = "head"
    ) -> Iterator[AttentionLine]:
        """Lines with values d_l - d_max. If `soft`, pairs off the lines get the mean value of the dropped lines.

        d_max is the mean of the best line of the head, or of the line's own direction, as in the paper.
        """
        if not self.kept:
            return
        best, lowest = self.kept[0].mean, self.kept[-1].mean
        best_of = {line.direction: line.mean for line in reversed(self.kept)}
        about = {"attention": self.attention, "layer": layer, "head": self.head}
        for line in self.kept:
            place = {"keys": line.keys, "axis": line.axis, "offset": line.offset, "step": line.step}
            value = round(line.mean - (best if compared == "head" else best_of[line.direction]), 4)
            yield AttentionLine.model_validate(
                {**about, **place, "digit": line.digit, "value": value}
            )
        others = [line.mean for line in self.dropped]
        if soft and others:
            floor = min(sum(others) / len(others), lowest) - best
            yield AttentionLine.model_validate({**about, "keys": "all", "value": round(floor, 4)})


def find(averages: Sequence[Average], rules: Rules) -> tuple[list[Head], list[str]]:
    """Select the lines of the heads of the last layer, or of every layer. Also returns notes on undetectable lines."""
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
    """Families of lines. A line at less than half as many answer tokens as the longest of its family is not compared."""
    means, lengths = each.strength(rules.along)[head], each.lengths
    for side, direction in itertools.product(get_args(Side), get_args(Direction)):
        mine = [
            n
            for n, track in enumerate(each.tracks)
            if (each.side(track), track.direction) == (side, direction)
        ]
        longest = max((int(lengths[n]) for n in mine), default=0)
        compared = [n for n in mine if rules.lines == "matrix" or 2 * int(lengths[n]) >= longest]
        if not compared:
            continue
        threshold = None
        if direction in rules.searched(side):
            threshold = _threshold(side, direction, means[compared], rules, notes)
        along = rules.kappa(side, len(compared)) is None
        lines = tuple(
            _scored(each, head, n, float(means[n]), threshold, short=n not in compared, along=along)
            for n in mine
        )
        yield LineFamily(side=side, direction=direction, threshold=threshold, lines=lines)


def _threshold(
    side: str, direction: str, means: Tensor, rules: Rules, notes: dict[str, None]
) -> float | None:
    kappa = rules.kappa(side, len(means))
    if kappa is None:
        return automatic(means, logarithm=rules.scores == "weights")
    most = highest_z(len(means))
    if kappa >= most and rules.kappa_share is None:
        notes[
            f"{side}-attention has {len(means)} {direction} lines, none of which can be more than {most:.2f} sigma "
            f"above the mean: a kappa of {kappa:g} keeps none"
        ] = None
    return by_kappa(means, kappa)


def _scored(
    each: Average, head: int, number: int, mean: float, threshold: float | None, *, short: bool, along: bool
) -> Scored:  # fmt: skip
    """Score a line. If `along`, it must exceed the threshold at more than a third of its answer tokens, not only in the mean.

    Otherwise a single place with very high attention would raise every line that crosses it.
    """
    track = each.tracks[number]
    cells = [
        None if cell != cell else round(cell, 4) for cell in each.cells[head, :, number].tolist()
    ]
    kept = track.extends and not short and threshold is not None and mean > threshold
    if kept and along:
        present = [cell for cell in cells if cell is not None]
        kept = 3 * sum(cell > threshold for cell in present) > len(present)
    about = {**track._asdict(), "mean": round(mean, 6), "cells": tuple(cells)}
    return Scored.model_validate({**about, "kept": kept, "short": short})


FACTOR = 2.0  # kept lines have on average at least this many times the attention of the others
FAINT = 30.0  # lines with less attention than the strongest line's divided by this count as equal


def by_kappa(means: Tensor, kappa: float) -> float:
    """The paper's threshold, mu + kappa sigma over all lines.

    >>> import torch
    >>> by_kappa(torch.tensor([0.0, 0.0, 0.0, 4.0]), 1.0)  # mu 1, sigma sqrt(3)
    2.732050807568877
    """
    exact = means.double()
    return float(exact.mean() + kappa * exact.std(correction=0))


def highest_z(lines: int, equal: int = 1) -> float:
    """The largest number of sigmas above mu that `equal` equal lines among `lines` can have. A larger kappa keeps none.

    >>> round(highest_z(17), 2), round(highest_z(17, equal=2), 2)
    (4.0, 2.74)
    """
    return math.sqrt((lines - equal) / equal) if lines > equal else 0.0


def automatic(means: Tensor, *, logarithm: bool) -> float | None:
    """A threshold between the lines that stand out and the others; None if no line stands out.

    It is Otsu's split of the logits (for weights, of their logarithms: `logarithm`), which maximizes the variance between
    the two sides. It is used if the kept side has FACTOR times the attention of the other. Lines below the strongest line
    divided by FAINT count as equal, so one strong line, or several equal ones, can stand out among any number.

    >>> import torch
    >>> automatic(torch.tensor([5.0, 0.0, 0.5, 5.25, 0.25]), logarithm=False)  # two lines
    2.75
    >>> automatic(torch.tensor([0.1, 0.0, 0.2, 0.15]), logarithm=False) is None  # flat
    True
    """
    exact = means.double()
    given = exact.clamp(min=1e-12).log() if logarithm else exact
    clipped = given.clamp(min=float(given.max()) - math.log(FAINT))
    ordered = clipped.sort(descending=True).values
    best, split = 0.0, 0
    for count in range(1, len(ordered)):
        apart = ordered[:count].mean() - ordered[count:].mean()
        between = float(apart**2) * count * (len(ordered) - count) / len(ordered) ** 2
        if between > best + 1e-12:
            best, split = between, count
    if split == 0 or ordered[:split].mean() - ordered[split:].mean() < math.log(FACTOR):
        return None
    raw = exact.sort(descending=True).values
    return float((raw[split - 1] + raw[split]) / 2)
