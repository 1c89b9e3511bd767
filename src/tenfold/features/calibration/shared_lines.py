"""Compare calibrated lines with biases that were learned end to end: are they the same lines?

Layers and heads of two models do not correspond. So a line is identified by its attention, keys and offset, and counts
once per head. A line kept by two heads of one model and by three of the other is in common twice.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tenfold.core.errors import TenfoldError
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.mean_attention import Attention, Average, Side, Track

Group = tuple[Attention, Side]  # lines that are compared with each other
Entry = tuple[int, int, Track]  # layer, head and line of a learned bias


@dataclass(frozen=True)
class Kind:
    """The lines of one kind of attention, and how many heads have each, among kept lines and among the largest biases."""

    group: Group
    lines: tuple[Track, ...]
    kept: Counter[Track]
    largest: Counter[Track]
    heads: int  # of the learned model, over all layers

    @property
    def count(self) -> int:
        return self.kept.total()

    @property
    def common(self) -> int:
        return (self.kept & self.largest).total()

    @property
    def by_chance(self) -> float:
        """The expected number in common if as many biases were picked at random among all heads and lines."""
        every, picked = self.heads * len(self.lines), min(self.count, self.heads * len(self.lines))
        return sum(expected_least(kept, every, self.heads, picked) for kept in self.kept.values())


@dataclass(frozen=True)
class InCommon:
    kinds: tuple[Kind, ...]

    @property
    def lines(self) -> int:
        """The number of calibrated lines that are compared."""
        return sum(kind.count for kind in self.kinds)

    @property
    def share(self) -> float:
        """The share of calibrated lines among equally many of the largest biases; 0 if there are no lines."""
        return sum(kind.common for kind in self.kinds) / max(1, self.lines)

    @property
    def by_chance(self) -> float:
        return sum(kind.by_chance for kind in self.kinds) / max(1, self.lines)


def in_common(calibration: Calibration, learned: Sequence[Average]) -> InCommon:
    """Compare the lines of a calibration with equally many of the largest biases of another model (`biases`).

    Only differences of places and only lines that calibration compares count, so corners of the matrix, which few pairs
    train, are excluded. The mean of a head's biases is subtracted, because a constant has no effect. Self- and
    cross-attention each have as many biases as calibrated lines.
    """
    lines: dict[Group, dict[Track, None]] = defaultdict(dict)
    kept: dict[Group, Counter[Track]] = defaultdict(Counter)
    for head in calibration.heads:
        for family in head.families:
            for line in family.lines:
                if line.axis is not None and not line.short:
                    group = head.attention, family.side
                    lines[group][line.track] = None
                    kept[group][line.track] += line.kept
    return InCommon(
        tuple(_kind(group, list(lines[group]), kept[group], learned) for group in lines)
    )


def _kind(
    group: Group, lines: Sequence[Track], kept: Counter[Track], learned: Sequence[Average]
) -> Kind:
    values: dict[Entry, float] = {}
    heads = 0
    for each in learned:
        own = [track for track in lines if track in each.tracks]
        if each.attention != group[0] or not own:
            continue
        means = each.means[:, [each.tracks.index(track) for track in own]]
        for head, row in enumerate((means - means.mean(1, keepdim=True)).tolist()):
            heads += 1
            values |= {(each.layer, head, track): v for track, v in zip(own, row, strict=True)}
    if not any(values.values()):
        raise TenfoldError(
            f"the other model adds no bias along lines of {group[1]}-attention; one with learned biases does: pe scalar, t5, fire"
        )
    largest = sorted(values, key=lambda entry: -values[entry])[: kept.total()]
    return Kind(group, tuple(lines), +kept, Counter(track for _, _, track in largest), heads)


def expected_least(most: int, every: int, marked: int, picked: int) -> float:
    """The mean of min(most, X), where X is the number of `marked` items among `picked` items drawn from `every`.

    >>> expected_least(1, every=4, marked=2, picked=2)  # one pair of six has none of the two
    0.8333333333333334
    """
    ways = math.comb(every, picked)
    least = sum(
        min(most, x) * math.comb(marked, x) * math.comb(every - marked, picked - x)
        for x in range(min(marked, picked) + 1)
    )
    return least / ways
