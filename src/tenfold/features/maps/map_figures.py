"""Figures of positional maps (the `symmetry` paper's Figures 11 and 12).

Each layer has a panel: offsets (query minus key) against the elements of their vectors. A multiplier's vectors have a
panel below. Where a layer has many tables, such as one for each pair of roles, one figure shows the vectors' lengths.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colors, pyplot
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from tenfold.drawing.figures import Figure, save_figure
from tenfold.drawing.palette import PALETTE
from tenfold.encodings.learned_maps import Map
from tenfold.features.maps.positional_maps import Layer

ACROSS = 3  # panels per row
ROW = 0.16  # inches: a line of small text
TITLE = 34  # characters of a line above a panel
MOST = 4  # tables of a layer that are drawn in full
SHADES = colors.LinearSegmentedColormap.from_list("signed", [PALETTE[1], "#FFFFFF", PALETTE[0]])
SOFT, DARK = "#555555", "#444444"  # text inside the figure, independent of the page's colours
NONE = "#CCCCCC"  # marks rows that do not exist
WORDS = {"element": "element of the vector", "head": "head"}


def draw_maps(
    layers: Sequence[Layer], folder: Path, title: str, name: str = "maps"
) -> list[Figure]:
    """Draw one figure for all layers with the same tables, as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    groups = alike(layers)
    for number, some in enumerate(groups):
        path = folder / (name if len(groups) == 1 else f"{name}-{number + 1}")
        whole = title if len(groups) == 1 else f"{title}: {_span(some)}"
        many = len(some[0].maps) > MOST
        drawn.append(save_figure(_lengths(some) if many else _vectors(some), path, whole, None))
    return drawn


def alike(layers: Sequence[Layer]) -> list[list[Layer]]:
    """Neighbouring layers with the same tables, which share a figure; layers without tables are left out."""
    shown = [layer for layer in layers if layer.maps]
    return [list(some) for _, some in itertools.groupby(shown, key=_tables)]


def _tables(layer: Layer) -> tuple[str, ...]:
    return tuple(each.title for each in layer.maps)


def _span(some: Sequence[Layer]) -> str:
    names = dict.fromkeys((some[0].name, some[-1].name))
    return " to ".join(names)


def _vectors(some: Sequence[Layer]) -> Any:
    """Draw every table of every layer. A table has one colour scale in all layers, and one colour bar."""
    tables = [[layer.maps[k].occurring for layer in some] for k in range(len(some[0].maps))]
    blocks, across = -(-len(some) // ACROSS), min(len(some), ACROSS)
    heights = [_height(table) for table in tables]
    figure = pyplot.figure(layout="constrained")
    grid = GridSpec(blocks * len(tables), across, figure, height_ratios=heights * blocks)
    lines = 0
    for k, table in enumerate(tables):
        most = max(float(each.values.abs().max()) for each in table) or 1.0
        axes = []
        for number, (layer, each) in enumerate(zip(some, table, strict=True)):
            block, column = divmod(number, ACROSS)
            panel = figure.add_subplot(grid[block * len(tables) + k, column])
            image = _panel(panel, each, most, layer.back.get(each.axis or ""), heights[k])
            heading = [layer.name] * (k == 0) + [each.title] * (len(tables) > 1)
            wrapped = [line for part in heading for line in textwrap.wrap(part, TITLE)]
            lines += len(wrapped) * (column == 0)
            panel.set_title("\n".join(wrapped), fontsize=9, loc="left")
            if column == 0 and _numbered(each):  # other names need no label
                panel.set_ylabel(each.along.replace(", ", ",\n"), fontsize=8)
            axes.append(panel)
        bar = figure.colorbar(image, ax=axes[:across], fraction=0.05, pad=0.02, aspect=max(6, 8 * heights[k]))  # fmt: skip
        bar.ax.tick_params(labelsize=7)
        bar.ax.yaxis.set_major_locator(
            MaxNLocator(max(2, int(heights[k] / ROW / 2)), symmetric=True)
        )
    figure.set_size_inches(
        2.5 * across + 0.9, blocks * (sum(heights) + 0.5 * len(tables)) + ROW * lines
    )
    if any(layer.back for layer in some):
        figure.supxlabel("arrow: the next lower digit of the same number", fontsize=8, color=SOFT)
    return figure


def _numbered(table: Map) -> bool:
    """Whether rows are named by numbers, which need a label that says what they are."""
    return table.names[0].lstrip("-").isdigit()


def _height(table: Sequence[Map]) -> float:
    """Inches for the rows, with room for their names and for the label of the axis."""
    rows = max(each.places[-1] - each.places[0] + 1 for each in table)
    least = 1.3 if any(map(_numbered, table)) else max(0.65, ROW * min(rows, 8))
    return max(least, min(3.2, 0.06 * rows))


def _panel(axes: Any, table: Map, most: float, back: int | None, height: float) -> Any:
    """Draw a table. Rows between the first and the last that do not occur are grey."""
    low, high = table.places[0], table.places[-1]
    values = np.full((high - low + 1, table.values.shape[1]), np.nan)
    values[np.array(table.places) - low] = table.values.numpy()
    axes.set_facecolor(NONE)
    image = axes.imshow(
        np.ma.masked_invalid(values), cmap=SHADES, vmin=-most, vmax=most, aspect="auto", origin="lower",
        interpolation="nearest", extent=(0.5, values.shape[1] + 0.5, low - 0.5, high + 0.5),
    )  # fmt: skip
    axes.set_xlabel(WORDS[table.across], fontsize=8)
    axes.tick_params(labelsize=7)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if table.axis is None:
        step = -(-len(table.places) // int(height / ROW + 0.5))
        axes.set_yticks(table.places[::step], table.names[::step])
        return image
    far = max(1, high, -low)
    room = height / ROW
    step = next(size for size in (1, 2, 5, 10, 20, 50, 10**6) if (high - low) / size <= room)
    axes.set_yticks([t for t in range(-step * (far // step), far + 1, step) if low <= t <= high])
    if low <= 0 <= high:
        for edge in (-0.5, 0.5):
            axes.axhline(edge, color=DARK, lw=0.6, dashes=(3, 2))
        axes.annotate("0", (1, 0), (3, 0), ("axes fraction", "data"), "offset points",
                      fontsize=7, va="center", color=SOFT)  # fmt: skip
    if back is not None and low <= back <= high:
        axes.annotate(
            "",
            (1, back), (9, 9 * back), ("axes fraction", "data"), "offset points",
            arrowprops={"arrowstyle": "-|>", "color": SOFT, "lw": 0.7, "mutation_scale": 6},
        )  # fmt: skip
    return image


def _lengths(some: Sequence[Layer]) -> Any:
    """Draw the length of every vector: one line per table, one column per offset, then entries without an offset."""
    shown = [[each.occurring for each in layer.maps] for layer in some]
    tables = list(dict.fromkeys(each.title for own in shown for each in own))
    offsets = {place for own in shown for each in own if each.axis for place in each.places}
    others = [name for own in shown for each in own if not each.axis for name in _columns(each)]
    columns = [*map(str, sorted(offsets)), *dict.fromkeys(others)]
    filled = []
    for own in shown:
        values = np.full((len(tables), len(columns)), np.nan)
        for each in own:
            for name, size in zip(_columns(each), each.strengths.tolist(), strict=True):
                values[tables.index(each.title), columns.index(name)] = size
        filled.append(values)
    most = max(float(np.nanmax(values)) for values in filled)
    wide, tall = 2.4 + 0.16 * max(len(columns), 12), 0.9 + 0.17 * len(tables)
    figure, panels = pyplot.subplots(
        len(some), 1, figsize=(wide, tall * len(some)), layout="constrained", squeeze=False
    )
    for axes, layer, values in zip(panels.flat, some, filled, strict=True):
        axes.set_facecolor(NONE)
        image = axes.imshow(np.ma.masked_invalid(values), cmap="cividis", vmin=0, vmax=most, aspect="auto", interpolation="nearest")  # fmt: skip
        axes.set_yticks(range(len(tables)), tables, fontsize=6.5)
        step = max(1, len(offsets) // 12)
        ticks = [n for n in range(len(columns)) if n >= len(offsets) or int(columns[n]) % step == 0]
        axes.set_xticks(ticks, [columns[n] for n in ticks], fontsize=6.5, rotation=90)
        axes.set_title(f"{layer.name}: lengths of the vectors", fontsize=9, loc="left")
        axes.set_xlabel(layer.maps[0].along if layer.maps[0].axis else "offset, query - key", fontsize=8)  # fmt: skip
        if "0" in columns:
            for edge in (-0.5, 0.5):
                axes.axvline(columns.index("0") + edge, color="#FAFAFA", lw=0.7, dashes=(3, 2))
    figure.colorbar(image, ax=panels, fraction=0.03, pad=0.02).ax.tick_params(labelsize=7)
    return figure


def _columns(table: Map) -> list[str]:
    """Names of a table's columns: `-1` is an offset, `place 1` is not."""
    if table.axis:
        return [str(place) for place in table.places]
    what = table.along.split()[0]
    return [f"{what} {name}" if name.isdigit() else name for name in table.names]
