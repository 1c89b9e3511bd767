"""Calibration in one picture: attention that is right and then lost, the lines kept of it, attention with them, accuracy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import pyplot
from matplotlib.gridspec import GridSpec

from tenfold.drawing.curves import Curve, Point
from tenfold.drawing.figures import Figure, draw_accuracy, save_figure, style
from tenfold.encodings import Attends, Calibrated
from tenfold.features.calibration.attention_figures import attention, panel, strongest
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.calibration_figures import Matrix
from tenfold.features.calibration.line_selection import Head
from tenfold.features.calibration.question_attention import Looks
from tenfold.features.calibration.run_attention import looks_of
from tenfold.runs.run import Run

TIMES = 2  # the longer questions
PROBLEMS = 64
ALIKE = 0.9  # of the best head's share: as good


def before_after(first: Run, second: Run, calibration: Calibration, path: Path) -> Figure:
    """A run, what was calibrated of it, and the run trained again with that: `path.png` and `path.svg`.

    Attention of one head (`shown_head`), over problems of the training length and of twice that.
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
    draw_accuracy(axes, curves, {each.name: style(n) for n, each in enumerate(curves)})
    handles = [line for line in axes.get_lines() if line.get_marker() not in ("", "None", None)]
    axes.legend(handles, [each.name for each in curves], frameon=False, fontsize=8, loc="center right")  # fmt: skip
    title = (
        f"Where head {head.head} of layer {head.layer} looks; dots: the digit's own column; "
        "%: digits at which that leads"
    )
    return save_figure(figure, path, title, None)


def shown_head(calibration: Calibration, attention_there: Looks) -> Head:
    """A head that is led by the own column about as often as any, and keeps lines to as many operands as there are."""
    crossing = any(head.attention == "cross" for head in calibration.heads)
    candidates = [
        head for head in calibration.heads if head.attention == ("cross" if crossing else "causal")
    ]
    shares = [
        float(attention_there.each_head[head.layer - 1, head.head - 1]) for head in candidates
    ]

    def worth(number: int) -> tuple[bool, bool, int, float]:
        lines = [line for line in candidates[number].kept if line.track.side == "cross"]
        operands = {line.keys for line in lines if line.axis is not None}
        return bool(lines), shares[number] >= ALIKE * max(shares), len(operands), shares[number]

    return candidates[max(range(len(candidates)), key=worth)]


def bias_of(head: Head, calibration: Calibration, attention_there: Looks) -> Matrix:
    """What the head's lines are on these questions, answer tokens by keys; nan where nothing is seen, 0 without lines."""
    pe = Calibrated(calibration.heads_a_layer, list(head.lines(None, calibration.rules.soft)))
    pe.serve(Attends(head.attention))
    bias, seen = (
        pe.bias(attention_there.q_at, attention_there.at),
        pe.visible(attention_there.q_at, attention_there.at),
    )
    if bias is None or seen is None:
        return np.zeros(attention_there.weights.shape[-2:])
    return bias.masked_fill(~seen, np.nan)[0, head.head - 1].double().numpy()


def curve(run: Run, name: str) -> Curve:
    """Exact match against length, as the run measured it when it was finished."""
    wanted = {"slice": "uniform", "metric": "exact", "checkpoint": "best"}
    points = tuple(
        Point(row["length"], (row["value"],), row["low"], row["high"], row["n"])
        for row in run.result()["rows"]
        if wanted.items() <= row.items()
    )
    return Curve(name, "", points, run.recipe.data.length, run.built.batcher.task.counted)
