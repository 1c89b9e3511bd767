"""Figures of an experiment from its rows: accuracy by length, by how far a carry runs, over training, beside a table.

`series` names what is shown, in its order: `{"symmetry/addition-relative": "relative"}`. What has no rows (a smoke run
measures little) is left out, and a figure without anything to show is not drawn.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.ticker import MaxNLocator

from tenfold.drawing.curves import Curve, Point
from tenfold.drawing.encoding_style import Style, encoding_styles, style
from tenfold.drawing.figures import (
    LARGE,
    RIGHT,
    SMALL,
    accuracy_by_length,
    draw_accuracy,
    save_figure,
    save_files,
)
from tenfold.drawing.palette import GREY, PALETTE
from tenfold.drawing.perplexity_curves import perplexity_by_length
from tenfold.results.row_schema import Row
from tenfold.runs.build import counted as what_counts

Published = Mapping[str, Mapping[int, float]]  # by recipe, by their length: a share of 1
PAPER_BLUE = "Blues"  # the darker, the more is right
Series = Mapping[str, str]
Place = Callable[[Row], int | None]  # where on the axis a row stands


def by_length(
    rows: Sequence[Row],
    series: Series,
    path: Path,
    title: str,
    *,
    slice: str = "uniform",
    of: str = RIGHT,
) -> list[Path]:
    """Exact match against length, median and worst to best seed; the lengths of training are shaded. `of`: what shares are of."""
    curves = _curves(rows, series, lambda row: _is(row, slice) and row["length"])
    return _drawn(curves, path, title, of)


def side_by_side(
    rows: Sequence[Row],
    panels: Mapping[str, Series],
    path: Path,
    title: str,
    *,
    slice: str = "uniform",
    of: str = RIGHT,
) -> list[Path]:
    """The same with a panel for each of several series, under its name; one legend, the words of the first panel."""
    shown = {
        name: _curves(rows, series, lambda row: _is(row, slice) and row["length"])
        for name, series in panels.items()
    }
    shown = {name: curves for name, curves in shown.items() if curves}
    if not shown:
        return []
    size = (SMALL[0] * len(shown), SMALL[1])
    figure, grid = pyplot.subplots(1, len(shown), figsize=size, layout="constrained", squeeze=False)
    for axes, (name, curves) in zip(grid[0], shown.items(), strict=True):
        looks = _looks({curve.name: curve.encoding for curve in curves})
        draw_accuracy(axes, curves, looks, small=True, of=of)
        axes.set_title(name, fontsize=9, loc="left", pad=18)
    legend = [curve.name for curve in next(iter(shown.values()))]
    return list(save_figure(figure, path, title, legend).files)


def perplexity(
    rows: Sequence[Row], series: Series, path: Path, title: str, *, slice: str = "uniform"
) -> list[Path]:
    """Perplexity against length, median and worst to best seed, both on logarithmic axes."""
    curves = _curves(_perplexities(rows, slice), series, lambda row: row["length"])
    if not curves:
        return []
    looks = _looks({curve.name: curve.encoding for curve in curves})
    return list(perplexity_by_length(curves, path, title, looks).files)


def rise(
    rows: Sequence[Row],
    series: Series,
    path: Path,
    title: str,
    *,
    level: float,
    limits: tuple[float, float],
) -> list[Path]:
    """The same over that at the training length, each seed over its own, within limits; a line at a level."""
    measured = _perplexities(rows, "uniform")
    once = {(r["recipe"], r["seed"]): r["value"] for r in measured if r["length"] == r["trained"]}
    risen = [
        {**row, "value": row["value"] / once[row["recipe"], row["seed"]], "low": None, "high": None}
        for row in measured
        if (row["recipe"], row["seed"]) in once
    ]
    curves = _curves(risen, series, lambda row: row["length"])
    if not curves:
        return []
    quantity = "times that at the training length"
    drawn = perplexity_by_length(curves, path, title, quantity=quantity, level=level, limits=limits)
    return list(drawn.files)


def laid_over(
    rows: Sequence[Row], behind: Sequence[Row], change: str, path: Path, title: str
) -> list[Path]:
    """Curves of changed runs before those that they were changed from, in grey: exact match, and perplexity.

    `change` says in the legend what was changed. The files are `PATH-exact` and `PATH-perplexity`, as far as there are rows.
    """
    files: list[Path] = []
    for metric, draw in (("exact", accuracy_by_length), ("perplexity", perplexity_by_length)):
        looks: dict[str, Style] = {}
        shown: list[Curve] = []
        for part, words in ((behind, "{}, as committed"), (rows, "{} with " + change)):
            measured = [row for row in part if _is(row, "uniform", metric)]
            names = dict.fromkeys(row["recipe"] for row in measured)
            series = {name: words.format(name.partition("/")[2] or name) for name in names}
            curves = _curves(measured, series, lambda row: row["length"])
            styles = encoding_styles({curve.name: curve.encoding for curve in curves})
            looks |= {
                name: replace(look, color=GREY) if part is behind else look
                for name, look in styles.items()
            }
            shown += curves
        if any(_is(row, "uniform", metric) for row in rows):
            drawn = draw(shown, path.with_name(f"{path.name}-{metric}"), title, looks)
            files += drawn.files
    return files


def _perplexities(rows: Sequence[Row], slice: str) -> list[Row]:
    return [row for row in rows if _is(row, slice, "perplexity")]


def by_run(
    rows: Sequence[Row], series: Series, path: Path, title: str, *, length: int, kind: str
) -> list[Path]:
    """Exact match of sums of this length against their longest run: `kind` is "cascade" or "carries".

    Nothing is shaded: what was trained on are lengths, and no lengths stand on this axis.
    """
    pattern = re.compile(rf"{kind}-(\d+|all)")

    def run(row: Row) -> int | None:
        match = pattern.fullmatch(row["slice"])
        if match is None or row["length"] != length or not _is(row, row["slice"]):
            return None
        return length if match[1] == "all" else int(match[1])

    words = {
        "cascade": "columns that a carry runs over",
        "carries": "carries in a row, none running on",
    }
    return _drawn(_curves(rows, series, run, words[kind]), path, title)


def by_count(
    rows: Sequence[Row],
    series: Series,
    path: Path,
    title: str,
    *,
    length: int,
    counts: Sequence[int],
) -> list[Path]:
    """Exact match at one length against the size of the training set: rows of recipes such as `tiny/adder-from-300`."""
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    used = {name: {f"{name}-from-{count}" for count in counts} for name in series}
    encodings = {
        name: next((row["encoding"] for row in rows if row["recipe"] in used[name]), "")
        for name in series
    }
    looks = _looks(encodings)
    for name, words in series.items():
        values = {count: _values(rows, f"{name}-from-{count}", length) for count in counts}
        _seeds(axes, looks[name], values, words)
    axes.set(xscale="log", xlabel="problems in the training set", ylabel=RIGHT, ylim=(-3, 103))  # fmt: skip
    return _saved(figure, axes, path, title)


def against(
    rows: Sequence[Row],
    settings: Mapping[str, float],
    times: Sequence[int],
    path: Path,
    title: str,
    words: str,
) -> list[Path]:
    """Exact match against a setting, a line for each multiple of the training length; `settings` by recipe."""
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    for number, many in enumerate(times):
        values = {
            setting: [
                100 * row["value"]
                for row in rows
                if row["recipe"] == recipe and _is(row, "uniform") and row["length"] == many * row["trained"]
            ]
            for recipe, setting in settings.items()
        }  # fmt: skip
        entry = "the training length" if many == 1 else f"{many} times that"
        _seeds(axes, style(number), values, entry)
    axes.set(xlabel=words, ylabel=RIGHT, ylim=(-3, 103))
    return _saved(figure, axes, path, title)


def by_digit(
    rows: Sequence[Row], recipe: str, metrics: Series, path: Path, title: str
) -> list[Path]:
    """R^2 of every answer digit, the units first: rows `explained-1`, `explained-2`, ... of each metric that is named."""
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    for number, (metric, words) in enumerate(metrics.items()):
        by_digit: dict[int, list[float]] = {}
        for row in rows:
            digit = re.fullmatch(rf"{metric}-(\d+)", row["metric"])
            if digit is not None and row["recipe"] == recipe:
                by_digit.setdefault(int(digit[1]), []).append(row["value"])
        _seeds(axes, style(number), dict(sorted(by_digit.items())), words)
    axes.set(xlabel="digit of the answer, from the units on", ylabel="R$^2$")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return _saved(figure, axes, path, title)


def _seeds(axes: Any, look: Style, values: Mapping[Any, Sequence[float]], words: str) -> None:
    """A line through the median seeds, and from the worst to the best."""
    at = [place for place in values if values[place]]
    if at:
        middle = [statistics.median(values[place]) for place in at]
        low, high = ([pick(values[place]) for place in at] for pick in (min, max))
        axes.fill_between(at, low, high, color=look.color, alpha=0.15, lw=0)
        axes.plot(at, middle, ms=4, lw=1.4, label=words, **look.line())


def _values(rows: Sequence[Row], recipe: str, length: int) -> list[float]:
    """In percent, a number a seed."""
    own = (row for row in rows if (row["recipe"], row["length"]) == (recipe, length))
    return [100 * row["value"] for row in own if _is(row, "uniform")]


def over_training(
    rows: Sequence[Row], recipe: str, path: Path, title: str, lengths: Sequence[int]
) -> list[Path]:
    """Exact match of every checkpoint, a line a seed, a colour a length; rows of the checkpoints `step-100`, ..."""
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    for number, length in enumerate(lengths):
        entry = f"{length} digits"
        for seed in sorted({row["seed"] for row in rows}):
            points = sorted(
                (row["steps"], 100 * row["value"])
                for row in rows
                if (row["recipe"], row["length"], row["seed"]) == (recipe, length, seed)
                and row["metric"] == "exact"
                and row["checkpoint"].startswith("step-")
            )
            if points:
                axes.plot(*zip(*points, strict=True), color=PALETTE[number], lw=1.1, label=entry)
                entry = "_"  # one entry a length
    axes.set(xlabel="steps of training", ylabel=RIGHT, ylim=(-3, 103))
    return _saved(figure, axes, path, title)


def beside_published(
    measured: Mapping[str, Sequence[float]],
    published: Mapping[str, tuple[float, float]],
    path: Path,
    title: str,
) -> list[Path]:
    """A published table and ours: a bar a line with its worst and best seed, a cross for what was published."""
    names = [name for name in published if measured.get(name)]
    if not names:
        return []
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    middle = [100 * statistics.median(measured[name]) for name in names]
    below = [m - 100 * min(measured[name]) for m, name in zip(middle, names, strict=True)]
    above = [100 * max(measured[name]) - m for m, name in zip(middle, names, strict=True)]
    x = range(len(names))
    axes.bar(x, middle, 0.6, yerr=[below, above], capsize=2, color=PALETTE[1], label="ours")
    theirs = [[100 * value for value in published[name]] for name in names]
    axes.errorbar(
        x, [mean for mean, _ in theirs], [width for _, width in theirs],
        fmt="x", ms=6, capsize=2, color=PALETTE[0], label="the paper",
    )  # fmt: skip
    axes.set_xticks(x, names, rotation=35, ha="right", fontsize=8)
    axes.set(ylabel="right, %", ylim=(0, 103))
    return _saved(figure, axes, path, title)


def measured_as(rows: Sequence[Row], metric: str) -> list[Row]:
    """Rows of another share, in the place of exact match: of `exact-truncated` the same figures can be drawn."""
    return [{**row, "metric": "exact"} for row in rows if row["metric"] == metric]


def _is(row: Row, slice: str, metric: str = "exact") -> bool:
    """Whether a row has this slice and metric, of the best checkpoint with the run's own encoding."""
    stated = (row["slice"], row["metric"], row["checkpoint"])
    return stated == (slice, metric, "best") and not row.get("evaluated_pe")


def _curves(
    rows: Sequence[Row], series: Series, place: Place, counted: str | None = None
) -> list[Curve]:
    curves = []
    for recipe, words in series.items():
        at: dict[int, list[Row]] = {}
        own = [row for row in rows if row["recipe"] == recipe]
        for row in own:
            if where := place(row):
                at.setdefault(where, []).append(row)
        if at:
            points = tuple(_point(where, at[where]) for where in sorted(at))
            counts = counted or what_counts(own[0]["task"])
            trained = own[0]["trained"] if counted is None else None
            curves.append(Curve(words, "", points, trained, counts, own[0]["encoding"]))
    return curves


def _point(where: int, rows: Sequence[Row]) -> Point:
    middle = sorted(rows, key=lambda row: row["value"])[(len(rows) - 1) // 2]
    values = tuple(row["value"] for row in rows)
    low, high = (middle["value"] if middle[key] is None else middle[key] for key in ("low", "high"))
    return Point(where, values, low, high, middle["n"])


def _drawn(curves: Sequence[Curve], path: Path, title: str, of: str = RIGHT) -> list[Path]:
    if not curves:
        return []
    looks = _looks({curve.name: curve.encoding for curve in curves})
    return list(accuracy_by_length(curves, path, title, looks, of=of).files)


def _looks(encodings: Mapping[str, str]) -> dict[str, Style]:
    """Looks by encoding; where a figure compares models of one encoding, colours tell these apart instead."""
    if len(set(encodings.values())) == 1 < len(encodings):
        return {name: style(number) for number, name in enumerate(encodings)}
    return encoding_styles(encodings)


def _saved(figure: Any, axes: Any, path: Path, title: str) -> list[Path]:
    axes.grid(alpha=0.4)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if not axes.has_data():
        pyplot.close(figure)
        return []
    figure.suptitle(title, x=0.02, ha="left", fontsize=11, wrap=True)
    figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8)
    return list(save_files(figure, path))


def published_table(
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
    return [row["value"] for row in rows if (row["recipe"], row["length"]) == (recipe, length) and _is(row, "uniform")]  # fmt: skip


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
