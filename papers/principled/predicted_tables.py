"""Measured beside predicted beside published, cell by cell: a line a recipe, a column a length.

Shapes: R lines, C columns.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot

from tenfold.drawing.figures import save_files
from tenfold.drawing.figures_from_rows import (
    PAPER_BLUE,
    Published,
    Series,
    by_seed,
    median,
    percent,
    seeds,
)
from tenfold.results.row_schema import Row


def table(
    rows: Sequence[Row], series: Series, published: Published, path: Path, title: str
) -> list[Path]:
    """Exact match in percent; what was predicted; what was published: `33.1 (27.5) / 33.3 / -`.

    Measured is the median seed, in brackets the furthest from the prediction where it differs. Lengths are those that were
    measured. The darker a cell, the further median and prediction are apart. Published numbers are given by our lengths.
    Without rows nothing is drawn.
    """
    shown = {name: words for name, words in series.items() if any(r["recipe"] == name for r in rows)}  # fmt: skip
    lengths = sorted({r["length"] for r in rows if r["recipe"] in shown and r["length"]})
    if not lengths:
        return []
    ours = np.array([[median(rows, name, length) for length in lengths] for name in shown])
    counted = np.array([[predicted(rows, name, length) for length in lengths] for name in shown])
    size = (2.2 + 1.6 * len(lengths), 1.0 + 0.34 * len(shown))
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    apart = np.ma.masked_invalid(np.abs(ours - counted))  # (R, C)
    axes.imshow(apart, cmap=PAPER_BLUE, vmin=0, vmax=1.4, aspect="auto")
    for line, name in enumerate(shown):
        for place, length in enumerate(lengths):
            theirs = published.get(name, {}).get(length)
            text = cell(by_seed(rows, name, length), float(counted[line, place]), theirs)
            axes.text(place, line, text, ha="center", va="center", fontsize=7.5)
    axes.set_xticks(range(len(lengths)), [str(length) for length in lengths], fontsize=8)
    axes.set_yticks(range(len(shown)), list(shown.values()), fontsize=8)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False, bottom=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(
        "right, %: the median seed (the furthest from the prediction, where it differs) / predicted / published, "
        "by digits of the longer number",
        fontsize=7,
    )
    figure.suptitle(title, x=0.02, ha="left", fontsize=10, wrap=True)
    return list(save_files(figure, path))


def predicted(rows: Sequence[Row], recipe: str, length: int) -> float:
    """What theory counts at this length; not a number where it does not."""
    wanted = {"recipe": recipe, "length": length, "metric": "exact-predicted", "slice": "uniform"}
    values = [row["value"] for row in rows if all(row[key] == wanted[key] for key in wanted)]
    return statistics.median(values) if values else float("nan")


def cell(measured: Sequence[float], counted: float, theirs: float | None) -> str:
    """`33.1 (27.5) / 33.3 / -`; a dash for what there is not. Where nothing is counted, the lowest seed is in brackets.

    >>> cell([0.331, 0.34, 0.275], 1 / 3, None), cell([0.02], 0.024, 0.026), cell([], math.nan, 1.0)
    ('33.1 (27.5) / 33.3 / -', '2 / 2.4 / 2.6', '- / - / 100')
    """
    wanted = 1.0 if math.isnan(counted) else counted
    return f"{seeds(measured, wanted)} / {percent(counted)} / {percent(theirs)}"
