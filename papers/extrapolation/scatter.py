"""Two numbers of each of several things against each other: a marker a thing, bars from the worst to the best seed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, LogFormatter

from tenfold.drawing.encoding_style import DASHES, encoding_styles
from tenfold.drawing.figures import save_files
from tenfold.results.row_schema import Row

Values = Mapping[str, Sequence[float]]  # of each recipe, one a seed
FILLS = ("full", "left", "top", "right", "none", "bottom")  # of markers of one encoding, in turn


def values(rows: Sequence[Row], metric: str, slice: str = "uniform") -> dict[str, list[float]]:
    """What rows say of each recipe, in the order of seeds."""
    by_recipe: dict[str, list[float]] = {}
    for row in sorted(rows, key=lambda row: row["seed"]):
        if row["metric"] == metric and (row["slice"] or "uniform") == slice:
            by_recipe.setdefault(row["recipe"], []).append(row["value"])
    return by_recipe


def encodings(rows: Sequence[Row]) -> dict[str, str]:
    """The encoding of each recipe that a run was trained with."""
    return {row["recipe"]: row["encoding"] for row in rows if row.get("encoding")}


def against(
    x: Values,
    y: Values,
    encodings: Mapping[str, str],
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
    """Medians of seeds, with the colour and the marker of each recipe's encoding; `level` draws a line across, `equal` one where both are the same.

    `beside`: another x, drawn as a large hollow marker where it differs, and tied to the first.
    """
    shown = {name: words for name, words in names.items() if x.get(name) and y.get(name)}
    if not shown:
        return []
    figure, axes = pyplot.subplots(figsize=(5.2, 4.2), layout="constrained")
    looks = encoding_styles({name: encodings[name] for name in shown})
    for name, words in shown.items():
        look = looks[name]
        fill = FILLS[(DASHES.index(look.dashes) + len(DASHES) * look.hollow) % len(FILLS)]
        at = statistics.median(x[name]), statistics.median(y[name])
        bars = [[[m - min(v)], [max(v) - m]] for m, v in zip(at, (x[name], y[name]), strict=True)]
        axes.errorbar(
            *at, xerr=bars[0], yerr=bars[1], fmt=look.marker, ms=5, lw=0.8, color=look.color, label=words,
            fillstyle=fill,
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
