"""An extracted machine as text and as files: its table (JSON) and DOT; and a drawing from such a table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.core.registry import first_problem
from tenfold.core.stored_files import read_json_mapping, sealed
from tenfold.data.tasks.task import DIGITS, Task
from tenfold.data.tasks.transducer import END
from tenfold.drawing.figures import Figure
from tenfold.features.proofs.extraction import Extracted
from tenfold.features.proofs.machine import Difference, Label, Machine, as_dot
from tenfold.features.proofs.machine_drawing import legend_of, machine_figure
from tenfold.features.proofs.machine_legend import as_html
from tenfold.features.proofs.state_merging import UNDEFINED

TABLE, DRAWING = "machine.json", "machine.dot"


LARGEST, MOST_COLUMNS = 100_000, 10_000  # states, columns
Count = Annotated[int, pydantic.Field(ge=0, lt=2**31)]
Goal = Annotated[
    int, pydantic.Field(ge=min(END, UNDEFINED), lt=2**31)
]  # a state, a token, END or UNDEFINED
Column = Annotated[str, pydantic.Field(pattern=r"^[0-9A-Za-z-](,[0-9A-Za-z-]){0,63}$")]  # `5,7`


class _MachinePart(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True, frozen=True)


class DifferenceTable(_MachinePart):
    """Where a machine first differs from its task's: after these columns, in this state."""

    word: Annotated[list[Column], pydantic.Field(min_length=1, max_length=100_000)]
    state: Count
    writes: Goal
    truth: Goal


class MachineTable(_MachinePart):
    """The content of machine.json. Whoever wrote the file, a drawing is made from these numbers alone."""

    states: Annotated[int, pydantic.Field(ge=1, le=LARGEST)]
    smallest: bool
    own: bool
    contexts: Count
    starts: Annotated[list[Count], pydantic.Field(min_length=1, max_length=LARGEST)]
    output: list[list[Goal]]
    next: list[list[Goal]]
    columns: Annotated[list[Column], pydantic.Field(max_length=MOST_COLUMNS)] | None = None
    differs: DifferenceTable | None = None

    @pydantic.model_validator(mode="after")
    def _fits(self) -> MachineTable:
        """Every row has a place for each column, and every arrow leads to a state that is there."""
        symbols = len(self.output[0]) if self.output else 0
        rows = [*self.output, *self.next]
        if not (len(self.output) == len(self.next) == self.states and symbols):
            raise ValueError(f"it does not have a row for each of its {self.states} states")
        if any(len(row) != symbols for row in rows) or len(self.columns or rows[0]) != symbols:
            raise ValueError("its rows differ in length")
        if max(*self.starts, *map(max, self.next)) >= self.states:
            raise ValueError("it leads to a state that is not there")
        if self.differs is not None and (
            self.differs.state >= self.states
            or not set(self.differs.word) <= set(self.columns or self.differs.word)
        ):
            raise ValueError("it differs from its task in a state or a column that is not there")
        return self


def write_machine(extracted: Extracted, task: Task, folder: Path) -> dict[str, Path]:
    """Write machine.json, from which a report draws it, and machine.dot; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {"table": folder / TABLE, "dot": folder / DRAWING}
    write_atomically(written["table"], sealed(as_json(extracted)))
    token = functools.partial(token_label, task)
    dot = as_dot(extracted.machine, column_label(extracted), token)
    write_atomically(written["dot"], dot.encode())
    return written


@dataclass(frozen=True)
class DrawnMachine:
    """A machine with what a drawing of it needs: how columns and outputs are written, and where it differs."""

    machine: Machine
    label: Label
    token: Label
    differs: Difference | None

    def figure(self, path: Path, title: str) -> Figure:
        """The drawing, and its files `path.png` and `path.svg`."""
        return machine_figure(self.machine, path, title, self.label, self.differs, self.token)

    def legend(self) -> str:
        """What the signs of the drawing mean, as HTML."""
        return as_html(legend_of(self.machine, self.label, self.differs, self.token))


def drawn_machine(table: MachineTable, task: Task) -> DrawnMachine | None:
    """The machine of a machine.json; None for a file of version 0.1, which does not say how columns are written."""
    columns, differs = table.columns, None
    if columns is None:
        return None
    if max(map(max, table.output)) >= len(task.vocabulary.symbols):
        raise TenfoldError(f'the machine writes tokens that the task "{task.name}" does not have')
    starts, output, following = map(np.array, (table.starts, table.output, table.next))
    bound = len(output) if table.smallest else 0
    machine = Machine(starts, output, following, bound, len(output), np.arange(len(output)))
    if (stated := table.differs) is not None:
        word = np.array([columns.index(column) for column in stated.word])
        differs = Difference(0, word, stated.state, stated.writes, 0, stated.truth)
    return DrawnMachine(machine, columns.__getitem__, functools.partial(token_label, task), differs)


def read_machine(folder: Path) -> MachineTable | None:
    """The machine.json of a folder, checked; None if there is none, nor a drawing of it."""
    try:
        return MachineTable.model_validate(read_json_mapping(folder, TABLE, "a machine"))
    except FileNotFoundError:
        if (folder / DRAWING).exists():
            raise TenfoldError(
                f"{folder / TABLE} is missing, though {DRAWING} is there; `tenfold extract` writes both"
            ) from None
        return None
    except pydantic.ValidationError as error:
        problem = first_problem(error)[:160]
        raise TenfoldError(f"{folder / TABLE} is damaged: {problem}") from None


def describe_machine(extracted: Extracted, task: Task) -> str:
    """The size of a machine and whether it is its task's own, as lines for a terminal."""
    machine, differs = extracted.machine, extracted.differs
    most = "no smaller one does the same" if machine.smallest else f"at least {machine.bound}"
    lines = [
        f"{machine.states} states, {most}; from {extracted.contexts:,} contexts",
        f"the task's own machine: {'yes, state for state' if extracted.own else 'no'}",
    ]
    if differs is not None:
        read = " ".join(map(column_label(extracted), differs.word.tolist()))
        ours, theirs = (token_label(task, out) for out in (differs.output, differs.task_output))
        lines.append(
            f"they differ first after the columns {read} (lowest first): from state {differs.state} it "
            f"writes {ours}, the task {theirs}"
        )
    return "\n".join(lines)


def as_json(extracted: Extracted) -> dict[str, Any]:
    """The content of machine.json."""
    machine, differs = extracted.machine, extracted.differs
    return {
        "states": machine.states,
        "smallest": machine.smallest,
        "own": extracted.own,
        "contexts": extracted.contexts,
        "starts": machine.starts.tolist(),
        "output": machine.output.tolist(),
        "next": machine.next.tolist(),
        "columns": list(map(column_label(extracted), range(machine.symbols))),
        "differs": None
        if differs is None
        else {
            "word": [column_label(extracted)(int(symbol)) for symbol in differs.word],
            "state": differs.state,
            "writes": differs.output,
            "truth": differs.task_output,
        },
    }


def column_label(extracted: Extracted) -> Callable[[int], str]:
    """A function that writes a column's digits: `5,7`, with - where an operand has ended."""

    def label(symbol: int) -> str:
        digits = extracted.task.digits(symbol)
        return ",".join("-" if d == extracted.task.base else DIGITS[d] for d in digits.tolist())

    return label


def token_label(task: Task, output: int) -> str:
    """An output token as text."""
    return "the end" if output == END else task.vocabulary.symbols[output]
