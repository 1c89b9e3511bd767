"""A published table of accuracies and ours, cell by cell: a line a method, a column a length.

Shapes: R lines, C columns.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot

from tenfold.drawing.figures import save_files
from tenfold.drawing.figures_from_rows import Series
from tenfold.results.row_schema import Row

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
    """Exact match in percent, the median seed, the worst where it differs, and what was published: `99.8 (97) / 100`.

    `lengths` names columns: ours, and the length of theirs that stands for the same multiple of the training length. What was
    not measured is left blank; a table in which nothing was is not drawn.
    """
    columns = list(lengths.items())
    ours = np.array(
        [[median(rows, name, mine) for mine, _ in columns] for name in series]
    )  # (R, C)
    if np.isnan(ours).all():
        return []
    size = (2.4 + 1.05 * len(columns), 1.0 + 0.42 * len(series))
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    axes.imshow(np.ma.masked_invalid(ours), cmap=PAPER_BLUE, vmin=0, vmax=1.4, aspect="auto")
    for line, name in enumerate(series):
        for place, (mine, theirs) in enumerate(columns):
            text = cell(by_seed(rows, name, mine), published.get(name, {}).get(theirs))
            axes.text(place, line, text, ha="center", va="center", fontsize=8)
    heads = [f"{a}" if a == b else f"{a}\n({b})" for a, b in columns]
    axes.set_xticks(range(len(columns)), heads, fontsize=8)
    axes.set_yticks(range(len(series)), list(series.values()), fontsize=8)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False, bottom=False)
    axes.spines[:].set_visible(False)
    note = "right, %: ours, the median seed (the worst, where it differs) / published"
    if any(mine != theirs for mine, theirs in columns):
        note += "; lengths: ours (theirs)"
    axes.set_xlabel(note, fontsize=7)
    figure.suptitle(title, x=0.02, ha="left", fontsize=10, wrap=True)
    return list(save_files(figure, path))


def median(rows: Sequence[Row], recipe: str, length: int) -> float:
    """Of the best checkpoints of all seeds, at this length; not a number where there is none."""
    values = by_seed(rows, recipe, length)
    return statistics.median(values) if values else float("nan")


def by_seed(rows: Sequence[Row], recipe: str, length: int) -> list[float]:
    """Exact match of every seed's best checkpoint."""
    wanted = {"recipe": recipe, "length": length, "slice": "uniform", "metric": "exact"}
    wanted["checkpoint"] = "best"
    return [row["value"] for row in rows if all(row[key] == wanted[key] for key in wanted)]


def cell(ours: Sequence[float], theirs: float | None) -> str:
    """The median seed, the worst, what was published; a dash for what there is not.

    >>> cell([0.998, 1.0, 0.97], 1.0), cell([0.0], None), cell([], 0.2923)
    ('99.8 (97) / 100', '0 / -', '- / 29.2')
    """
    return f"{seeds(ours, 1.0)} / {percent(theirs)}"


def seeds(ours: Sequence[float], wanted: float) -> str:
    """The median seed and, where it differs, the one that is furthest from what is wanted.

    >>> seeds([0.331, 0.34, 0.275], 1 / 3), seeds([0.2, 0.2, 0.2], 0.5), seeds([], 1.0)
    ('33.1 (27.5)', '20', '-')
    """
    if not ours:
        return "-"
    middle = percent(statistics.median(ours))
    furthest = percent(max(ours, key=lambda share: abs(share - wanted)))
    return middle + (f" ({furthest})" if furthest != middle else "")


def percent(share: float | None) -> str:
    """
    >>> percent(1.0), percent(0.0243), percent(None)
    ('100', '2.4', '-')
    """
    if share is None or np.isnan(share):
        return "-"
    return f"{100 * share:.1f}".removesuffix(".0")
