"""Figures of calibrations. For each head: attention before, the strongest lines, and the bias at twice the length."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib import pyplot

from tenfold.data.places import Places
from tenfold.drawing.figures import Figure, save_figure
from tenfold.drawing.palette import PALETTE
from tenfold.encodings import Attends, Calibrated
from tenfold.encodings.calibrated import OPERANDS
from tenfold.features.calibration.attention_figures import Matrix, Token, matrix
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.calibration_text import SIDES
from tenfold.features.calibration.line_selection import Head, Scored

TIMES = 2  # length of the drawn bias, relative to training
SHOWN = 8  # number of strongest lines in the figure
OTHER = "#808080"
FIRST, *LATER = OPERANDS
WRITTEN = (
    "text",
    FIRST,
    "operator",
    *LATER,
    "start",
    "answer",
    "all",
)  # an operator stands between


def draw_calibration(
    calibration: Calibration, folder: Path, name: str = "calibration"
) -> list[Figure]:
    """Draw one figure per layer and attention, with one row per head, as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for (attention, layer), some in itertools.groupby(
        calibration.heads, key=lambda head: (head.attention, head.layer)
    ):
        figure = _rows(list(some), calibration)
        which = (
            "all layers, from the last" if calibration.rules.source == "last" else f"layer {layer}"
        )
        path = folder / f"{name}-{SIDES[attention].removesuffix('attention').strip(' -')}-{layer}"
        drawn.append(save_figure(figure, path, f"{SIDES[attention]}, {which}", None))
    return drawn


def _rows(heads: Sequence[Head], calibration: Calibration) -> Any:
    figure, panels = pyplot.subplots(
        len(heads), 3, figsize=(8.6, 1.9 * len(heads) + 0.3), layout="constrained", squeeze=False,
        width_ratios=(1, 1.1, 1.25),
    )  # fmt: skip
    for row, head in zip(panels, heads, strict=True):
        _before(row[0], head, calibration.rules.scores)
        _scores(row[1], head)
        _after(row[2], head, calibration)
    return figure


def _tokens(head: Head, times: int = 1) -> list[Token]:
    """The keys in order; with `times`, those of a longer input."""
    lines = [line for family in head.families for line in family.lines]
    tokens: list[Token] = []
    for keys in WRITTEN:
        upright = [line for line in lines if line.direction == "vertical" and line.keys == keys]
        places = sorted(line.place for line in upright)
        moving = [line for line in lines if line.axis is not None and line.keys == keys]
        if moving and places:
            places = list(range(min(places), min(places) + times * len(places)))
        falls = any(line.step is None and line.direction == "anti-diagonal" for line in moving)
        tokens += [(keys, place) for place in (reversed(places) if falls else places)]
    return tokens


def before(head: Head) -> Matrix:
    """Mean attention, answer tokens by keys; nan where a key is not seen."""
    upright = {
        (line.keys, line.place): line.cells
        for family in head.families
        for line in family.lines
        if line.direction == "vertical"
    }
    columns = [[np.nan if cell is None else cell for cell in upright[t]] for t in _tokens(head)]
    return np.array(columns, dtype=np.float64).T


def after(head: Head, calibration: Calibration, times: int = TIMES) -> Matrix:
    """The encoding's bias on an input `times` as long; nan where nothing is seen."""
    tokens = _tokens(head, times)
    role = {"text": 0, "operator": 1, "start": 1, "answer": 2, **OPERANDS, "all": 0}
    keys, rows = zip(*tokens, strict=True), times * len(before(head))
    names, places = (list(each) for each in keys)
    here = torch.tensor([place if name != "start" else 0 for name, place in tokens])
    facts = torch.tensor([role[name] for name in names])
    hub = torch.tensor([name not in _along(head) and name != "start" for name in names])
    k_at = Places(
        role=facts[None], column=torch.where(hub, -1, here)[None], significance=torch.tensor(places)[None],
        index=here[None],
    )  # fmt: skip
    indices = (
        "all" in names and head.attention == "causal"
    )  # of a matrix: queries are its last keys
    queries = torch.arange(rows)[None] + (len(tokens) - rows if indices else 0)
    q_at = Places(role=torch.full((1, rows), 2), column=queries, index=queries)
    rules = calibration.rules
    pe = Calibrated(calibration.heads_a_layer, list(head.lines(None, rules.soft, rules.best)))
    pe.serve(Attends(head.attention))
    bias, seen = pe.bias(q_at, k_at), pe.visible(q_at, k_at)
    shape = (1, calibration.heads_a_layer, rows, len(tokens))
    values = torch.zeros(shape) if bias is None else bias.expand(shape)
    values = values if seen is None else values.masked_fill(~seen, torch.nan)
    own = torch.tensor([indices or name in ("start", "answer") for name in names])
    ahead = own & (here > queries[0][:, None])  # self-attention is causal
    return values[0, head.head - 1].masked_fill(ahead, torch.nan).double().numpy()


def _along(head: Head) -> set[str]:
    return {line.keys for family in head.families for line in family.lines if line.axis is not None}


def _before(axes: Any, head: Head, scores: str) -> None:
    values = before(head)
    low, high = np.nanmin(values), np.nanmax(values)
    matrix(axes, values, _tokens(head), low, high)
    axes.set_title(f"head {head.head}: {scores}, {low:.2g} to {high:.2g}", fontsize=8, loc="left")


def _after(axes: Any, head: Head, calibration: Calibration) -> None:
    values = after(head, calibration)
    low, high = np.nanmin(values), np.nanmax(values)
    matrix(axes, values, _tokens(head, TIMES), min(low, high - 1), high)
    words = f"bias, 0 to {low:.2g}, {TIMES} x the length" if head.kept else "transparent: no bias"
    axes.set_title(words, fontsize=8, loc="left")


def _scores(axes: Any, head: Head) -> None:
    """Draw the strongest lines. Kept lines are coloured. Logits have no zero to start from, so these are no bars."""
    shown = sorted([*head.kept, *head.dropped], key=_strength)[:SHOWN][::-1]
    for place, line in enumerate(shown):
        color = PALETTE[0] if line.kept else OTHER
        axes.plot(
            line.mean, place, "o" if line.kept else "D", color=color, ms=6 if line.kept else 4
        )
    axes.grid(axis="y", alpha=0.4)
    axes.margins(y=0.12)
    axes.set_yticks(range(len(shown)), [str(line.track) for line in shown], fontsize=6.5)
    axes.tick_params(labelsize=6.5, length=2)
    axes.set_title("strongest lines; kept: large dots", fontsize=8, loc="left")


def _strength(line: Scored) -> tuple[bool, float]:
    return not line.kept, -line.mean
