"""The curves of a track as one drawing within the page: every entry against length, the one that is pointed at in front.

Coordinates are those of the drawing: x to the right, y down.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from html import escape

from tenfold.evals.metrics import direction
from tenfold.league.standing import Standing, values_at
from tenfold.league.tracks import LeagueTrack

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 66, 22, 14, 46
ROOM = 160  # for words beside the edge of training
MOST = 4.0  # times the perplexity at the trained length that is drawn; more lies on the upper edge
HUES = {  # of labels: each label has its hue and is also named in words
    "generic": "blue",
    "significance": "vermilion",
    "window": "green",
    "calibrated": "ochre",
    "scratchpad": "violet",
    "loops": "plum",
}


def hue(label: str) -> str:
    """The colour of a label as a variable of the page; a label of one's own is written in ink."""
    return f"var(--hue-{HUES.get(label, 'ink')})"


def chart(track: LeagueTrack, standings: Sequence[Standing]) -> str:
    """An SVG with a line for the median and an area from the worst to the best seed of every entry."""
    lengths = sorted({length for one in standings for length in one.curve})
    if not lengths:
        return ""
    scale = _Scale(track, lengths[0], lengths[-1])
    parts = [_axes(track, scale, lengths), *(_curve(track, scale, one) for one in standings)]
    title = f"{track.metric} against length, one curve for each entry of the track {track.name}"
    return (
        f'<svg class="curves" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


class _Scale:
    """From a length and a value to a point of the drawing."""

    def __init__(self, track: LeagueTrack, first: int, last: int) -> None:
        self.rises = direction(track.metric) > 0
        self.first, self.last = math.log(first), math.log(max(last, first + 1))

    def x(self, length: float) -> float:
        share = (math.log(length) - self.first) / (self.last - self.first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float, reference: float = 1.0) -> float:
        """Shares from 0 to 1; perplexities as multiples of that at the trained length, on a logarithmic scale."""
        share = value if self.rises else math.log(max(value / reference, 0.5)) / math.log(MOST)
        return HEIGHT - BOTTOM - min(max(share, -0.1), 1.0) * (HEIGHT - TOP - BOTTOM)


def _axes(track: LeagueTrack, scale: _Scale, lengths: Sequence[int]) -> str:
    low, parts = HEIGHT - BOTTOM, []
    ticks = (0.0, 0.5, 0.9, 1.0) if scale.rises else (1.0, 1.5, 2.0, 4.0)
    for tick in ticks:
        y = scale.y(tick)
        words = f"{tick:.0%}" if scale.rises else f"{tick:g} x"
        parts.append(
            f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{words}</text>'
        )
    for length, everywhere in _marks(track, scale, lengths):
        less = "" if everywhere else ' class="less"'  # left out on a phone
        parts.append(
            f'<text{less} x="{scale.x(length):.1f}" y="{low + 20}" text-anchor="middle">{length:,}</text>'
        )
    edge = scale.x(track.trained)
    side, anchor = (-1, "end") if edge - LEFT > ROOM else (1, "start")
    mark = low - 6 if scale.rises else TOP + 16  # where no curve begins
    parts.append(
        f'<path class="edge" d="M{edge:.1f} {TOP}V{low}"/>'
        f'<text x="{edge + side * 4:.1f}" y="{mark}" text-anchor="{anchor}">trained to here</text>'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{track.counts}</text>'
    )
    return "".join(parts)


def _marks(track: LeagueTrack, scale: _Scale, lengths: Sequence[int]) -> list[tuple[int, bool]]:
    """The lengths that are written below the drawing, and whether there is room for them on a phone."""
    kept: list[tuple[int, bool]] = []
    for length in sorted(
        lengths, key=lambda one: (one not in (track.trained, lengths[0], lengths[-1]), one)
    ):
        gaps = [abs(scale.x(length) - scale.x(other)) for other, _ in kept]
        wide = [abs(scale.x(length) - scale.x(other)) for other, phone in kept if phone]
        if min(gaps, default=math.inf) >= 34:
            kept.append((length, min(wide, default=math.inf) >= 64))
    return kept


def _curve(track: LeagueTrack, scale: _Scale, one: Standing) -> str:
    middle, low, high = [], [], []
    references = {seed: one.curve.get(track.trained, {}).get(seed) for seed in one.seeds}
    for length in one.curve:
        values = values_at(track, one, length)
        ys = [scale.y(value, references[seed] or 1.0) for seed, value in values.items()]
        x = scale.x(length)
        middle.append(f"{x:.1f} {statistics.median(ys):.1f}")
        low.append(f"{x:.1f} {max(ys):.1f}")
        high.append(f"{x:.1f} {min(ys):.1f}")
    area = f'<path class="band" d="M{"L".join([*low, *reversed(high)])}Z"/>' if len(one.seeds) > 1 else ""  # fmt: skip
    return (
        f'<g class="curve{"" if one.fits else " unfit"}" data-entry="{escape(one.entry)}" style="--own: {hue(one.label)}">'
        f'{area}<path class="line" d="M{"L".join(middle)}"><title>{escape(one.entry)}</title></path></g>'
    )
