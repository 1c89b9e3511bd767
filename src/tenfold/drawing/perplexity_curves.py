"""Perplexity against length: the figure, its section of a page, its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.ticker import NullLocator

from tenfold.drawing import curves as collect
from tenfold.drawing.curves import Curve, Point
from tenfold.drawing.encoding_style import Style, encoding_styles
from tenfold.drawing.figures import (
    LARGE,
    MOST_BANDS,
    SMALL,
    Figure,
    draw_behind,
    panels,
    save_figure,
)
from tenfold.drawing.html import details, legend, table
from tenfold.drawing.palette import SOFT
from tenfold.drawing.report_sections import (
    by_task,
    figure_names,
    heading,
    many,
    slugs,
    styles_of,
    unit_of,
)
from tenfold.drawing.run_groups import Group
from tenfold.results.result_text import as_markdown

NEAR = 1.25  # ticks of a logarithmic axis have at least this ratio
SLICES = ("uniform", "sliding")
TITLE = "Perplexity against length"


def curves(
    groups: Sequence[Group], slice: str = "uniform", metric: str = "perplexity"
) -> list[Curve]:
    """One curve a group that reads text."""
    return collect.curves(groups, slice, metric)


def figures(groups: Sequence[Group]) -> dict[str, str]:
    """The names of the figures by text: `perplexity`, or one for each of several texts."""
    return figure_names("perplexity", [t for t, own in by_task(groups).items() if curves(own)])


def section(groups: Sequence[Group], out: Path, title: str) -> str:
    """A part for each text, whose perplexities have nothing to do with those of another; empty where nobody reads."""
    names, tasks, parts = figures(groups), by_task(groups), []
    for task, own in tasks.items():
        if task in names and len(tasks) == 1:
            parts.append(_section(own, out / names[task], title, 2))
        elif task in names:
            parts.append(f"<h2>{escape(heading(task))}: perplexity</h2>")
            parts.append(_section(own, out / names[task], f"{title}: {task}", 3))
    return "\n".join(parts)


def _section(groups: Sequence[Group], path: Path, title: str, level: int) -> str:
    """The figure, its legend and its tables."""
    drawn_curves, styles = curves(groups), styles_of(groups)
    reading = [group for group in groups if curves([group])]
    n = max(point.n for curve in drawn_curves for point in curve.points)
    caption = (
        f"The same {n:,} tokens at every length, in blocks of it one after another. Line: median over seeds. "
        "Band: worst to best seed; of one seed, the 95% bootstrap interval over passages of the text."
    )
    if len(drawn_curves) > MOST_BANDS:
        grey = f"{caption} In grey: the other {len(drawn_curves) - 1} curves."
        figure = f'<p class="soft">{grey}</p>{_alone(drawn_curves, styles, path, title)}'
    else:
        drawn = perplexity_by_length(drawn_curves, path, title, styles)
        shown = legend(reading, styles)
        figure = f"<figure>{drawn.svg}{shown}<figcaption>{caption}</figcaption></figure>"
    parts = [
        figure,
        f"<h{level}>Perplexity by length</h{level}>",
        _by_length(drawn_curves),
    ]
    for name, words in (("sliding", "Blocks that overlap by three quarters"),):
        if also := curves(groups, name):
            parts.append(details(words, _by_length(also)))
    for metric, words in (("bits-per-byte", "Bits per byte"), ("loss", "Loss, nats a token")):
        if also := curves(groups, "uniform", metric):
            parts.append(details(words, _by_length(also)))
    if places := _by_place(groups):
        parts.append(details("Loss by how many tokens are in sight, at the longest length", places))
    return "\n".join(parts)


def _alone(shown: Sequence[Curve], styles: Mapping[str, Style], path: Path, title: str) -> str:
    """Each curve before the others in grey; the same in one file."""
    panels(shown, path, title, lambda axes, c: _panel(axes, shown, styles, c.name))
    drawn = []
    for curve, slug in zip(shown, slugs([each.name for each in shown]), strict=True):
        figure, axes = pyplot.subplots(figsize=SMALL, layout="constrained")
        _panel(axes, shown, styles, curve.name)
        own = path.with_name(f"{path.name}-{slug}")
        drawn.append((curve.name, save_figure(figure, own, curve.name, None).svg))
    return many(drawn)


def _panel(axes: Any, shown: Sequence[Curve], styles: Mapping[str, Style], alone: str) -> None:
    for curve in shown:
        if curve.name == alone:
            _draw(axes, curve, styles[curve.name], band=True)
        else:
            draw_behind(axes, [curve])
    _axes(axes, shown, "perplexity", None, None)


def markdown(groups: Sequence[Group]) -> str:
    """The tables as Markdown: median (worst-best seed) by length, a column a recipe."""
    text = ""
    for name in SLICES:
        if shown := curves(groups, name):
            lengths = sorted({point.length for curve in shown for point in curve.points})
            cells = [{point.length: cell(point) for point in curve.points} for curve in shown]
            rows = [[length, *(each.get(length, "") for each in cells)] for length in lengths]
            lines = as_markdown([shown[0].counted, *(curve.name for curve in shown)], rows)
            text += f"\n## Perplexity, slice {name}, best checkpoint\n\n{lines}"
    return text


def cell(point: Point) -> str:
    """`5.73 (5.51-5.96)`."""
    low, high = point.spread
    return f"{point.median:.4g} ({low:.4g}-{high:.4g})"


def _by_length(shown: Sequence[Curve]) -> str:
    rows = {curve.name: {point.length: _cell(point) for point in curve.points} for curve in shown}
    return table(rows, {curve.name: curve.label for curve in shown}, unit_of(shown))


def _cell(point: Point) -> str:
    low, high = point.spread
    return f"{point.median:.4g}<small>{low:.4g}-{high:.4g}</small>"


def _by_place(groups: Sequence[Group]) -> str:
    """The last places of a block have most in sight: does the loss still fall there?"""
    rows: dict[str, dict[int, str]] = {}
    for group in groups:
        longest = max((row["length"] for row in group.rows), default=0)
        for name in dict.fromkeys(row["slice"] for row in group.rows):
            if name.startswith("position-"):
                last = int(name.rpartition("-")[2])
                losses = collect.curves([group], name, "loss")
                at = {p.length: p for curve in losses for p in curve.points}
                if longest in at:
                    rows.setdefault(group.name, {})[last] = f"{at[longest].median:.3f}"
    return table(rows, None, "tokens") if rows else ""


def perplexity_by_length(
    lines: Sequence[Curve],
    path: Path,
    title: str,
    styles: Mapping[str, Style] | None = None,
    *,
    behind: Sequence[Curve] = (),
    quantity: str = "perplexity",
    level: float | None = None,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Both axes logarithmic, or the second plain within `limits`; `level` draws a line across. Lengths of training are shaded.

    Curves of `behind` are grey and have no place in the legend.
    """
    styles = styles or encoding_styles({curve.name: curve.encoding for curve in lines})
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    for curve in lines:
        _draw(axes, curve, styles[curve.name], band=len(lines) <= MOST_BANDS)
    draw_behind(axes, behind)
    _axes(axes, lines, quantity, level, limits, behind)
    return save_figure(figure, path, title, [curve.name for curve in lines])


def _axes(
    axes: Any,
    lines: Sequence[Curve],
    quantity: str,
    level: float | None,
    limits: tuple[float, float] | None,
    behind: Sequence[Curve] = (),
) -> None:
    every = sorted({point.length for curve in (*lines, *behind) for point in curve.points})
    lengths = [n for n in every if n not in behind_another(every)]
    axes.set(xscale="log", xlabel=lines[0].counted, ylabel=quantity)
    axes.set_xticks(lengths, [f"{length:,}" for length in lengths], rotation=35, ha="right")
    axes.xaxis.set_minor_locator(NullLocator())
    if limits is None:
        axes.set(yscale="log")
        shown = ticks(*axes.get_ylim())
        axes.set_yticks(shown, [f"{value:g}" for value in shown])
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set(ylim=limits)
    if level is not None:
        axes.axhspan(level, level, color="0.5", lw=0.8, ls=(0, (4, 2)))
        axes.annotate(f"{level:g}", (1, level), xycoords=("axes fraction", "data"), fontsize=8)
    trained = sorted({curve.trained or 0 for curve in lines})
    left = axes.get_xlim()[0]
    axes.axvspan(left, trained[-1], color="#000000", alpha=0.06, lw=0)
    axes.set_xlim(left=left)
    upto = " or ".join(f"{length:,}" for length in trained)
    axes.set_title(f"trained on {upto} tokens", fontsize=9, color=SOFT, loc="left")
    axes.grid(alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)


def behind_another(lengths: Sequence[int]) -> set[int]:
    """Lengths without a tick: on a logarithmic axis they would run into the one before.

    >>> behind_another([16, 32, 128, 256, 288, 512])
    {288}
    """
    last, hidden = 0.0, set()
    for length in lengths:
        if length < NEAR * last:
            hidden.add(length)
        else:
            last = length
    return hidden


def ticks(low: float, high: float) -> list[float]:
    """Round numbers; where a narrow range has few of them, numbers of three digits.

    >>> ticks(4, 31)
    [5.0, 7.0, 10.0, 15.0, 20.0, 30.0]
    >>> ticks(5.31, 5.79)
    [5.35, 5.45, 5.55, 5.65, 5.75]
    """
    steps = (1, 1.5, 2, 3, 5, 7)
    ticks = [float(d * 10**e) for e in range(9) for d in steps if low <= d * 10**e <= high]
    if len(ticks) >= 3:
        return ticks
    edge = 0.08 * (high - low)
    return [float(f"{value:.3g}") for value in np.linspace(low + edge, high - edge, 5)]


def _draw(axes: Any, curve: Curve, style: Style, band: bool) -> None:
    x, y = [p.length for p in curve.points], [p.median for p in curve.points]
    if band:
        low, high = zip(*(point.spread for point in curve.points), strict=True)
        axes.fill_between(x, low, high, color=style.color, alpha=0.18, lw=0)
    axes.plot(x, y, ms=4.5, lw=1.7, **style.line())
