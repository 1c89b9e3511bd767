"""The page of `tenfold extract`: the finite machine that a model computes."""

from __future__ import annotations

from pathlib import Path

from tenfold.data.tasks.task import Task
from tenfold.data.tasks.transducer import END
from tenfold.drawing.feature_page import (
    FeaturePage,
    captioned,
    cells,
    figure_folder,
    files_of,
    page_folder,
    write_page,
)
from tenfold.features.proofs.extraction import Extracted
from tenfold.features.proofs.machine_drawing import caption
from tenfold.features.proofs.machine_files import (
    DrawnMachine,
    MachineTable,
    as_json,
    drawn_machine,
    write_machine,
)
from tenfold.runs.run import Run, Which

QUESTION = "Which finite machine does the same as this model, for numbers of any length?"
CAPTION = "The machine. It reads a problem column by column, from the units on, and writes one token of the answer for each."
EXAMPLES = 4  # columns of an arrow in the table


def write_machine_page(
    run: Run,
    extracted: Extracted,
    out: Path | None = None,
    figures: Path | None = None,
    which: Which = "best",
) -> tuple[dict[str, Path], list[str]]:
    """Write machine.html, machine.json and machine.dot; return their paths, and those of figures in `figures`."""
    folder, task = page_folder(run, out, "machine"), run.built.batcher.task
    drawn = drawn_machine(MachineTable.model_validate(as_json(extracted)), task)
    assert drawn is not None
    title = f"The finite machine of {run.recipe.name}"
    with figure_folder(figures) as place:
        place.mkdir(parents=True, exist_ok=True)
        figure = drawn.figure(place / "machine", title)
    page = FeaturePage(
        title,
        QUESTION,
        answer(extracted, task),
        [captioned(figure, _caption(drawn), drawn.legend()), _arrows(drawn)],
    )
    written = write_machine(extracted, task, folder)
    settings = {"contexts on which the model was run": f"{extracted.contexts:,}"}
    written["page"] = write_page(page, folder / "machine.html", run, which, settings)
    return {name: written[name] for name in ("page", "table", "dot")}, files_of([figure], figures)


def answer(extracted: Extracted, task: Task) -> list[str]:
    """The size of the machine, and whether it is the task's own."""
    machine = extracted.machine
    several = "s" * (machine.states != 1)
    least = "no machine with fewer does the same" if machine.smallest else f"at least {machine.bound} are needed"  # fmt: skip
    own = (
        f'It equals the machine of the task "{task.name}", state for state: it answers as the task asks, at every length.'
        if extracted.own
        else f'It is not the machine of the task "{task.name}".'
    )
    if extracted.differs is None and not extracted.own:
        own += " No input was found on which their answers differ."
    first = f"The model computes the same as a machine of {machine.states} state{several}; {least}."
    return [first, own]


def _caption(drawn: DrawnMachine) -> str:
    if drawn.differs is None:
        return CAPTION
    return f"{CAPTION} {' '.join(caption(drawn.differs, drawn.label, drawn.token).split())}"


def _arrows(drawn: DrawnMachine) -> str:
    """Every arrow, with the number of its columns and some of them."""
    machine = drawn.machine
    rows = [
        (
            str(arrow.source),
            "end" if arrow.target == END else str(arrow.target),
            f"{len(arrow.symbols):,}",
            ";  ".join(arrow.examples(machine, drawn.label, drawn.token, EXAMPLES)),
        )
        for arrow in machine.arrows()
    ]
    head = ("from state", "to state", "columns", "such as (reads / writes)")
    return f"<h2>Every transition</h2>{cells(head, rows)}"
