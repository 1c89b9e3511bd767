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
from tenfold.evals.metrics import direction, is_share
from tenfold.league.entries import SUSPECTS
from tenfold.league.league_chart import HUES as OF_LABEL
from tenfold.league.standing import Standing, values_at
from tenfold.league.tracks import LEVELS, LeagueTrack

SIZE = (7.2, 3.6)  # inches
LOOK: dict[Any, Any] = {"font.size": 9, "legend.frameon": False, "axes.linewidth": 0.7}
MOST_TICKS = 9
OTHERS = "#6E6E6E"  # usual suspects that are not the best of their label
CLOSE = 0.01  # of two lines that are drawn as one


def chosen(ranked: Sequence[Standing]) -> list[Standing]:
    """The best entry of each label, and the usual suspects; those that do not fit are left out."""
    fitting = [one for one in ranked if one.fits]
    best: dict[str, Standing] = {}
    for one in fitting:
        best.setdefault(one.label, one)
    suspects = [one for one in fitting if one.entry in SUSPECTS]
    return list({one.entry: one for one in (*best.values(), *suspects)}.values())


def draw_league(track: LeagueTrack, ranked: Sequence[Standing], path: Path) -> tuple[Path, Path]:
    """Write the figure as PNG and SVG: the median over seeds as a line, and an area from there to the worst seed."""
    shown = chosen(ranked)
    if not shown:
        raise TenfoldError(f'no entry of the track "{track.name}" fits its trained lengths yet')
    scale = 100 if is_share(track.metric) else 1
    with rc_context(LOOK):
        figure, axes = pyplot.subplots(figsize=SIZE, layout="constrained")
        for place, (one, style) in enumerate(zip(shown, _styles(shown), strict=True)):
            above = sum(_alike(track, one, later) for later in shown[place + 1 :])
            _draw(track, axes, one, style, scale, above)
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
    """The best entry of a label has its hue. The others are grey, and differ in markers and dashes."""
    hues = {hue.name: hue.light for hue in HUES}
    seen: set[str] = set()
    styles = []
    for place, one in enumerate(shown):
        best = one.label not in seen
        seen.add(one.label)
        color = hues[OF_LABEL.get(one.label, "ink")] if best else OTHERS
        count = 0 if best else place
        styles.append(
            Style(
                color, MARKERS[place % len(MARKERS)], DASHES[count % len(DASHES)], bool(count % 2)
            )
        )
    return styles


def _draw(
    track: LeagueTrack, axes: Any, one: Standing, style: Style, scale: float, above: int = 0
) -> None:
    """A line on which `above` equal ones will lie is wider, so that it is seen beside them."""
    lengths = list(one.curve)
    values = [[scale * value for value in values_at(track, one, n).values()] for n in lengths]
    middle = [scale * value for value in _medians(track, one)]
    axes.plot(
        lengths, middle, **style.line(), lw=1.6 + 2.5 * above, ms=4.5 + 3 * above, label=f"{one.entry} ({one.label}, {_seeds(one)})",
        markevery=[place for place, length in enumerate(lengths) if length >= track.trained], clip_on=False, zorder=3,
    )  # fmt: skip
    if len(one.seeds) > 1:
        worst = min if direction(track.metric) > 0 else max
        axes.fill_between(
            lengths, [worst(each) for each in values], middle, color=style.color, alpha=0.15, lw=0, zorder=2,
        )  # fmt: skip


def _medians(track: LeagueTrack, one: Standing) -> list[float]:
    """Over seeds, at every length."""
    return [statistics.median(values_at(track, one, length).values()) for length in one.curve]


def _alike(track: LeagueTrack, one: Standing, other: Standing) -> bool:
    """Whether two lines can hardly be told apart."""
    pairs = zip(_medians(track, one), _medians(track, other), strict=False)
    return list(one.curve) == list(other.curve) and all(abs(a - b) <= CLOSE for a, b in pairs)


def _seeds(one: Standing) -> str:
    return f"{len(one.seeds)} seed{'s' * (len(one.seeds) > 1)}"


def _ticks(lengths: Sequence[int], trained: int) -> list[int]:
    """A few of the measured lengths, the trained one and the last among them."""
    kept: list[int] = []
    for length in sorted({lengths[0], trained, lengths[-1], *(n for n in (2, 5, 20, 50, 100, 512, 1152) if n in lengths)}):  # fmt: skip
        if not kept or length / kept[-1] >= 1.3 or length == trained:
            kept.append(length)
    return kept[:MOST_TICKS]


def caption(track: LeagueTrack, ranked: Sequence[Standing]) -> str:
    """What the figure shows, with the numbers of every curve."""
    parts = []
    for one in chosen(ranked):
        far = max(one.curve)
        at = statistics.median(values_at(track, one, far).values())
        value, fit = _value(track, at), _value(track, one.median_fit)
        held = f"{LEVELS[0]:.0%} to {one.multiple() * one.trained:,g} {track.counts}"
        proved = ", proved at every length" if one.proved else ""
        parts.append(
            f"{one.entry} ({one.label}; {_seeds(one)}; {fit} at trained lengths): holds {held}{proved}, "
            f"{value} at {far:,}"
        )
    ends = (
        "A line ends where two lengths in a row have no right answer with any seed. "
        if track.ladder
        else ""
    )
    return (
        f"Track {track.name}: {track.about}. Every entry has {track.budget:.0e} operations of training. "
        f"Lines are medians over seeds, areas reach from there to the worst seed. {ends}{'; '.join(parts)}."
        f"{_left_out(track, ranked)}"
    )


def _left_out(track: LeagueTrack, ranked: Sequence[Standing]) -> str:
    """The usual suspects that are not drawn, since they do not fit."""
    names = [f"{one.entry} ({_value(track, one.median_fit)} at trained lengths)" for one in ranked
             if one.entry in SUSPECTS and not one.fits]  # fmt: skip
    return f" Not drawn, since they do not fit: {', '.join(names)}." if names else ""


def _value(track: LeagueTrack, value: float) -> str:
    return f"{value:.1%}" if is_share(track.metric) else f"{value:.3f}"
