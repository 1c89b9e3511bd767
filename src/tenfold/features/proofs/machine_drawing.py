"""Draw a finite machine: states as circles, one arrow for all columns that lead from one state to another.

Up to twelve states stand on a line or a circle, with the end below or in the middle. More states, or more arrows than can be
distinguished, are drawn as a matrix: the number of digit columns that lead from a row's state to a column's.

Lengths are in units of UNIT inches. The circle of a state has radius RADIUS.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colors, pyplot, rc_context
from matplotlib.patches import Circle, Rectangle
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from tenfold.data.tasks.transducer import END
from tenfold.drawing.figures import Figure
from tenfold.drawing.palette import PALETTE
from tenfold.features.proofs.machine import Arrow, Difference, Label, Machine, counted, written
from tenfold.features.proofs.machine_legend import (
    GREY,
    RED,
    Sign,
    draw_signs,
    signs_of_graph,
    signs_of_matrix,
)

MOST_STATES, MOST_ARROWS = 12, 44
RADIUS, UNIT = 0.36, 0.95

Floats = NDArray[np.float64]


def draw_machine(
    machine: Machine,
    path: Path,
    label: Label = str,
    differs: Difference | None = None,
    token: Label = str,
) -> Path:
    """Draw a machine, with a legend. The transition that differs from the task's is red, with a caption below.

    `label` writes an input symbol, `token` an output. The suffix of the path, .svg or .png, decides the format.
    """
    with rc_context({"svg.hashsalt": "tenfold"}):
        figure = _draw(machine, label, token, differs, legend=True)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, bbox_inches=figure.get_tightbbox().padded(0.15), metadata=metadata)
        pyplot.close(figure)
    return path


def machine_figure(
    machine: Machine,
    path: Path,
    title: str,
    label: Label = str,
    differs: Difference | None = None,
    token: Label = str,
) -> Figure:
    """The drawing for a page, where the legend is text, and the files `path.png` and `path.svg`, which have their own."""
    files = tuple(path.with_name(f"{path.name}{suffix}") for suffix in (".png", ".svg"))
    for file in files:
        draw_machine(machine, file, label, differs, token)
    drawing = io.StringIO()
    with rc_context({"svg.hashsalt": "tenfold", "svg.fonttype": "none"}):
        figure = _draw(machine, label, token, differs, legend=False)
        box = figure.get_tightbbox().padded(0.1)
        figure.savefig(drawing, format="svg", transparent=True, bbox_inches=box, metadata={"Date": None})  # fmt: skip
        pyplot.close(figure)
    return Figure(drawing.getvalue(), title, (files[0], files[1]))


def legend_of(
    machine: Machine, label: Label = str, differs: Difference | None = None, token: Label = str
) -> list[Sign]:
    """What the signs of a machine's drawing mean."""
    if _is_small(machine):
        return signs_of_graph(machine, label, token, differs)
    return signs_of_matrix(differs)


def _is_small(machine: Machine) -> bool:
    """Whether states and arrows can be drawn one by one."""
    return machine.states <= MOST_STATES and len(machine.arrows()) <= MOST_ARROWS


def _draw(
    machine: Machine, label: Label, token: Label, differs: Difference | None, legend: bool
) -> Any:
    signs = legend_of(machine, label, differs, token) if legend else []
    if _is_small(machine):
        figure = _Graph(machine, label, token, differs).draw(machine.arrows(), signs)
        below = []
    else:
        figure = _matrix(machine, differs)
        below = [f"{sign.letters}: {sign.means}" for sign in signs]
    if legend and differs is not None:
        below.append(caption(differs, label, token))
    if below:
        box = figure.get_tightbbox()  # in inches
        left, low = box.x0 / figure.bbox_inches.width, box.y0 - 0.12
        figure.text(
            left, low / figure.bbox_inches.height, "\n".join(below), fontsize=8, ha="left", va="top"
        )
    return figure


def caption(differs: Difference, label: Label, token: Label) -> str:
    """Where the model first differs from its task, in words."""
    before = [label(symbol) for symbol in differs.word[:-1].tolist()]
    shown = before if len(before) <= 6 else ["...", *before[-6:]]
    after = f"After {'  '.join(shown)}" if before else "At the start"
    return (
        f"{after}, state {differs.state} reads {label(int(differs.word[-1]))}\n"
        f"and writes {written(differs.output, token)}; the task writes {written(differs.task_output, token)}."
    )


@dataclass(frozen=True)
class _Line:
    """An arrow as it is drawn: a curve, and the side on which its label should stand."""

    curve: Floats  # (P, 2)
    text: str
    color: str
    away: Floats  # (2,): to which side the label goes first


class _Graph:
    def __init__(
        self, machine: Machine, label: Label, token: Label, differs: Difference | None
    ) -> None:
        self.machine, self.label, self.token, self.differs = machine, label, token, differs
        self.places = _places(machine.states)  # (Q + 1, 2): of the states, and of the end
        self.figure, self.axes = pyplot.subplots(dpi=160)

    def draw(self, arrows: list[Arrow], signs: list[Sign] | None = None) -> Any:
        """Draw the graph, and below it a legend of these signs."""
        ends = bool((self.machine.output == END).any())
        drawn = self.places if ends else self.places[:-1]
        self.axes.set_position((0, 0, 1, 1))
        self.axes.axis("off")
        self._frame(drawn.min(0) - 1.5, drawn.max(0) + 1.5)
        for number, place in enumerate(self.places[:-1]):
            self._circle(place, str(number), RADIUS, 11)
        if ends:
            self._circle(self.places[-1], "end", RADIUS, 10)
            self._circle(self.places[-1], "", 0.82 * RADIUS, 10)
        taken = [self._box(place) for place in drawn] + self._starts()
        examples = 3 if len(arrows) <= 9 else 2 if len(arrows) <= 12 else 0
        lines = [line for arrow in arrows for line in self._lines(arrow, examples)]
        for line in lines:
            self._arrow(line.curve, line.color)
        self._labels(lines, taken)
        if signs:
            (left, low), _ = self._whole()
            draw_signs(self.axes, signs, left, low)
        self._frame(*self._whole())
        return self.figure

    def _whole(self) -> Floats:
        """The corners of everything drawn, low left and high right."""
        parts = [*self.axes.texts, *self.axes.patches, *self.axes.lines]
        box = Bbox.union([part.get_window_extent() for part in parts])
        corners: Floats = self.axes.transData.inverted().transform(box.padded(4).get_points())
        return corners

    def _frame(self, low: Floats, high: Floats) -> None:
        """Set the visible area; the scale is always the same."""
        self.figure.set_size_inches(*(UNIT * (high - low)))
        self.axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))

    def _circle(self, place: Floats, text: str, radius: float, size: int) -> None:
        x, y = place.tolist()
        face = "#F2F2F2" if text else "none"
        self.axes.add_patch(Circle((x, y), radius, fc=face, ec="black", lw=1.2, zorder=3))
        self.axes.text(x, y, text, fontsize=size, ha="center", va="center", zorder=4)

    def _starts(self) -> list[Bbox]:
        """Draw a short arrow into each start state, numbered where there are several."""
        starts, boxes = self.machine.starts, []
        for state in np.unique(starts).tolist():
            which = np.flatnonzero(starts == state)
            text = "start" if len(starts) == 1 else f"start {','.join(map(str, which.tolist()))}"
            way = _turned(self._outward(state), -70 if self.machine.states == 2 and state else 70)
            place = self.places[state]
            self._arrow(place + np.linspace(2.3, 1.03, 20)[:, None] * RADIUS * way, GREY)
            x, y = (place + (2.3 * RADIUS + 0.1) * way).tolist()
            sides = ["right", "center", "left"], ["top", "center", "bottom"]
            ha, va = (names[int(np.round(w)) + 1] for names, w in zip(sides, way, strict=True))
            drawn = self.axes.text(x, y, text, fontsize=8, color=GREY, ha=ha, va=va, zorder=5)
            boxes.append(self._extent(drawn))
        return boxes

    def _outward(self, state: int) -> Floats:
        """The direction away from the other states: up on a line, outwards on a circle."""
        if self.machine.states <= 2:
            return np.array([0.0, 1.0])
        return self.places[state] / np.linalg.norm(self.places[state])

    def _lines(self, arrow: Arrow, examples: int) -> list[_Line]:
        """One curve, or two where one of its columns differs from the task's."""
        color = PALETTE[1:][arrow.source % len(PALETTE[1:])]
        wrong, lines = None, []
        if self.differs is not None and self.differs.state == arrow.source:
            wrong = int(self.differs.word[-1])
        rest = Arrow(arrow.source, arrow.target, arrow.symbols[arrow.symbols != wrong])
        if len(rest.symbols):
            lines.append(self._curved(arrow, self._text(rest, examples), color))
        if len(rest.symbols) < len(arrow.symbols):
            only = Arrow(arrow.source, arrow.target, np.array([wrong]))
            lines.append(self._curved(only, self._text(only, 1), RED, second=bool(lines)))
        return lines

    def _text(self, arrow: Arrow, examples: int) -> str:
        some = arrow.examples(self.machine, self.label, self.token, max(1, examples))
        return some[0] if len(arrow.symbols) == 1 else "\n".join([counted(arrow), *some[:examples]])

    def _curved(self, arrow: Arrow, text: str, color: str, second: bool = False) -> _Line:
        """An arrow bent to its left, so that both directions stay distinct; a second arrow is bent more."""
        a, b = self.places[arrow.source], self.places[arrow.target]
        t = np.linspace(0, 1, 400)[:, None]
        if arrow.source == arrow.target:
            way = self._outward(arrow.source)
            if second:
                way = _turned(way, 180 if self.machine.states <= 2 else -75)
            one, two = (a + 3.6 * RADIUS * _turned(way, turn) for turn in (-34, 34))
            curve = (
                (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * one + 3 * t**2 * (1 - t) * two + t**3 * b
            )
            return _Line(_outside(curve, a, b), text, color, way)
        side = _turned(b - a, 90)
        others = np.delete(self.places, [arrow.source, arrow.target], 0)
        bends = (
            (0.3, 0.4, 0.36)
            if second
            else (0.0, 0.1)
            if arrow.target == END
            else (0.2, 0.13, 0.27, 0.08)
        )
        for bend in bends:  # the first that passes no other state
            curve = (1 - t) ** 2 * a + 2 * t * (1 - t) * ((a + b) / 2 + bend * side) + t**2 * b
            away = np.linalg.norm(curve[:, None] - others, axis=2)
            if away.size == 0 or away.min() > 1.3 * RADIUS:
                break
        return _Line(_outside(curve, a, b), text, color, side / np.linalg.norm(side))

    def _arrow(self, curve: Floats, color: str) -> None:
        tip = curve[-1]
        shaft = curve[np.linalg.norm(curve - tip, axis=1) > 0.12]
        way = 0.17 * (tip - shaft[-1]) / np.linalg.norm(tip - shaft[-1])
        wing = 0.42 * _turned(way, 90)
        thick = 2.2 if color == RED else 1.3
        self.axes.plot(*shaft.T, color=color, lw=thick, solid_capstyle="butt", zorder=2)
        self.axes.fill(
            *np.stack([tip, tip - way + wing, tip - way - wing]).T, color=color, lw=0, zorder=2
        )

    def _labels(self, lines: list[_Line], taken: list[Bbox]) -> None:
        """Place each label where it covers the least: first no label or state, then few curves."""
        points = self.axes.transData.transform(np.concatenate([line.curve for line in lines]))
        corners = [_sides(other) for other in taken]
        for line in lines:
            drawn = self.axes.text(
                0, 0, line.text, fontsize=8, ha="center", va="center", zorder=5, linespacing=1.15,
                bbox={"fc": "white", "ec": line.color, "lw": 1.0, "pad": 1.6},
            )  # fmt: skip
            size = self._extent(drawn)
            half = np.array([size.width, size.height]) / 2 / self._scale()
            best, least = line.curve[0], np.inf
            for rank, (where, side) in enumerate(
                (where, side)
                for side in (1, 0, -1)
                for where in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
            ):
                step = (
                    np.abs(line.away) * half
                ).sum() + 0.07  # so far that the box clears the curve
                at = line.curve[int(where * (len(line.curve) - 1))] + side * step * line.away
                low, high = self.axes.transData.transform([at - half, at + half])
                box = [*low.tolist(), *high.tolist()]
                covered = sum(_overlap(box, other) for other in corners)
                crossed = int(((points > low) & (points < high)).all(1).sum())
                cost = 1e3 * covered + crossed + rank
                if cost < least:
                    best, least, chosen = at, cost, box
            drawn.set_position(best)
            corners.append(chosen)

    def _scale(self) -> float:
        """Pixels per unit."""
        ends = self.axes.transData.transform([(0, 0), (1, 0)])
        return float(ends[1, 0] - ends[0, 0])

    def _extent(self, drawn: Any) -> Bbox:
        return drawn.get_window_extent()

    def _box(self, place: Floats) -> Bbox:
        return Bbox(self.axes.transData.transform([place - RADIUS, place + RADIUS]))


def _places(states: int) -> Floats:
    """The positions of the states, and last of the end."""
    if states == 1:
        return np.array([[0.0, 0.0], [3.0, 0.0]])
    if states == 2:
        return np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, -2.4]])
    angle = np.pi / 2 + np.pi * (states % 2 - 1) / states - 2 * np.pi * np.arange(states) / states
    radius = max(2.8, 0.46 * states)
    circle = radius * np.stack([np.cos(angle), np.sin(angle)], 1)
    return np.concatenate([circle, np.zeros((1, 2))])


def _turned(way: Floats, degrees: float) -> Floats:
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return turn @ way


def _outside(curve: Floats, a: Floats, b: Floats) -> Floats:
    """The part of a curve between the borders of the two circles."""
    half = len(curve) // 2
    first = int(np.argmax(np.linalg.norm(curve[:half] - a, axis=1) > RADIUS))
    last = len(curve) - int(np.argmax(np.linalg.norm(curve[:half:-1] - b, axis=1) > RADIUS * 1.03))
    return curve[first:last]


def _sides(box: Bbox) -> list[float]:
    """Left, low, right and high."""
    sides: list[float] = box.get_points().ravel().tolist()
    return sides


def _overlap(one: list[float], other: list[float]) -> float:
    """The part of the smaller box that the other covers, by their sides."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width < 0 or height < 0:
        return 0.0
    return width * height / min(map(_area, (one, other)))


def _area(box: list[float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _matrix(machine: Machine, differs: Difference | None) -> Any:
    """Draw how many columns lead from each state to each other state and to the end."""
    ends, states = bool((machine.output == END).any()), machine.states
    counts = np.zeros((states, states + ends))
    for arrow in machine.arrows():
        counts[arrow.source, arrow.target] = len(arrow.symbols)  # END is -1: the last
    size = 1.6 + 0.15 * max(states, 22)
    figure, axes = pyplot.subplots(figsize=(size + 0.9, size), dpi=160)
    shades = colors.LinearSegmentedColormap.from_list("counts", ["#D6E9F5", PALETTE[1], "#00263D"])
    image = axes.imshow(
        np.where(counts > 0, counts, np.nan),
        cmap=shades,
        norm=colors.LogNorm(1, max(2, counts.max())),
    )
    step = 1 if states <= 24 else 5
    first = np.unique(machine.starts).tolist()
    rows = sorted({*range(0, states, step), *first})
    axes.set_yticks(
        rows, [f"start  {row}" if row in first else str(row) for row in rows], fontsize=7
    )
    last = [states] if ends else []
    ticks = [tick for tick in range(0, states, step) if not ends or step == 1 or tick < states - 2]
    axes.set_xticks([*ticks, *last], [*map(str, ticks), *(["end"] * ends)], fontsize=7)
    axes.set(xlabel="to state", ylabel="from state")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xticks(np.arange(states + ends + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(states + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#DDDDDD", lw=0.4)
    axes.tick_params(which="minor", length=0)
    if states <= 16:
        for row, column in np.argwhere(counts > 0).tolist():
            dark = counts[row, column] ** 2 > counts.max()
            axes.text(column, row, str(int(counts[row, column])), fontsize=6, ha="center", va="center",
                      color="white" if dark else "black")  # fmt: skip
    if differs is not None:
        target = int(machine.next[differs.state, differs.word[-1]])
        corner = (target if target >= 0 else states) - 0.5, differs.state - 0.5
        axes.add_patch(Rectangle(corner, 1, 1, fc="none", ec=RED, lw=2, zorder=3))
    if counts.max() > 1:
        bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
        marks = [
            mark for mark in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if mark <= counts.max()
        ]
        bar.set_ticks(marks, labels=[str(mark) for mark in marks], fontsize=7)
        bar.ax.minorticks_off()
        bar.set_label("columns", fontsize=8)
    figure.tight_layout()
    return figure
