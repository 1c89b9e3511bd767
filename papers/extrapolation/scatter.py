"""Two numbers of each of several things against each other: a marker a thing, bars from the worst to the best seed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, LogFormatter

from tenfold.drawing.figures import save_files, style
from tenfold.results.row_schema import Row

Values = Mapping[str, Sequence[float]]  # of each recipe, one a seed


def values(rows: Sequence[Row], metric: str, slice: str = "uniform") -> dict[str, list[float]]:
    """What rows say of each recipe, in the order of seeds."""
    by_recipe: dict[str, list[float]] = {}
    for row in sorted(rows, key=lambda row: row["seed"]):
        if row["metric"] == metric and (row["slice"] or "uniform") == slice:
            by_recipe.setdefault(row["recipe"], []).append(row["value"])
    return by_recipe


def against(
    x: Values,
    y: Values,
    names: Mapping[str, str],
    path: Path,
    title: str,
    axes_told: tuple[str, str],
    *,
    beside: Values | None = None,
    level: float | None = None,
    equal: bool = False,
    logarithmic: bool = False,
) -> list[Path]:
    """Medians of seeds; `level` draws a line across, `equal` one where both are the same.

    `beside`: another x, drawn as a large hollow marker where it differs, and tied to the first.
    """
    shown = {name: words for name, words in names.items() if x.get(name) and y.get(name)}
    if not shown:
        return []
    figure, axes = pyplot.subplots(figsize=(5.2, 4.2), layout="constrained")
    for number, (name, words) in enumerate(shown.items()):
        look = style(number)
        at = statistics.median(x[name]), statistics.median(y[name])
        bars = [[[m - min(v)], [max(v) - m]] for m, v in zip(at, (x[name], y[name]), strict=True)]
        axes.errorbar(
            *at, xerr=bars[0], yerr=bars[1], fmt=look.marker, ms=5, lw=0.8, color=look.color, label=words,
            mfc=look.color if number < 7 else "none",
        )  # fmt: skip
        other = statistics.median((beside or {}).get(name) or x[name])
        if other != at[0]:
            axes.plot([other, at[0]], [at[1]] * 2, color=look.color, lw=0.8, dashes=(1, 2))
            axes.plot(other, at[1], look.marker, ms=9, mfc="none", color=look.color)
    if level is not None:
        axes.axhline(level, color="0.5", lw=0.8, dashes=(4, 2))
    if equal:
        ends = axes.get_xlim()
        axes.plot(ends, ends, color="0.5", lw=0.8, dashes=(4, 2))
    axes.set(xlabel=axes_told[0], ylabel=axes_told[1])
    if logarithmic:
        axes.set(xscale="log", yscale="log")
        for each in (axes.xaxis, axes.yaxis):
            each.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            each.set_minor_formatter(
                LogFormatter(minor_thresholds=(1.5, 0.5))
            )  # where decades are few
    axes.grid(alpha=0.4)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, x=0.02, ha="left", fontsize=11, wrap=True)
    figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=8)
    return list(save_files(figure, path))
