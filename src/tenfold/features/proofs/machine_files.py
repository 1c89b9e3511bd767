"""An extracted machine as files: its table (JSON), DOT, and a drawing."""

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


def write_machine(found: Extracted, task: Task, folder: Path) -> dict[str, Path]:
    """Write machine.json, machine.dot, machine.svg and machine.png; say where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    label = column_label(found)
    written = {
        name: folder / f"machine.{suffix}"
        for name, suffix in (("table", "json"), ("dot", "dot"), ("drawing", "svg"), ("png", "png"))
    }
    write_atomically(written["table"], json.dumps(as_json(found)).encode())
    token = functools.partial(token_label, task)
    write_atomically(written["dot"], as_dot(found.machine, label, token).encode())
    for drawing in (written["drawing"], written["png"]):
        draw_machine(found.machine, drawing, label, found.differs, token)
    return written


def as_json(found: Extracted) -> dict[str, Any]:
    machine, differs = found.machine, found.differs
    return {
        "states": machine.states,
        "smallest": machine.smallest,
        "own": found.own,
        "contexts": found.contexts,
        "starts": machine.starts.tolist(),
        "output": machine.output.tolist(),
        "next": machine.next.tolist(),
        "differs": None
        if differs is None
        else {
            "word": [column_label(found)(int(symbol)) for symbol in differs.word],
            "state": differs.state,
            "writes": differs.output,
            "truth": differs.task_output,
        },
    }


def column_label(found: Extracted) -> Callable[[int], str]:
    """A column's digits as written: `5,7`; - where an operand has ended."""

    def label(symbol: int) -> str:
        digits = found.task.digits(symbol)
        return ",".join("-" if d == found.task.base else DIGITS[d] for d in digits.tolist())

    return label


def token_label(task: Task, output: int) -> str:
    return "the end" if output == END else task.vocabulary.symbols[output]
