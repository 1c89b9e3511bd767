"""An extracted machine as text and as files: its table (JSON) and DOT; and a drawing from such a table."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.core.files import write_atomically
from tenfold.data.tasks.task import DIGITS, Task
from tenfold.data.tasks.transducer import END
from tenfold.drawing.figures import Figure
from tenfold.features.proofs.extraction import Extracted
from tenfold.features.proofs.machine import Difference, Label, Machine, as_dot
from tenfold.features.proofs.machine_drawing import legend_of, machine_figure
from tenfold.features.proofs.machine_legend import as_html

TABLE = "machine.json"


def write_machine(extracted: Extracted, task: Task, folder: Path) -> dict[str, Path]:
    """Write machine.json, from which a report draws it, and machine.dot; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {"table": folder / TABLE, "dot": folder / "machine.dot"}
    write_atomically(written["table"], json.dumps(as_json(extracted)).encode())
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


def drawn_machine(table: dict[str, Any], task: Task) -> DrawnMachine | None:
    """The machine of a machine.json; None for a file of version 0.1, which does not say how columns are written."""
    columns: list[str] | None = table.get("columns")
    if columns is None:
        return None
    starts, output, following = (np.array(table[key]) for key in ("starts", "output", "next"))
    bound = len(output) if table["smallest"] else 0
    machine = Machine(starts, output, following, bound, len(output), np.arange(len(output)))
    differs = table["differs"]
    if differs is not None:
        word = np.array([columns.index(column) for column in differs["word"]])
        differs = Difference(0, word, differs["state"], differs["writes"], 0, differs["truth"])
    return DrawnMachine(machine, columns.__getitem__, functools.partial(token_label, task), differs)


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
