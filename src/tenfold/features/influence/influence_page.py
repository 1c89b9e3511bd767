"""The page of `tenfold influence`: which digits of the question the digits of the answer depend on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tenfold.drawing.feature_page import (
    FeaturePage,
    captioned,
    cells,
    figure_folder,
    files_of,
    page_folder,
    write_data,
    write_page,
)
from tenfold.evals.interventions import Influence
from tenfold.features.influence.dependency_columns import Lists
from tenfold.features.influence.influence_figures import (
    Others,
    as_json,
    draw_influence,
    draw_lists,
    lists_as_json,
    matrices,
    named_entries,
)
from tenfold.runs.run import Run, Which

QUESTION = "Which digits of the answer change when one digit of the question is changed?"
CAPTION = (
    "One panel for each operand: the model's answers, then the true ones. A row is the changed digit of the question, a "
    "column the digit of the answer; the units are at the bottom and at the right. The colour is the share of changes "
    "that move the digit of the answer: dark blue for none, yellow for all. Empty cells have no such digit. Where a "
    "model computes as the task does, its panel looks like the panel of the truth."
)
LISTS_QUESTION = "Which columns, counted from its own, does each digit of a sum depend on?"
LISTS_CAPTION = (
    "One panel for each operand. A column is a digit of the answer, with the units at the right; a row is how many columns "
    "back the changed digit lies, and 0, between the dashed lines, is the same column. The colour is the share of "
    "changes that move the digit of the answer: dark blue for none, yellow for all. Empty cells have no such digit."
)
Written = tuple[dict[str, Path], list[str]]  # pages and data, files of figures


def write_influence(
    run: Run,
    measured: Influence,
    length: int,
    settings: Mapping[str, Any],
    others: Others | None = None,
    *,
    out: Path | None = None,
    figures: Path | None = None,
    which: Which = "best",
) -> Written:
    """Write `influence.html` and `influence.json`; `settings` say which problems were changed."""
    title = f"Influence in {run.recipe.name}, {length} digits"
    with figure_folder(figures) as place:
        drawn = draw_influence(measured, place / "influence", title, others)
    page = FeaturePage(
        title,
        QUESTION,
        answer(measured),
        [captioned(drawn, CAPTION), _by_offset(measured, others)],
    )
    folder = page_folder(run, out, "influence")
    written = {
        "page": write_page(page, folder / "influence.html", run, which, settings),
        "data": write_data(folder / "influence.json", as_json(measured, others)),
    }
    return written, files_of([drawn], figures)


def answer(measured: Influence) -> list[str]:
    """How often the model is right, and where its dependence differs from the truth's."""
    model, truth = (measured.by_offset(shares) for shares in (measured.model, measured.truth))
    sentences = [
        f"The model answers {measured.exact:.0%} of the {measured.problems} unchanged problems exactly right.",
    ]
    for words, offset in (("its own column", 0), ("the next higher column", 1)):
        if offset in model:
            ours, true = (_mean(each[offset]) for each in (model, truth))
            sentences.append(
                f"A changed digit moves the answer in {words} in {ours:.0%} of cases, where the truth moves in {true:.0%}."
            )
    gaps = {offset: abs(_mean(model[offset]) - _mean(truth[offset])) for offset in model}
    worst = max(gaps, key=gaps.__getitem__)
    sentences.append(
        "By distance, the model depends on the question exactly as the truth does."
        if gaps[worst] == 0
        else f"The largest difference is {100 * gaps[worst]:.0f} percentage points, {_distance(worst)}."
    )
    return sentences


def _mean(shares: list[float]) -> float:
    return sum(shares) / len(shares)


def _distance(offset: int) -> str:
    """
    >>> _distance(0), _distance(2), _distance(-1)
    ('in the same column', '2 columns above the changed digit', '1 column below the changed digit')
    """
    if offset == 0:
        return "in the same column"
    several = "s" * (abs(offset) != 1)
    return f"{abs(offset)} column{several} {'above' if offset > 0 else 'below'} the changed digit"


def _by_offset(measured: Influence, others: Others | None) -> str:
    """The mean share by distance, of each operand."""
    every = {whose: measured.by_offset(shares) for whose, shares in matrices(measured, others).items()}  # fmt: skip
    operands = range(len(measured.counts))
    head = ["answer digit", *(f"{whose}, operand {m + 1}" for m in operands for whose in every)]
    rows = [
        [
            _distance(offset),
            *(f"{means[offset][m]:.1%}" for m in operands for means in every.values()),
        ]
        for offset in sorted(next(iter(every.values())))
        if any(max(means[offset]) > 0 for means in every.values())
    ]
    return f"<h2>By distance</h2>{cells(head, rows)}"


def write_lists(
    run: Run,
    measured: Lists,
    length: int,
    settings: Mapping[str, Any],
    *,
    out: Path | None = None,
    figures: Path | None = None,
    which: Which = "best",
) -> Written:
    """Write `lists.html` and `lists.json`."""
    title = f"Columns that matter in {run.recipe.name}, {length} digits"
    with figure_folder(figures) as place:
        drawn = draw_lists(measured, place / "lists", title)
    columns = range(measured.shares.shape[2])
    rows = [(str(column), named_entries(measured.of(column))) for column in reversed(columns)]
    table = cells(("answer digit, 0: the units", "columns back that matter"), rows)
    page = FeaturePage(
        title,
        LISTS_QUESTION,
        _lists_answer(measured, len(columns)),
        [captioned(drawn, LISTS_CAPTION), f"<h2>The list of each digit</h2>{table}"],
    )
    folder = page_folder(run, out, "influence")
    written = {
        "page": write_page(page, folder / "lists.html", run, which, settings),
        "data": write_data(folder / "lists.json", lists_as_json(measured)),
    }
    return written, files_of([drawn], figures)


def _lists_answer(measured: Lists, digits: int) -> list[str]:
    share = f"{measured.same_list:.0%} of the {digits} answer digits"
    common = [
        f"{share} depend on the same columns back: {named_entries(measured.commonest)}.",
        f"The farthest of these is {measured.reach} back.",
    ]
    return [
        *(common if measured.commonest else [f"{share} depend on no column of the question."]),
        f"A digit matters if at least {measured.threshold:.0%} of the changes that should move the answer digit do.",
    ]
