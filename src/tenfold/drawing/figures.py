"""Figures: accuracy against length with the spread of seeds, length by length, what an encoding does to distance."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")

from matplotlib import pyplot, rc_context
from matplotlib.ticker import MaxNLocator, NullLocator
from PIL import Image
from torch import Tensor

from tenfold.drawing.curves import Curve
from tenfold.drawing.encoding_style import Style, encoding_styles
from tenfold.drawing.inline_svg import inline
from tenfold.drawing.palette import GREY, SOFT

RIGHT = "exactly right, %"
SHORT = 5  # what an axis starts with, where nothing was trained on its numbers
MOST_BANDS = 8  # more of them hide each other
MOST_TICKS = 8  # of a logarithmic axis; more of them run into each other
DPI = 200  # of PNG files
SMALL, LARGE = (3.5, 2.7), (4.2, 3.1)  # inches; on a phone's 343 pixels a point is 1.1 to 1.4


@dataclass(frozen=True)
class Figure:
    """A drawing for the page, and its files."""

    drawing: str  # SVG without title and legend
    title: str
    files: tuple[Path, Path]  # PNG, SVG

    @cached_property
    def svg(self) -> str:
        """The drawing as part of a page."""
        return inline(self.drawing, self.files[0].stem, self.title)


def accuracy_by_length(
    curves: Sequence[Curve],
    path: Path,
    title: str,
    styles: Mapping[str, Style] | None = None,
    *,
    alone: str | None = None,
    behind: Sequence[Curve] = (),
    small: bool = False,
    of: str = RIGHT,
) -> Figure:
    """Draw the curves; a band is the 95% interval of one seed, or worst to best seed of several.

    With `alone`, only the curve of that name has its colour and band, before the others in grey. Curves of `behind`
    are grey and have no place in the legend.
    """
    styles = styles or encoding_styles({curve.name: curve.encoding for curve in curves})
    figure, axes = pyplot.subplots(figsize=SMALL if small else LARGE, layout="constrained")
    draw_accuracy(axes, curves, styles, alone=alone, behind=behind, small=small, of=of)
    return save_figure(figure, path, title, _legend(curves) if alone is None else None)


def accuracy_panels(
    curves: Sequence[Curve], path: Path, title: str, styles: Mapping[str, Style]
) -> Figure:
    """A file with a panel for each curve, before the others in grey: small multiples instead of a long legend."""
    return panels(
        curves, path, title,
        lambda axes, curve: draw_accuracy(axes, curves, styles, alone=curve.name, small=True),
    )  # fmt: skip


def panels(
    curves: Sequence[Curve], path: Path, title: str, draw: Callable[[Any, Curve], None]
) -> Figure:
    """A file with a panel for each curve under its name."""
    columns = min(4, len(curves))
    rows = -(-len(curves) // columns)
    size = (SMALL[0] * columns, SMALL[1] * rows)
    figure, grid = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for axes, curve in zip(grid.flat, curves, strict=False):
        draw(axes, curve)
        axes.set_title(_plain(curve.name), fontsize=9, loc="left", pad=18)
    for axes in grid.flat[len(curves) :]:
        axes.set_visible(False)
    return save_figure(figure, path, title, None)


def draw_accuracy(
    axes: Any,
    curves: Sequence[Curve],
    styles: Mapping[str, Style],
    *,
    alone: str | None = None,
    behind: Sequence[Curve] = (),
    small: bool = False,
    of: str = RIGHT,
) -> None:
    """The same as a part of a figure."""
    _lengths(axes, [*curves, *behind])
    _trained(axes, curves)
    bands = len(curves) <= MOST_BANDS if alone is None else True
    for curve in curves:
        _curve(axes, curve, styles[curve.name], small, bands, alone not in (None, curve.name))
    draw_behind(axes, behind, 100)
    counted = {curve.counted for curve in curves}
    xlabel = counted.pop() if len(counted) == 1 else "digits"
    axes.set(xlabel=xlabel, ylabel=of, ylim=(-3, 103))
    axes.grid(alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)


def _curve(axes: Any, curve: Curve, style: Style, small: bool, band: bool, grey: bool) -> None:
    if grey:
        draw_behind(axes, [curve], 100)
        return
    points = curve.points
    x, y = [point.length for point in points], [100 * point.median for point in points]
    if band:
        low, high = zip(*(point.spread for point in points), strict=True)
        axes.fill_between(
            x, [100 * v for v in low], [100 * v for v in high], color=style.color, alpha=0.18, lw=0
        )
    axes.plot(x, y, ms=3 if small else 4.5, lw=1.3 if small else 1.7, **style.line())


def draw_behind(axes: Any, curves: Sequence[Curve], scale: float = 1) -> None:
    """Curves in grey, behind the others; values times `scale`."""
    for curve in curves:
        x, y = zip(*((point.length, scale * point.median) for point in curve.points), strict=True)
        axes.plot(x, y, color=GREY, lw=0.8, zorder=1)


def _lengths(axes: Any, curves: Sequence[Curve]) -> None:
    """The axis of lengths; logarithmic where the short ones would be squeezed together."""
    longest = max(point.length for curve in curves for point in curve.points)
    if longest > 10 * max(curve.trained or SHORT for curve in curves):
        axes.set_xscale("log")
        axes.set_xlim(0.9, 1.1 * longest)
        shown = [d * 10**e for e in range(10) for d in (1, 2, 5) if d * 10**e <= longest]
        shown = shown if len(shown) <= MOST_TICKS else [n for n in shown if str(n)[0] == "1"]
        axes.set_xticks(shown, [f"{n:,}" for n in shown])
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(0.5, longest + 0.5)


def _trained(axes: Any, curves: Sequence[Curve]) -> None:
    """The lengths that were trained on, shaded, where the axis is of lengths."""
    trained = sorted({curve.trained for curve in curves if curve.trained is not None})
    if not trained:
        return
    axes.axvspan(0.5, trained[-1] + 0.5, color="#000000", alpha=0.06, lw=0)
    upto = " or ".join(map(str, trained)) if len(trained) < 3 else f"{trained[0]} to {trained[-1]}"
    left = axes.get_xlim()[0]
    units = {curve.counted.split()[0] for curve in curves}  # `digits` of the longer operand
    text = f"trained on up to {upto} {units.pop() if len(units) == 1 else 'digits'}"
    axes.annotate(text, (left, 1.02), xycoords=("data", "axes fraction"), fontsize=9, color=SOFT)


EDGE = (("#101010", 3.2), ("#FAFAFA", 1.4))  # seen on the darkest cell and on the lightest


def heatmap(cells: Mapping[tuple[int, int], float], path: Path, title: str, trained: int) -> Figure:
    """The share exactly right by the lengths of both operands; what was not measured is left open."""
    sizes = sorted({size for pair in cells for size in pair})
    values = np.full((len(sizes), len(sizes)), np.nan)
    for (a, b), value in cells.items():
        values[sizes.index(b), sizes.index(a)] = 100 * value
    side = max(3.6, 0.29 * len(sizes) + 0.9)  # narrower, a page enlarges its words beyond its own
    figure, axes = pyplot.subplots(figsize=(side, side - 0.1), layout="constrained")
    drawn = np.ma.masked_invalid(values)
    axes.pcolormesh(drawn, cmap="cividis", vmin=0, vmax=100, edgecolors="face", lw=0.3)
    for row, column in itertools.product(range(len(sizes)), repeat=2):
        if not np.isnan(values[row, column]):
            ink = "#101010" if values[row, column] > 55 else "#FAFAFA"
            text = f"{values[row, column]:.0f}"
            axes.text(
                column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, color=ink
            )
    ticks = np.arange(len(sizes)) + 0.5
    axes.set_xticks(ticks, list(map(str, sizes)))
    axes.set_yticks(ticks, list(map(str, sizes)))
    edge = sum(size <= trained for size in sizes)
    for color, width in EDGE:
        axes.plot([0, edge, edge], [edge, edge, 0], color=color, lw=width, clip_on=False)
    axes.set(xlabel="digits of the first operand", ylabel="digits of the second", aspect="equal")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return save_figure(figure, path, title, None)


def _legend(curves: Sequence[Curve]) -> list[str]:
    """The names, with their label where there are several."""
    several = len({curve.label for curve in curves}) > 1
    return [_plain(f"{c.name} [{c.label}]" if several else c.name) for c in curves]


def _plain(text: str) -> str:
    """Not a formula: a dollar would begin one."""
    return text.replace("$", r"\$")


def save_figure(figure: Any, path: Path, title: str, legend: list[str] | None) -> Figure:
    """The drawing for the page, where title and legend are text; then the files, that have their own."""
    drawing = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "tenfold"}):
        figure.savefig(drawing, format="svg", transparent=True, metadata={"Date": None})
    figure.suptitle(_plain(title), x=0.02, ha="left", fontsize=11, wrap=True)
    if legend is not None:
        columns = max(1, int(15 * figure.get_figwidth() // (max(map(len, legend)) + 6)))
        columns = min(len(legend), columns)
        names = figure.legend(
            figure.axes[0].get_lines()[: len(legend)], legend, loc="outside lower left", ncols=columns,
            frameon=False, fontsize=8,
        )  # fmt: skip
        figure.set_figheight(figure.get_figheight() + 0.2 + 0.18 * -(-len(legend) // columns))
        figure.draw_without_rendering()
        room = names.get_window_extent().width / figure.dpi + 0.1
        figure.set_figwidth(max(figure.get_figwidth(), room))
    return Figure(drawing.getvalue(), title, save_files(figure, path))


def save_files(figure: Any, path: Path) -> tuple[Path, Path]:
    """`path.png` and `path.svg`, the same bytes for the same figure."""
    png, svg = (path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg"))
    with rc_context({"svg.hashsalt": "tenfold"}):
        save_png(figure, png)
        figure.savefig(svg, metadata={"Date": None})
    pyplot.close(figure)
    return png, svg


def save_png(figure: Any, path: Path) -> None:
    """A PNG file with a palette of 256 colours, which is a third of the size of one without."""
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=DPI)
    image = Image.open(pixels).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


FLOOR = -12.0  # a weight of e^-12 is nothing to see
LIGHTEST = 0.55  # of viridis: lighter lines cannot be seen on white, nor on a dark page, which inverts the picture


def head_colors(count: int) -> Any:
    """Colours of lines (N, 4) from dark to light, all of which stand out on a page of either mode."""
    return pyplot.get_cmap("viridis")(np.linspace(0, LIGHTEST, count))


def curves_by_head(logits: Tensor, path: Path) -> Path:
    """Draw logits (H, N) by distance, a line a head from dark to light; where some keys are hidden, weights."""
    hides = bool(logits.isneginf().any())
    lines, names = logits, [f"head {number + 1}" for number in range(len(logits))]
    if bool((logits == logits[:1]).all()):
        lines, names = logits[:1], ["all heads"]
    shown = lines.exp() if hides else lines.clamp(min=2 * FLOOR)
    figure, axes = pyplot.subplots(figsize=(6.4, 2.8), dpi=130)
    for line, name, color in zip(shown, names, head_colors(len(lines)), strict=True):
        axes.plot(line, color=color, lw=1.4, label=name, drawstyle="steps-mid" if hides else None)
    axes.set(xlabel="distance", ylabel="weight" if hides else "logit", xlim=(0, lines.shape[1] - 1))
    top, low = float(shown.max()), max(FLOOR, float(shown.min()))
    if top - low < 1e-6:
        axes.text(0.5, 0.6, "the same for every distance", transform=axes.transAxes, ha="center")
        top, low = 1.0, -1.0
    axes.set_ylim(low - 0.06 * (top - low), top + 0.06 * (top - low))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
    return path
