"""Figures and terminal output of influence: input digit against answer digit, the model next to the truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot

from tenfold.drawing.figures import Figure, save_figure
from tenfold.evals.interventions import Floats, Influence
from tenfold.features.influence.dependency_columns import Lists

Others = Mapping[str, Floats]  # matrices of other functions of the same questions, by name


def matrices(measured: Influence, others: Others | None = None) -> dict[str, Floats]:
    """The matrices of the model, of the truth, and of other functions, by name."""
    return {"model": measured.model, "truth": measured.truth, **(others or {})}


def draw_influence(
    measured: Influence, path: Path, title: str, others: Others | None = None
) -> Figure:
    """Draw one row of panels per operand: the model's matrix, then the truth's. Units are at the right and the bottom."""
    path.parent.mkdir(parents=True, exist_ok=True)
    terms, width, columns = measured.model.shape
    shown = matrices(measured, others)
    wide, tall = max(2.0, 0.13 * columns + 0.8), max(1.5, 0.13 * width + 0.7)
    figure, panels = pyplot.subplots(
        terms, len(shown), figsize=(len(shown) * wide + 0.9, terms * tall + 0.3),
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for operand, row in enumerate(panels):
        for axes, (whose, shares) in zip(row, shown.items(), strict=True):
            axes.set_facecolor("#CCCCCC")
            image = axes.imshow(
                np.ma.masked_invalid(100 * shares[operand]), cmap="cividis", vmin=0, vmax=100, origin="lower",
                aspect="auto", interpolation="nearest", extent=(-0.5, columns - 0.5, -0.5, width - 0.5),
            )  # fmt: skip
            axes.invert_xaxis()
            _whole_numbers(axes)
            axes.tick_params(labelsize=7)
            axes.set_title(f"{whose}, operand {operand + 1}", fontsize=9, loc="left")
            if operand == terms - 1:
                axes.set_xlabel("column of the answer, 0: units", fontsize=8)
        row[0].set_ylabel("column of the input", fontsize=8)
    bar = figure.colorbar(image, ax=panels, fraction=0.05, pad=0.02)
    bar.set_label("% of changes that move it", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return save_figure(figure, path, title, None)


def _whole_numbers(axes: Any) -> None:
    for ticks in (axes.xaxis, axes.yaxis):
        ticks.get_major_locator().set_params(integer=True)


def influence_lines(measured: Influence, others: Others | None = None) -> list[str]:
    """Tables of percentages by input and answer column, for each operand: the model's, the truth's, then others."""
    lines = [
        f"{measured.problems} problems, {100 * measured.exact:.1f}% answered exactly right; "
        f"{int(measured.counts.sum()):,} changes of one digit"
    ]
    for operand in range(len(measured.counts)):
        for whose, shares in matrices(measured, others).items():
            lines += [f"operand {operand + 1}, {whose}: % of changes that move each answer digit"]
            lines += _grid(shares[operand])
    return lines


def _grid(shares: Floats) -> list[str]:
    """One line per input column, highest first; answer columns from the highest to the units."""
    width, columns = shares.shape
    head = " in\\out" + "".join(f"{column:>4}" for column in reversed(range(columns)))
    lines = [head]
    for column in reversed(range(width)):
        if not np.isnan(shares[column]).all():
            cells = "".join(_cell(share) for share in shares[column, ::-1].tolist())
            lines.append(f"{column:>7}{cells}")
    return lines


def _cell(share: float) -> str:
    """
    >>> _cell(0.0), _cell(0.004), _cell(0.37)
    ('   .', '  <1', '  37')
    """
    return "   ." if share == 0 else "  <1" if share < 0.01 else f"{100 * share:>4.0f}"


def as_json(measured: Influence, others: Others | None = None) -> dict[str, Any]:
    """Matrices by operand, input column and answer column, starting at the units; null where no such digit exists."""
    nested = matrices(measured, others)
    return {
        "problems": measured.problems,
        "exact": measured.exact,
        "changes": measured.counts.tolist(),
        **{whose: np.where(np.isnan(m), None, m).tolist() for whose, m in nested.items()},  # type: ignore[call-overload]
        "by_offset": {whose: measured.by_offset(m) for whose, m in nested.items()},
    }


def list_lines(measured: Lists) -> list[str]:
    """The list of each answer digit, and a summary of what the lists have in common."""
    lines = []
    for column in reversed(range(measured.shares.shape[2])):
        mark = (
            ""
            if measured.of(column) == measured.commonest
            else "  (not all columns, or another list)"
        )
        lines.append(f"answer digit {column}: {named_entries(measured.of(column))}{mark}")
    return [
        *lines,
        f"commonest: {named_entries(measured.commonest)}",
        f"same-list: {measured.same_list:.3f}",
        f"reach: {measured.reach}",
    ]


def named_entries(entries: frozenset[tuple[int, int]]) -> str:
    """`operand 1: 0 1 2; operand 2: 0 1`."""
    operands = sorted({operand for operand, _ in entries})
    parts = [
        f"operand {m + 1}: {' '.join(str(back) for o, back in sorted(entries) if o == m)}"
        for m in operands
    ]
    return "; ".join(parts) or "nothing"


def lists_as_json(measured: Lists) -> dict[str, Any]:
    columns = range(measured.shares.shape[2])
    return {
        "same_list": measured.same_list,
        "reach": measured.reach,
        "threshold": measured.threshold,
        "commonest": sorted(measured.commonest),
        "lists": {column: sorted(measured.of(column)) for column in columns},
        "shares": measured.shares.tolist(),
        "counts": measured.counts.tolist(),
    }


def draw_lists(measured: Lists, path: Path, title: str) -> Figure:
    """Draw the share of changes that change an answer digit, by columns back; one panel per operand."""
    path.parent.mkdir(parents=True, exist_ok=True)
    terms, width, columns = measured.shares.shape
    figure, panels = pyplot.subplots(
        1, terms, figsize=(0.9 + terms * max(2.2, 0.16 * columns + 0.8), max(2.2, 0.13 * (2 * width + 1) + 0.8)),
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for operand, axes in enumerate(panels[0]):
        shown = np.full((2 * width, columns), np.nan)  # from width - 1 columns above to width back
        for column in range(columns):
            for below in range(width):
                shown[column - below + width - 1, column] = measured.shares[operand, below, column]
        axes.set_facecolor("#CCCCCC")
        image = axes.imshow(
            np.ma.masked_invalid(100 * shown), cmap="cividis", vmin=0, vmax=100, origin="lower", aspect="auto",
            interpolation="nearest", extent=(-0.5, columns - 0.5, 0.5 - width, width + 0.5),
        )  # fmt: skip
        for edge in (-0.5, 0.5):
            axes.axhline(edge, color="#FAFAFA", lw=0.7, dashes=(3, 2))
        axes.invert_xaxis()
        _whole_numbers(axes)
        axes.set_title(f"operand {operand + 1}", fontsize=9, loc="left")
        axes.set_xlabel("column of the answer, 0: units", fontsize=8)
        axes.tick_params(labelsize=7)
    panels[0][0].set_ylabel("columns back", fontsize=8)
    bar = figure.colorbar(image, ax=panels, fraction=0.05, pad=0.02)
    bar.set_label("% of changes that move it", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return save_figure(figure, path, title, None)
