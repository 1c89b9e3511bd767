"""Figures 13 and 14 of the `symmetry` paper: the shares of sums and products by their longest run.

Bars are exact counts. Dots are shares of sampled problems with 95% intervals. The axis is logarithmic, because shares
beyond a run of 3 are too small for a linear axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import pyplot

from tenfold.core.errors import TenfoldError
from tenfold.drawing.figures import save_files
from tenfold.drawing.palette import PALETTE

Row = dict[str, Any]
LEAST = 1e-6  # the smallest share in the figures
LONGEST = 8  # the longest run in the figures
GREY = "#555555"


@dataclass(frozen=True)
class PlottedSeries:
    """Rows of one kind, such as `symmetry/cascades`. Slice "" is exact; a sampled slice has intervals."""

    recipe: str
    slice: str
    words: str


SUMS = (
    PlottedSeries("symmetry/cascades", "", "longest cascade"),
    PlottedSeries("symmetry/carries", "", "carries in a row"),
)
PRODUCTS = (
    PlottedSeries("symmetry/levels", "", "multiplier of 1 digit"),
    PlottedSeries("symmetry/levels", "drawn-multiplier-2", "of 2 digits (drawn)"),
    PlottedSeries("symmetry/levels", "drawn-multiplier-3", "of 3 digits (drawn)"),
)


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw Figures 13 and 14 from the rows of `symmetry/distributions`. Returns the PNG and SVG files."""
    sums = "sums cascade past 4", "columns in a row"
    products = "one-digit products past 4", "levels"
    return [
        *_figure(rows, folder / "figure-13", SUMS, (50, 5), *sums),
        *_figure(rows, folder / "figure-14", PRODUCTS, (20, 5), *products),
    ]


def _figure(
    rows: Sequence[Row],
    path: Path,
    series: Sequence[PlottedSeries],
    lengths: Sequence[int],
    past: str,
    along: str,
) -> list[Path]:
    figure, panels = pyplot.subplots(
        1, len(lengths), figsize=(7.2, 3.0), sharey=True, layout="constrained"
    )
    for axes, length in zip(panels, lengths, strict=True):
        for number, each in enumerate(series):
            _bars(axes, rows, each, length, number, len(series))
        beyond = 1 - _rows_by_metric(rows, series[0], length)["at-most-4"]["value"]
        axes.set_title(f"{length} digits: {100 * beyond:.2g}% of {past}", loc="left", fontsize=9)
        axes.axvline(4.5, color=GREY, lw=0.7, ls=":", zorder=0)
        axes.set(yscale="log", ylim=(LEAST, 1.5), xlim=(-0.6, LONGEST + 0.6), xlabel=along)
        axes.set_xticks(range(LONGEST + 1))
        axes.set_axisbelow(True)
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("share of all")
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside lower left",
        ncols=len(series),
        frameon=False,
        fontsize=8,
    )
    return list(save_files(figure, path))


def _bars(
    axes: Any, rows: Sequence[Row], series: PlottedSeries, length: int, number: int, of: int
) -> None:
    by_metric = _rows_by_metric(rows, series, length)
    by_run = {
        run: by_metric[f"exactly-{run}"]
        for run in range(LONGEST + 1)
        if f"exactly-{run}" in by_metric
    }
    shown = {run: row for run, row in by_run.items() if row["value"] >= LEAST}
    wide = 0.8 / of
    x = [run + (number - (of - 1) / 2) * wide for run in shown]
    y = [row["value"] for row in shown.values()]
    color = PALETTE[number]
    if all(row["low"] is None for row in shown.values()):
        axes.bar(x, y, wide * 0.95, color=color, label=series.words)
        return
    below = [row["value"] - row["low"] for row in shown.values()]
    above = [row["high"] - row["value"] for row in shown.values()]
    axes.errorbar(
        x, y, [below, above], fmt="o", ms=3.5, lw=1, capsize=1.5, color=color, label=series.words
    )


def _rows_by_metric(rows: Sequence[Row], series: PlottedSeries, length: int) -> dict[str, Row]:
    """The rows of a series at a length, by metric."""
    by_metric = {
        row["metric"]: row
        for row in rows
        if (row["recipe"], row["slice"], row["length"]) == (series.recipe, series.slice, length)
    }
    if "at-most-4" not in by_metric:
        raise TenfoldError(
            f'no row "at-most-4" of {series.recipe} at {length} digits; '
            "tenfold reproduce symmetry/distributions measures it"
        )
    return by_metric
