"""An extracted machine as text and as files: its table (JSON), DOT, and drawings."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenfold.core.files import write_atomically
from tenfold.data.tasks.task import DIGITS, Task
from tenfold.data.tasks.transducer import END
from tenfold.features.proofs.extraction import Extracted
from tenfold.features.proofs.machine import as_dot
from tenfold.features.proofs.machine_drawing import draw_machine
from tenfold.runs.run import Run


def write_machine_of(run: Run, extracted: Extracted, folder: Path | None = None) -> dict[str, Path]:
    """Write a run's machine into its folder, or into `machine/` where the run is an exported model."""
    usual = Path("machine") if run.published else run.folder
    return write_machine(extracted, run.built.batcher.task, folder or usual)


def write_machine(extracted: Extracted, task: Task, folder: Path) -> dict[str, Path]:
    """Write machine.json, machine.dot, machine.svg and machine.png; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    label = column_label(extracted)
    written = {
        name: folder / f"machine.{suffix}"
        for name, suffix in (("table", "json"), ("dot", "dot"), ("drawing", "svg"), ("png", "png"))
    }
    write_atomically(written["table"], json.dumps(as_json(extracted)).encode())
    token = functools.partial(token_label, task)
    write_atomically(written["dot"], as_dot(extracted.machine, label, token).encode())
    for drawing in (written["drawing"], written["png"]):
        draw_machine(extracted.machine, drawing, label, extracted.differs, token)
    return written


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
