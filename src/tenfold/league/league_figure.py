"""The figure of a track: the best entry of each label and the usual suspects, all of which fit, against length."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot, rc_context

from tenfold.core.errors import TenfoldError
from tenfold.drawing.encoding_style import DASHES, MARKERS, Style
from tenfold.drawing.figures import save_files
from tenfold.drawing.palette import HUES
from tenfold.evals.metrics import is_share
from tenfold.league.entries import SUSPECTS
from tenfold.league.league_chart import HUES as OF_LABEL
from tenfold.league.standing import Standing
from tenfold.league.tracks import LEVELS, Track

SIZE = (7.2, 3.6)  # inches
LOOK: dict[Any, Any] = {"font.size": 9, "legend.frameon": False, "axes.linewidth": 0.7}
MOST_TICKS = 9


def chosen(ranked: Sequence[Standing]) -> list[Standing]:
    """The best entry of each label, and the usual suspects; those that do not fit are left out."""
    fitting = [one for one in ranked if one.fits]
    best: dict[str, Standing] = {}
    for one in fitting:
        best.setdefault(one.label, one)
    suspects = [one for one in fitting if one.entry in SUSPECTS]
    return list({one.entry: one for one in (*best.values(), *suspects)}.values())


def draw_league(track: Track, ranked: Sequence[Standing], path: Path) -> tuple[Path, Path]:
    """Write the figure as PNG and SVG: the median over seeds as a line, the area to the worst seed below it."""
    shown = chosen(ranked)
    if not shown:
        raise TenfoldError(f'no entry of the track "{track.name}" fits its trained lengths yet')
    scale = 100 if is_share(track.metric) else 1
    with rc_context(LOOK):
        figure, axes = pyplot.subplots(figsize=SIZE, layout="constrained")
        for one, style in zip(shown, _styles(shown), strict=True):
            _draw(axes, one, style, scale)
        axes.axvspan(axes.get_xlim()[0], track.trained, color="#F2F2F2", lw=0, zorder=0)
        axes.set_xscale("log")
        lengths = sorted({length for one in shown for length in one.curve})
        axes.set_xlim(lengths[0], lengths[-1] * 1.05)
        marks = _ticks(lengths, track.trained)
        axes.set_xticks(marks, [f"{length:,}" for length in marks])
        axes.minorticks_off()
        axes.set_xlabel(f"{track.counts}; trained up to {track.trained} (shaded)")
        axes.set_ylabel("exactly right, %" if is_share(track.metric) else track.metric)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=2.6)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        return save_files(figure, path)


def _styles(shown: Sequence[Standing]) -> list[Style]:
    """Entries of one label share a hue and differ in markers and dashes."""
    hues = {hue.name: hue.light for hue in HUES}
    seen: dict[str, int] = {}
    styles = []
    for place, one in enumerate(shown):
        count = seen.setdefault(one.label, 0)
        seen[one.label] += 1
        color = hues[OF_LABEL.get(one.label, "ink")]
        styles.append(
            Style(
                color, MARKERS[place % len(MARKERS)], DASHES[count % len(DASHES)], bool(count % 2)
            )
        )
    return styles


def _draw(axes: Any, one: Standing, style: Style, scale: float) -> None:
    lengths = list(one.curve)
    values = [[scale * value for value in by.values()] for by in one.curve.values()]
    axes.plot(
        lengths, [statistics.median(each) for each in values], **style.line(), lw=1.6, ms=4.5,
        label=f"{one.entry} ({one.label})", clip_on=False, zorder=3,
    )  # fmt: skip
    if len(one.seeds) > 1:
        axes.fill_between(
            lengths, [min(each) for each in values], [max(each) for each in values],
            color=style.color, alpha=0.15, lw=0, zorder=2,
        )  # fmt: skip


def _ticks(lengths: Sequence[int], trained: int) -> list[int]:
    """A few of the measured lengths, the trained one and the last among them."""
    kept: list[int] = []
    for length in sorted({lengths[0], trained, lengths[-1], *(n for n in (2, 5, 20, 50, 100, 512, 1152) if n in lengths)}):  # fmt: skip
        if not kept or length / kept[-1] >= 1.3 or length == trained:
            kept.append(length)
    return kept[:MOST_TICKS]


def caption(track: Track, ranked: Sequence[Standing]) -> str:
    """What the figure shows, with the numbers of every curve."""
    parts = []
    for one in chosen(ranked):
        far = max(one.curve)
        at = statistics.median(one.curve[far].values())
        value = f"{at:.1%}" if is_share(track.metric) else f"{at:.3f}"
        fit = f"{one.median_fit:.1%}" if is_share(track.metric) else f"{one.median_fit:.3f}"
        held = f"{LEVELS[0]:.0%} to {one.multiple() * one.trained:g} {track.counts}"
        proved = ", proved at every length" if one.proved else ""
        parts.append(
            f"{one.entry} ({one.label}; {len(one.seeds)} seeds; {fit} at trained lengths): holds {held}{proved}, "
            f"{value} at {far:,}"
        )
    return (
        f"Track {track.name}: {track.about}. Every entry has {track.budget:.0e} operations of training. "
        f"Lines are medians over seeds, areas reach from the worst to the best seed. {'; '.join(parts)}."
    )
