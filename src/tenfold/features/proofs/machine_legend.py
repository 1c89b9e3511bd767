"""What the signs of a machine's drawing mean, as a list on a page and as lines below a drawing."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
from matplotlib.patches import Circle

from tenfold.data.tasks.transducer import END
from tenfold.drawing.palette import PALETTE, SOFT
from tenfold.features.proofs.machine import Difference, Label, Machine, written

RED, GREY, INK = PALETTE[0], SOFT, "#000000"
ENDED = "-"  # in place of a digit
LEGEND = "legend"  # names its text
SIZE, LINE, WIDTH = 7.5, 0.15, 62  # points; height of a line, in units of the drawing; characters

# How a sign looks on a page, in a box of 38 x 12.
SHAPES = {
    "state": '<circle cx="19" cy="6" r="5" fill="none" stroke="currentColor"/>',
    "end": '<circle cx="19" cy="6" r="5.4" fill="none" stroke="currentColor"/>'
    '<circle cx="19" cy="6" r="3.4" fill="none" stroke="currentColor"/>',
    "start": '<path d="M4 6h22M26 2l8 4-8 4z" fill="var(--soft)" stroke="var(--soft)"/>',
    "arrow": '<path d="M4 6h22M26 2l8 4-8 4z" fill="var(--hue-blue)" stroke="var(--hue-blue)"/>',
    "wrong": '<path d="M4 6h22M26 2l8 4-8 4z" fill="var(--hue-vermilion)" stroke="var(--hue-vermilion)" stroke-width="2.2"/>',
}


@dataclass(frozen=True)
class Sign:
    """A shape, or letters as they stand in the drawing, with what they mean."""

    shape: Literal["state", "end", "start", "arrow", "wrong", "letters"]
    means: str
    letters: str = ""


def signs_of_graph(
    machine: Machine, label: Label, token: Label, differs: Difference | None
) -> list[Sign]:
    """The signs that the drawing of this machine has."""
    arrows = machine.arrows()
    read = max(arrows, key=lambda arrow: len(arrow.symbols))
    whole = [symbol for symbol in read.symbols.tolist() if ENDED not in label(symbol)]
    symbol = (whole or read.symbols.tolist())[len(whole) // 2]
    output = written(int(machine.output[read.source, symbol]), token)
    ended = any(ENDED in label(symbol) for symbol in range(machine.symbols))
    signs = [
        Sign("start", "The machine starts here and reads the lowest column, the units, first."),
        Sign("state", "A state: all that it remembers of the columns read so far. Its number is a name."),
        Sign("arrow", "Where it goes after a column. The colour is that of the state which the arrow leaves."),
        Sign(
            "letters",
            f"It reads {label(symbol)}, one digit of each number in this column, and writes {output}.",
            f"{label(symbol)} / {output}",
        ),
    ]  # fmt: skip
    if len(np.unique(machine.starts)) > 1:
        more = (
            "The numbers of a start say for which first facts, such as the multiplier, it is one."
        )
        signs[0] = Sign("start", f"{signs[0].means} {more}")
    if any(len(arrow.symbols) > 1 for arrow in arrows):
        means = "So many different columns take this arrow; below the number stand some of them."
        signs.append(Sign("letters", means, f"{len(read.symbols)} columns"))
    if ended:
        signs.append(Sign("letters", "In place of a digit: this number has ended.", ENDED))
    if bool((machine.output == END).any()):
        signs.append(Sign("end", "The answer is complete."))
    if differs is not None:
        signs.append(Sign("wrong", "Here the model does not do what its task asks."))
    return signs


def signs_of_matrix(differs: Difference | None) -> list[Sign]:
    """What a matrix of states shows."""
    signs = [
        Sign("letters", "The state before a column of digits is read; `start` marks the first ones.", "row"),
        Sign("letters", "The state after it; at `end` the answer is complete.", "column"),
        Sign("letters", "How many different columns of digits lead from the one to the other; empty: none.", "shade"),
    ]  # fmt: skip
    frame = Sign("letters", "A column for which the model does not do what its task asks.", "frame")
    return signs if differs is None else [*signs, frame]


def as_html(signs: list[Sign]) -> str:
    """The legend as a list."""
    items = "".join(f"<li>{_mark(sign)}<span>{escape(sign.means)}</span></li>" for sign in signs)
    return f'<ul class="legend signs">{items}</ul>'


def _mark(sign: Sign) -> str:
    if sign.shape == "letters":
        return f"<code>{escape(sign.letters)}</code>"
    return f'<svg viewBox="0 0 38 12" aria-hidden="true">{SHAPES[sign.shape]}</svg>'


def draw_signs(axes: Any, signs: list[Sign], left: float, top: float) -> None:
    """Draw the legend below a graph, in its units: signs in a column, their meanings beside it."""
    y = top - 2 * LINE
    for sign in signs:
        _draw_mark(axes, sign, left, y)
        lines = textwrap.wrap(sign.means, WIDTH)
        axes.text(
            left + 1.05, y + 0.075, "\n".join(lines), fontsize=SIZE, va="top", zorder=5, gid=LEGEND
        )
        y -= LINE * (len(lines) + 0.6)


def _draw_mark(axes: Any, sign: Sign, left: float, y: float) -> None:
    middle = left + 0.4
    color = {"start": GREY, "arrow": PALETTE[1], "wrong": RED}.get(sign.shape, INK)
    if sign.shape == "letters":
        axes.text(middle, y, sign.letters, fontsize=SIZE, ha="center", va="center", zorder=5, gid=LEGEND)  # fmt: skip
    elif sign.shape in ("state", "end"):
        for radius in (0.09,) if sign.shape == "state" else (0.09, 0.06):
            axes.add_patch(Circle((middle, y), radius, fc="none", ec=INK, lw=0.9))
    else:
        axes.annotate(
            "", (middle + 0.25, y), (middle - 0.25, y),
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.1, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
