"""Figures of a probe: perplexity by length, loss by position, attention by distance, fields of heads, fields by length."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.colors import LogNorm
from matplotlib.ticker import MaxNLocator, NullLocator
from torch import Tensor

from tenfold.drawing.encoding_style import Style, style, variant
from tenfold.drawing.figures import LARGE, Figure, head_colors, save_figure
from tenfold.drawing.palette import SOFT
from tenfold.drawing.perplexity_curves import behind_another, ticks
from tenfold.features.probe.attention_findings import AttentionFindings
from tenfold.features.probe.probe_result import ProbeResult, VariantResult

MOST_NUMBERS = 12  # heads or layers up to which cells show their numbers
WIDEST = 9.6  # inches


def perplexity_styles(result: ProbeResult) -> dict[str, Style]:
    """A look for each variant and way of reading: colour by variant, hollow and dashed where windows overlap."""
    styles = {}
    for number, each in enumerate(result.variants):
        prefix = f"{each.name}, " if len(result.variants) > 1 else ""
        look = style(number)
        styles[f"{prefix}windows one after another"] = look
        styles[f"{prefix}sliding windows"] = variant(look, 5)
    return styles


def perplexity_figure(result: ProbeResult, path: Path) -> Figure:
    """Perplexity of the same tokens by length, both axes logarithmic; the training length is shaded."""
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    looks = iter(perplexity_styles(result).values())
    for each in result.variants:
        lengths = [one.length for one in each.lengths]
        for way in ("plain", "sliding"):
            losses, look = [getattr(one, way) for one in each.lengths], next(looks)
            low, high = zip(*(one.bounds for one in losses), strict=True)
            axes.plot(lengths, [one.perplexity for one in losses], lw=1.7, ms=4.5, **look.line())
            axes.fill_between(lengths, low, high, color=look.color, alpha=0.12, lw=0)
    lengths = [one.length for one in result.variants[0].lengths]
    _by_length(axes, lengths, "perplexity", result.trained)
    return _saved(figure, axes, path, "Perplexity by length", list(perplexity_styles(result)))


def position_styles(result: ProbeResult) -> dict[str, Style]:
    return {each.name: style(number) for number, each in enumerate(result.variants)}


def position_figure(result: ProbeResult, path: Path) -> Figure:
    """The loss by how many tokens are in sight, in windows of the longest length."""
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    for number, each in enumerate(result.variants):
        places = [(low * high) ** 0.5 for low, high, _ in each.lengths[-1].positions]
        losses = [loss for *_, loss in each.lengths[-1].positions]
        axes.plot(places, losses, lw=1.5, ms=3, **style(number).line())
    longest = result.variants[0].lengths[-1].length
    axes.set(xscale="log", xlabel="tokens in sight", ylabel="loss, nats a token")
    _ticks(axes, [4**k for k in range(12) if 4**k <= longest])
    _trained(axes, result.trained)
    return _saved(figure, axes, path, "Loss by position", [each.name for each in result.variants])


def distance_figure(found: AttentionFindings, path: Path) -> Figure:
    """The share of attention in each bin of distances, a line a layer from dark to light, the mean over heads."""
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    places = [max(0.5, (low * (high - 1)) ** 0.5) for low, high in zip(found.edges, found.edges[1:], strict=False)]  # fmt: skip
    for layer, color in zip(found.mass.mean(1), head_colors(len(found.mass)), strict=True):
        axes.plot(places, 100 * layer, color=color, lw=1.4, marker="o", ms=2.5)
    axes.set(xscale="log", xlabel="distance, tokens", ylabel="share of attention, %")
    axes.set_ylim(bottom=0)
    shown = [4**k for k in range(12) if 4**k <= found.length]
    axes.set_xticks([0.5, *shown], ["0", *(f"{n:,}" for n in shown)])
    axes.xaxis.set_minor_locator(NullLocator())
    return _saved(figure, axes, path, f"Attention by distance, {found.length:,} tokens", None)


def head_figure(found: AttentionFindings, path: Path) -> Figure:
    """Layers by heads: fields by attention, without the first tokens and by gradient, and the share on the first token."""
    panels: list[tuple[str, Tensor, bool]] = [
        ("field by attention", found.fields, True),
        ("without the first tokens", found.fields_without_sinks, True),
    ]
    if found.gradient_fields is not None:
        panels.append(("field by gradient", found.gradient_fields, True))
    panels.append(("on the first token, %", 100 * found.first, False))
    layers, heads = found.fields.shape
    size = (min(WIDEST, len(panels) * max(1.75, 0.34 * heads + 0.5)), max(1.7, min(6.0, 0.3 * layers + 0.9)))  # fmt: skip
    figure, grid = pyplot.subplots(1, len(panels), figsize=size, layout="constrained", sharey=True)
    for axes, (title, values, tokens) in zip(grid, panels, strict=True):
        _cells(axes, values.numpy().astype(float), found.length if tokens else None)
        axes.set_title(title, fontsize=9, loc="left")
        axes.set_xlabel("head")
    grid[0].set_ylabel("layer")
    return save_figure(figure, path, f"Every head at {found.length:,} tokens", None)


def _cells(axes: Any, values: Any, length: int | None) -> None:
    """Numbers as colours; fields on a logarithmic scale up to the length, shares from 0 to 100."""
    norm = {"norm": LogNorm(1, max(2, length))} if length else {"vmin": 0, "vmax": 100}
    shown = np.maximum(values, 1) if length else values
    layers, heads = values.shape
    extent = (0.5, heads + 0.5, layers + 0.5, 0.5)
    axes.imshow(shown, cmap="cividis", aspect="auto", interpolation="nearest", extent=extent, **norm)  # fmt: skip
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    if max(layers, heads) > MOST_NUMBERS:
        return
    for (row, column), value in np.ndenumerate(values):
        bright = np.log(max(value, 1)) / np.log(max(2, length)) if length else value / 100
        ink = "#101010" if bright > 0.55 else "#FAFAFA"
        axes.text(column + 1, row + 1, _short(value), ha="center", va="center", fontsize=7, color=ink)  # fmt: skip


def _short(value: float) -> str:
    """
    >>> _short(7.4), _short(812.0), _short(8192.0)
    ('7', '812', '8.2k')
    """
    return f"{value:.0f}" if value < 1000 else f"{value / 1000:.2g}k"


FIELD_LINES = ("by attention, median head", "without the first tokens, median head", "by gradient, whole model")  # fmt: skip


def field_styles(shown: Sequence[VariantResult]) -> dict[str, Style]:
    gradient = all(one.attention and one.attention.whole_field for each in shown for one in each.lengths)  # fmt: skip
    return {name: style(number) for number, name in enumerate(FIELD_LINES[: 3 if gradient else 2])}


def field_figure(result: ProbeResult, path: Path) -> Figure:
    """Receptive fields of the model as it is by length; on the dotted line the whole text is in the field."""
    figure, axes = pyplot.subplots(figsize=LARGE, layout="constrained")
    first = result.variants[0]
    found = [one.attention for one in first.lengths if one.attention is not None]
    lengths = [one.length for one in found]
    lines = [
        [float(np.median(one.fields.numpy())) for one in found],
        [float(np.median(one.fields_without_sinks.numpy())) for one in found],
        [float(one.whole_field or 0) for one in found],
    ]
    styles = field_styles([first])
    for values, look in zip(lines, styles.values(), strict=False):
        axes.plot(lengths, values, lw=1.7, ms=4.5, **look.line())
    axes.axline((lengths[0], lengths[0]), (2 * lengths[0], 2 * lengths[0]), color=SOFT, lw=1, ls=(0, (1, 2)))  # fmt: skip
    _by_length(axes, lengths, "tokens in the field", result.trained)
    return _saved(figure, axes, path, "Receptive fields by length", list(styles))


def _by_length(axes: Any, lengths: Sequence[int], quantity: str, trained: int | None) -> None:
    """Both axes logarithmic, with round numbers."""
    axes.set(xscale="log", yscale="log", xlabel="tokens", ylabel=quantity)
    _ticks(axes, lengths)
    shown = ticks(*axes.get_ylim())
    axes.set_yticks(shown, [f"{value:g}" for value in shown])
    axes.yaxis.set_minor_locator(NullLocator())
    _trained(axes, trained)


def _ticks(axes: Any, lengths: Sequence[int]) -> None:
    shown = [n for n in lengths if n not in behind_another(lengths)]
    axes.set_xticks(shown, [f"{n:,}" for n in shown], rotation=35, ha="right")
    axes.xaxis.set_minor_locator(NullLocator())


def _trained(axes: Any, trained: int | None) -> None:
    """Shade the lengths of training."""
    if trained is None:
        return
    left, right = axes.get_xlim()
    axes.axvspan(left, min(trained, right), color="#000000", alpha=0.06, lw=0)
    axes.set_xlim(left, right)
    axes.set_title(f"trained on {trained:,} tokens", fontsize=9, color=SOFT, loc="left")


def _saved(figure: Any, axes: Any, path: Path, title: str, legend: list[str] | None) -> Figure:
    axes.grid(alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    return save_figure(figure, path, title, legend)
