"""A published table of accuracies and ours, cell by cell: a line a method, a column a length.

Shapes: R lines, C columns.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot

from tenfold.lab.committed import Row
from tenfold.report.figures import save_files
from tenfold.report.from_rows import Series

Published = Mapping[str, Mapping[int, float]]  # by recipe, by their length: a share of 1
PAPER_BLUE = "Blues"  # the darker, the more is right


def table(
    rows: Sequence[Row],
    series: Series,
    lengths: Mapping[int, int],
    published: Published,
    path: Path,
    title: str,
) -> list[Path]:
    """Exact match in percent, the median seed, and below it what was published: `99.8 / 100`.

    `lengths` names columns: ours, and the length of theirs that stands for the same multiple of the training length. What was
    not measured is left blank; a table in which nothing was is not drawn.
    """
    columns = list(lengths.items())
    ours = np.array(
        [[median(rows, name, mine) for mine, _ in columns] for name in series]
    )  # (R, C)
    if np.isnan(ours).all():
        return []
    size = (2.4 + 0.95 * len(columns), 1.0 + 0.42 * len(series))
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    axes.imshow(np.ma.masked_invalid(ours), cmap=PAPER_BLUE, vmin=0, vmax=1.4, aspect="auto")
    for line, name in enumerate(series):
        for place, (_, theirs) in enumerate(columns):
            told = cell(float(ours[line, place]), published.get(name, {}).get(theirs))
            axes.text(place, line, told, ha="center", va="center", fontsize=8)
    heads = [f"{a}" if a == b else f"{a}\n({b})" for a, b in columns]
    axes.set_xticks(range(len(columns)), heads, fontsize=8)
    axes.set_yticks(range(len(series)), list(series.values()), fontsize=8)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False, bottom=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("right, %: ours / published; lengths: ours (theirs)", fontsize=7)
    figure.suptitle(title, x=0.02, ha="left", fontsize=10, wrap=True)
    return list(save_files(figure, path))


def median(rows: Sequence[Row], recipe: str, length: int) -> float:
    """Of the best checkpoints of all seeds, at this length; not a number where there is none."""
    asked = {"recipe": recipe, "length": length, "slice": "uniform", "metric": "exact"}
    asked["checkpoint"] = "best"
    found = [row["value"] for row in rows if all(row[key] == asked[key] for key in asked)]
    return statistics.median(found) if found else float("nan")


def cell(ours: float, theirs: float | None) -> str:
    """`99.8 / 100`; a dash for what there is not.

    >>> cell(0.998, 1.0), cell(0.0, None), cell(float("nan"), 0.2923)
    ('99.8 / 100', '0 / -', '- / 29.2')
    """
    return f"{percent(ours)} / {percent(theirs)}"


def percent(share: float | None) -> str:
    """
    >>> percent(1.0), percent(0.0243), percent(None)
    ('100', '2.4', '-')
    """
    if share is None or np.isnan(share):
        return "-"
    return f"{100 * share:.1f}".removesuffix(".0")
