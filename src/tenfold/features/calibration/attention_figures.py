"""Figures of attention before and after calibration, by length, and of calibrated lines next to learned biases."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from tenfold.drawing.curves import Curve, Point
from tenfold.drawing.encoding_style import encoding_styles
from tenfold.drawing.figures import Figure, draw_accuracy, save_figure
from tenfold.drawing.palette import PALETTE
from tenfold.encodings import Attends, Calibrated
from tenfold.encodings.calibrated import OPERANDS
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.line_selection import Head
from tenfold.features.calibration.question_attention import Looks, Place, looks_of
from tenfold.features.calibration.shared_lines import InCommon, Kind
from tenfold.results.collect import checked_result
from tenfold.results.row_schema import Row
from tenfold.runs.run import Run

Matrix = NDArray[np.float64]
Token = tuple[str, int]  # keys and place: ("operand 1", 0) is its units, ("operator", -1)
ROLES = ("text", "operator", "answer", *OPERANDS)  # in the order of role numbers
NONE = "#CCCCCC"  # cells without attention
OWN = "#FAFAFA"  # dots on the cells of a digit's own column
SHOWN = {  # metric: words, dashed where it is chance
    "one-head-on-column": ("one head leads on the own column", ()),
    "one-head-where-trained": ("the same head, where it led in training (first digits)", (1, 1.5)),
    "weight-on-columns": ("weight on own and previous column, all heads", ()),
    "weight-by-chance": ("the same if attention were even", (5, 2)),
}


def tokens_of(measured: Looks) -> list[Token]:
    """The tokens of the first problem's question, in order: ("operand 1", 4), ..., ("operator", -1), ..."""
    role, place = (measured.at[axis][0].tolist() for axis in ("role", "significance"))
    return [(ROLES[r], p) for r, p in zip(role, place, strict=True)]


def panel(axes: Any, values: Matrix, measured: Looks, title: str, *, low: float = 0.0, high: float = 1.0) -> None:  # fmt: skip
    """Draw a head's attention to the question, or a bias. Dots mark the column of each answer digit."""
    graded = measured.graded.any(0)
    matrix(axes, values[graded.numpy()], tokens_of(measured), low, high)
    rows, keys = measured.own()[0, graded].nonzero(as_tuple=True)
    # visible on the darkest and on the lightest cell
    for ink, size in (("#101010", 7.0), (OWN, 3.0)):
        axes.scatter(keys.tolist(), rows.tolist(), s=size, color=ink, lw=0)
    axes.set_ylabel("answer digit", fontsize=7)
    axes.set_title(title, fontsize=8, loc="left")


def attention(
    axes: Any, measured: Looks, place: Place, words: str = "", *, high: float = 1.0
) -> None:
    """Draw one head's mean attention, with the share of digits whose own column has the most: `4 digits: 100%`."""
    layer, head = place
    share = float(measured.each_head[layer - 1, head - 1])
    digits = int(measured.graded.any(0).sum())
    values = measured.mean(layer, head).double().numpy()
    panel(axes, values, measured, f"{words}{digits} digits: {share:.0%}", high=high)


def strongest(measured: Sequence[Looks], place: Place) -> float:
    """The largest mean attention of one head to one token, so that several panels share a colour scale."""
    return max(float(each.mean(*place)[each.graded.any(0)].max()) for each in measured)


def right_then_lost(
    short: Looks, long: Looks, place: Place, rows: Sequence[Row], path: Path, title: str
) -> Figure:
    """Draw one head at the training length and at a longer one, then shares against length: median, worst and best seed."""
    figure, (left, middle, right) = pyplot.subplots(
        1, 3, figsize=(9.6, 3.1), layout="constrained", width_ratios=(1, 1.35, 1.35)
    )
    high = strongest((short, long), place)
    attention(left, short, place, f"layer {place[0]}, head {place[1]}, ", high=high)
    attention(middle, long, place, "the same, ", high=high)
    for number, (metric, (words, dashes)) in enumerate(SHOWN.items()):
        by_length = _by_length(rows, metric)
        color = PALETTE[min(number, 2)]
        lengths = list(by_length)
        middle_values = [100 * statistics.median(by_length[n]) for n in lengths]
        right.plot(lengths, middle_values, color=color, dashes=dashes or (None, None), lw=1.5, label=words)  # fmt: skip
        worst, best = ([100 * pick(by_length[n]) for n in lengths] for pick in (min, max))
        right.fill_between(lengths, worst, best, color=color, alpha=0.15, lw=0)
    trained = max((row["trained"] for row in rows if row["trained"]), default=0)
    right.axvspan(0.5, trained + 0.5, color="#000000", alpha=0.06, lw=0)
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.set(ylim=(-3, 103))
    right.set_xlabel("digits; shaded: trained on", fontsize=8)
    right.set_ylabel("%", fontsize=8)
    right.tick_params(labelsize=7)
    right.grid(alpha=0.4)
    right.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower right", ncols=2, frameon=False, fontsize=7)
    return save_figure(figure, path, title, None)


def _by_length(rows: Sequence[Row], metric: str) -> dict[int, list[float]]:
    measured: dict[int, list[float]] = {}
    for row in rows:
        if (row["metric"], row["slice"]) == (metric, "uniform"):
            measured.setdefault(row["length"], []).append(row["value"])
    return dict(sorted(measured.items()))


SIDES: Mapping[str, str] = {"self": "self-attention", "cross": "cross-attention"}


def lines_beside(measured: InCommon, path: Path, title: str) -> Figure:
    """Draw for each line how many heads keep it, and how many have it among equally many of the largest learned biases."""
    tall = sum(len(kind.lines) for kind in measured.kinds)
    figure, panels = pyplot.subplots(
        len(measured.kinds), 1, figsize=(5.6, 1.6 + 0.27 * tall), layout="constrained", squeeze=False, sharex=True,
        height_ratios=[1 + len(kind.lines) for kind in measured.kinds],
    )  # fmt: skip
    for axes, kind in zip(panels[:, 0], measured.kinds, strict=True):
        _bars(axes, kind)
    panels[-1, 0].set_xlabel("heads", fontsize=8)
    panels[-1, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=2, frameon=False, fontsize=8)
    return save_figure(figure, path, title, None)


def _bars(axes: Any, kind: Kind) -> None:
    rows = np.arange(len(kind.lines))[::-1]
    for counts, shift, color, words in (
        (kind.kept, 0.19, PALETTE[0], "calibrated: heads that keep it"),
        (kind.largest, -0.19, PALETTE[1], "learned: among as many of the largest"),
    ):
        axes.barh(rows + shift, [counts[line] for line in kind.lines], 0.36, color=color, label=words)  # fmt: skip
    axes.set_yticks(rows, [str(line) for line in kind.lines], fontsize=7)
    axes.tick_params(labelsize=7, length=2)
    title_text = f"{SIDES[kind.group[1]]}: {kind.common} of {kind.count} in common, {kind.by_chance:.1f} by chance"
    axes.set_title(title_text, fontsize=8, loc="left")
    axes.spines[["top", "right"]].set_visible(False)


TIMES = 2  # length of the longer questions, relative to training
PROBLEMS = 64
ALIKE = 0.9  # a head with this part of the best head's share counts as equally good


def before_after(first: Run, second: Run, calibration: Calibration, path: Path) -> Figure:
    """Draw a run, its calibration, and the run that was trained again with it: `path.png` and `path.svg`.

    The figure shows the attention of one head (`shown_head`) at the training length and at twice that length.
    """
    size = second.recipe.model
    calibration.check_fits(size.kind, size.layers, size.heads)
    trained = first.recipe.data.length
    right, lost = (looks_of(first, length, PROBLEMS) for length in (trained, TIMES * trained))
    again = looks_of(second, TIMES * trained, PROBLEMS)
    head = shown_head(calibration, right)
    place = head.layer, head.head
    bias = bias_of(head, calibration, again)
    deepest = float(np.nanmin(bias, initial=0.0))
    figure = pyplot.figure(figsize=(9.6, 5.0), layout="constrained")
    grid = GridSpec(2, 4, figure, width_ratios=(1, 1.3, 1.3, 1.3), height_ratios=(1, 0.95))
    panels = [figure.add_subplot(grid[0, number]) for number in range(4)]
    high = strongest((right, lost, again), place)
    attention(panels[0], right, place, "first training, ", high=high)
    attention(panels[1], lost, place, "the same, ", high=high)
    lines = "its lines, as a bias" if head.kept else "it keeps no line: no bias"
    panel(panels[2], bias, again, lines, low=min(deepest, -1.0), high=0.0)
    attention(panels[3], again, place, "trained again, ", high=high)
    for axes in panels[1:]:
        axes.set_ylabel("")
    curves = [curve(first, "first training"), curve(second, "trained again with its own lines")]
    axes = figure.add_subplot(grid[1, :])
    draw_accuracy(axes, curves, encoding_styles({each.name: each.encoding for each in curves}))
    handles = [line for line in axes.get_lines() if line.get_marker() not in ("", "None", None)]
    axes.legend(handles, [each.name for each in curves], frameon=False, fontsize=8, loc="center right")  # fmt: skip
    title = (
        f"Where head {head.head} of layer {head.layer} looks; dots: the digit's own column; "
        "%: digits at which that leads"
    )
    return save_figure(figure, path, title, None)


def shown_head(calibration: Calibration, attention_there: Looks) -> Head:
    """A head that attends to the digit's own column about as often as any, and keeps lines to as many operands as possible."""
    crossing = any(head.attention == "cross" for head in calibration.heads)
    candidates = [
        head for head in calibration.heads if head.attention == ("cross" if crossing else "causal")
    ]
    shares = [
        float(attention_there.each_head[head.layer - 1, head.head - 1]) for head in candidates
    ]

    def worth(number: int) -> tuple[bool, bool, int, float]:
        lines = [
            line
            for line in candidates[number].kept
            if line.track.side(candidates[number].attention) == "cross"
        ]
        operands = {line.keys for line in lines if line.axis is not None}
        return bool(lines), shares[number] >= ALIKE * max(shares), len(operands), shares[number]

    return candidates[max(range(len(candidates)), key=worth)]


def bias_of(head: Head, calibration: Calibration, attention_there: Looks) -> Matrix:
    """The bias of the head's lines on these questions, answer tokens by keys; nan where nothing is seen, 0 without lines."""
    rules = calibration.rules
    pe = Calibrated(calibration.heads_a_layer, list(head.lines(None, rules.soft, rules.best)))
    pe.serve(Attends(head.attention))
    bias, seen = (
        pe.bias(attention_there.q_at, attention_there.at),
        pe.visible(attention_there.q_at, attention_there.at),
    )
    if bias is None or seen is None:
        return np.zeros(attention_there.weights.shape[-2:])
    return bias.masked_fill(~seen, np.nan)[0, head.head - 1].double().numpy()


def curve(run: Run, name: str) -> Curve:
    """Exact match against length, as measured at the end of the run."""
    wanted = {"slice": "uniform", "metric": "exact", "checkpoint": "best"}
    points = tuple(
        Point(row["length"], (row["value"],), row["low"], row["high"], row["n"])
        for row in checked_result(run)["rows"]
        if wanted.items() <= row.items()
    )
    return Curve(
        name, "", points, run.recipe.data.length, run.built.batcher.task.counted, run.recipe.pe.name
    )


def matrix(axes: Any, values: Matrix, tokens: Sequence[Token], low: float, high: float) -> None:
    """Draw answer tokens by keys, with colours from `low` to `high`; grey where there is no value."""
    axes.set_facecolor(NONE)
    axes.imshow(
        np.ma.masked_invalid(values), cmap="cividis", vmin=low, vmax=high, aspect="auto", interpolation="nearest"
    )  # fmt: skip
    names = [name for name, _ in tokens]
    middles = {
        name: np.flatnonzero([other == name for other in names]).mean()
        for name in dict.fromkeys(names)
    }
    axes.set_xticks(list(middles.values()), [_short(name) for name in middles], fontsize=6.5)
    for edge in np.flatnonzero([a != b for a, b in itertools.pairwise(names)]):
        axes.axvline(edge + 0.5, color=OWN, lw=0.6)
    axes.set_ylabel("answer token", fontsize=7)
    axes.tick_params(labelsize=6.5, length=2)
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=4)


def _short(name: str) -> str:
    return {"operator": "op", "start": "^"}.get(name, name)
