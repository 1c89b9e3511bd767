"""Figures of a ranking for one column of a paper: the scores of all methods, and the first few against length.

The first figure has a line per method from its worst to its best seed, a small dot per seed and a marker at the median.
An open marker means that the corrected test separates the method from the reference. Grey methods do not fit their
trained lengths. The second figure draws the first methods in colour and all others in grey.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot, rc_context
from matplotlib.ticker import MaxNLocator, NullLocator

from tenfold.drawing.encoding_style import Style, encoding_styles
from tenfold.drawing.figure_files import write_figure
from tenfold.drawing.figures import RIGHT
from tenfold.drawing.perplexity_curves import ticks
from tenfold.evals.metrics import is_share
from tenfold.results.method_names import tell_apart
from tenfold.results.rank_table import RankedMethod, RankTable
from tenfold.results.ranking import Ranking
from tenfold.runs.build import counted

WIDTH = 3.3  # inches: one column of a paper
LOOK: dict[Any, Any] = {
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
}
GREY = "#9A9A9A"
IN_COLOUR = 4  # methods that the second figure tells apart
WIDE = 4.0  # an axis whose ends have this ratio is logarithmic
MOST_TICKS = 6


def draw_ranking(ranking: Ranking, path: Path) -> list[Path]:
    """Write two figures per table: `rank.pdf` and `rank-lengths.pdf`; of several tables, with what tells them apart."""
    written = []
    for table, name in zip(ranking.tables, _names(ranking.tables), strict=True):
        here = path.with_name("-".join([path.stem, *filter(None, [name])]) + path.suffix)
        looks = encoding_styles({method.name: method.recipe.pe.name for method in table.methods})
        with rc_context(LOOK):
            written.append(write_figure(_scores(table, looks), here))
            beside = here.with_name(f"{here.stem}-lengths{here.suffix}")
            written.append(write_figure(_against_length(table, looks), beside))
    return written


def _names(tables: Sequence[RankTable]) -> list[str]:
    """Words of a file's name that tell tables apart; of one table, none."""
    keys = ("task", "label", "trained", "metric", "slice", "checkpoint", "lengths", "title")
    words = [{key: str(getattr(table, key)) for key in keys} for table in tables]
    texts = ["-".join(told.values()) for told in tell_apart(words)]
    return [re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") for text in texts]


def _scale(table: RankTable) -> float:
    return 100 if is_share(table.metric) else 1


def _unit(table: RankTable) -> str:
    if table.metric == "exact":
        return RIGHT
    return f"{table.metric}, %" if is_share(table.metric) else table.metric


def _scores(table: RankTable, looks: dict[str, Style]) -> Any:
    """The scores of all methods, the best on top."""
    methods, scale = table.methods, _scale(table)
    height = 0.55 + 0.165 * len(methods)
    figure, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
    for row, method in enumerate(methods):
        values = [scale * value for value in method.scores.values()]
        look, pair = looks[method.name], table.against_reference(method.name)
        color = look.color if method.rank is not None else GREY
        axes.plot([min(values), max(values)], [row, row], color=color, lw=1.1, zorder=2)
        axes.plot(values, [row] * len(values), ".", color=color, ms=3.2, mew=0, alpha=0.7, zorder=3)
        axes.plot(
            [statistics.median(values)],
            [row],
            marker=look.marker,
            ms=4.2,
            color=color,
            mew=0.9,
            clip_on=False,
            mfc="white" if pair and pair.differs else color,
            zorder=4,
        )
    axes.set_yticks(range(len(methods)), [_plain(method.name) for method in methods])
    for text, method in zip(axes.get_yticklabels(), methods, strict=True):
        text.set_color("#000000" if method.rank is not None else "#6A6A6A")
    axes.set_ylim(len(methods) - 0.4, -0.6)
    ranked = sum(method.rank is not None for method in methods)
    if 0 < ranked < len(methods):
        axes.axhline(ranked - 0.5, color=GREY, lw=0.6, ls=(0, (4, 2)))
    everything = [scale * value for method in methods for value in method.scores.values()]
    if is_share(table.metric):
        axes.set_xlim(-2, 102)
    else:
        _value_axis(axes, "x", everything)
    figure.supxlabel(f"{_unit(table)} ({_where(table)})", fontsize=LOOK["axes.labelsize"])
    axes.grid(axis="x", alpha=0.35, lw=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _where(table: RankTable) -> str:
    lengths = table.lengths
    if len(lengths) == 1:
        return f"length {lengths[0]:,}"
    return f"mean over lengths {lengths[0]:,} to {lengths[-1]:,}"


def _against_length(table: RankTable, looks: dict[str, Style]) -> Any:
    """The median over seeds at every measured length; a band is worst to best seed."""
    scale = _scale(table)
    figure, axes = pyplot.subplots(figsize=(WIDTH, 2.3), layout="constrained")
    shown = [method for method in table.methods if method.rank is not None][:IN_COLOUR]
    others = [method for method in table.methods if method not in shown]
    everything: list[float] = []
    for method in others:
        lengths, points = _points(method, scale)
        everything += [value for values in points for value in values]
        medians = [statistics.median(values) for values in points]
        axes.plot(lengths, medians, color="#C4C4C4", lw=0.7, zorder=1)
    for number, method in enumerate(shown):
        lengths, points = _points(method, scale)
        everything += [value for values in points for value in values]
        look, order = looks[method.name], 10 - number
        low, high = list(map(min, points)), list(map(max, points))
        axes.fill_between(lengths, low, high, color=look.color, alpha=0.15, lw=0, zorder=2)
        medians = [statistics.median(values) for values in points]
        axes.plot(
            lengths, medians, **look.line(), ms=3.4, lw=1.2, zorder=order, label=_plain(method.name)
        )  # fmt: skip
    if others:
        rest = "1 other" if len(others) == 1 else f"{len(others)} others"
        axes.plot([], [], color="#C4C4C4", lw=0.7, label=rest)
    _length_axis(axes, table)
    if is_share(table.metric):
        axes.set_ylim(-3, 103)
    else:
        _value_axis(axes, "y", everything)
    axes.set(
        xlabel=f"{counted(table.methods[0].recipe.task)} (shaded: trained)", ylabel=_unit(table)
    )
    axes.grid(alpha=0.35, lw=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper left", ncols=2, columnspacing=1.0, handlelength=2.2)
    return figure


def _points(method: RankedMethod, scale: float) -> tuple[list[int], list[list[float]]]:
    """The measured lengths, and the values of all seeds there."""
    lengths = sorted({length for values in method.values.values() for length in values})
    return lengths, [
        [scale * values[length] for values in method.values.values() if length in values]
        for length in lengths
    ]


def _length_axis(axes: Any, table: RankTable) -> None:
    """The axis of lengths, logarithmic where it is wide; the lengths of training are shaded."""
    lengths = sorted({n for m in table.methods for values in m.values.values() for n in values})
    first, last = lengths[0], lengths[-1]
    if last >= WIDE * first:
        axes.set_xscale("log")
        axes.set_xlim(first / 1.15, last * 1.15)
        shown = [last]  # no two of them so near that their numbers touch
        for length in reversed(lengths):
            if shown[-1] / length >= (last / first) ** (1 / MOST_TICKS):
                shown.append(length)
        axes.set_xticks(shown, [f"{length:,}" for length in shown])
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(first - 0.03 * (last - first), last + 0.03 * (last - first))
        axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS, integer=True))
    if first <= table.trained:
        axes.axvspan(axes.get_xlim()[0], table.trained, color="#000000", alpha=0.07, lw=0, zorder=0)


def _value_axis(axes: Any, which: str, values: Sequence[float]) -> None:
    """An axis of values that are no shares, logarithmic where it is wide and all are positive."""
    low, high = min(values), max(values)
    if low <= 0 or high < WIDE * low:
        return
    axes.set(**{f"{which}scale": "log"})
    shown = ticks(low, high)
    axis = getattr(axes, f"{which}axis")
    axis.set_ticks(shown, [f"{value:g}" for value in shown])
    axis.set_minor_locator(NullLocator())


def _plain(text: str) -> str:
    """Not a formula: a dollar would begin one."""
    return text.replace("$", r"\$")
