"""Figures: accuracy against length with the spread of seeds; what an encoding does to each distance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import torch

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.ticker import MaxNLocator, NullLocator
from torch import Tensor

from tenfold.report.collect import Curve

# Okabe and Ito: tells apart for every kind of colour vision
PALETTE = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"


def accuracy_by_length(curves: Sequence[Curve], path: Path, title: str) -> list[Path]:
    """Draw the curves; a band is the 95% interval of one seed, or worst to best seed of several."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4.2), dpi=160)
    trained = max(curve.trained for curve in curves)
    longest = max(p.length for c in curves for p in c.points)
    wide = longest > 10 * trained  # the short lengths would be squeezed together
    axes.axvspan(0.5, trained + 0.5, color="#000000", alpha=0.06, lw=0)
    axes.text(
        trained**0.5 if wide else (trained + 1) / 2,
        103,
        f"trained on 1-{trained} digits",
        fontsize=8,
        color="#555555",
        ha="center",
    )
    for number, curve in enumerate(curves):
        color, points = PALETTE[number % len(PALETTE)], curve.points
        x = [point.length for point in points]
        several = points[0].seeds > 1
        low = [100 * (p.worst if several else p.low) for p in points]
        high = [100 * (p.best if several else p.high) for p in points]
        y = [100 * point.median for point in points]
        axes.fill_between(x, low, high, color=color, alpha=0.2, lw=0)
        axes.plot(x, y, color=color, marker=MARKERS[number % len(MARKERS)], ms=4, label=curve.name)
    axes.set(xlabel="digits of the longer operand", ylabel="exactly right, %")
    axes.set_title(title, loc="left", pad=18)
    axes.set_ylim(-2, 102)
    if wide:
        axes.set_xscale("log")
        axes.set_xlim(0.9, 1.1 * longest)
        shown = [n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n <= longest]
        axes.set_xticks(shown, list(map(str, shown)))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(0.5, longest + 0.5)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    figure.tight_layout()
    written = [path.with_suffix(".png"), path.with_suffix(".svg")]
    for place in written:
        figure.savefig(place, metadata={"Date": None} if place.suffix == ".svg" else None)
    pyplot.close(figure)
    return written


FLOOR = -12.0  # a weight of e^-12 is nothing to see


def curves_by_head(logits: Tensor, path: Path) -> Path:
    """Draw logits (H, N) by distance, a line a head from dark to light; where some keys are hidden, weights."""
    hides = bool(logits.isneginf().any())
    lines, names = logits, [f"head {number + 1}" for number in range(len(logits))]
    if bool((logits == logits[:1]).all()):
        lines, names = logits[:1], ["all heads"]
    shown = lines.exp() if hides else lines.clamp(min=2 * FLOOR)
    figure, axes = pyplot.subplots(figsize=(6.4, 2.8), dpi=130)
    colors = pyplot.get_cmap("viridis")(torch.linspace(0, 0.92, len(lines)).numpy())
    for line, name, color in zip(shown, names, colors, strict=True):
        axes.plot(line, color=color, lw=1.4, label=name, drawstyle="steps-mid" if hides else None)
    axes.set(xlabel="distance", ylabel="weight" if hides else "logit", xlim=(0, lines.shape[1] - 1))
    top, low = float(shown.max()), max(FLOOR, float(shown.min()))
    if top - low < 1e-6:
        axes.text(0.5, 0.6, "the same for every distance", transform=axes.transAxes, ha="center")
        top, low = 1.0, -1.0
    axes.set_ylim(low - 0.06 * (top - low), top + 0.06 * (top - low))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=6, ncol=2)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
    return path
