"""Very long problems: answered by a run's model and by the machine that it is, timed, and checked.

Shapes: W digits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tenfold.data.tasks.task import Digits, Examples
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.models.decoding import by_neighbours
from tenfold.models.locality import NotCertifiable
from tenfold.runs.run import Run, Which

FEATS = "feats.json"
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Feat:
    """One problem, how long each way took, and whether every digit was right."""

    what: str
    digits: int
    sweeps: int
    model_seconds: float
    machine_seconds: float
    right: bool  # the model's answer, by the task's own arithmetic
    agrees: bool  # the machine's answer is the model's

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def feat(run: Run, what: str, examples: Examples, *, which: Which = "best") -> Feat:
    """Answer one problem both ways."""
    batcher, model = run.built.batcher, run.model(which)
    swift, machine = run.answerer(which), extract_machine(run, which=which)
    if swift.local is None:
        raise NotCertifiable("the model is not local")
    batch = batcher(examples).asked(batcher.task.vocabulary.pad)
    began = time.monotonic()
    found, sweeps = by_neighbours(model, batch, swift.local, swift.end)
    modelled = time.monotonic() - began
    began = time.monotonic()
    looked_up = machine.answer(examples)
    machined = time.monotonic() - began
    answer = found[0].numpy()
    answer = answer[answer != swift.end]
    truth = examples.answer[0, : examples.answer_length[0]]
    digits = int(examples.longest.max())
    right, agrees = np.array_equal(answer, truth), np.array_equal(answer, looked_up)
    return Feat(what, digits, sweeps, modelled, machined, right, agrees)


def integer(digits: Digits, base: int = 10) -> int:
    """Python's integer of digits, least significant first; by halves, for its own reading of text is quadratic.

    >>> integer(np.array([2, 1, 0, 5], dtype=np.uint8))
    5012
    """
    group = 1  # digits that fit a 64-bit number
    while base ** (group + 1) < 2**63:
        group += 1
    padded = np.zeros(-(-len(digits) // group) * group, dtype=np.int64)
    padded[: len(digits)] = digits
    parts = (padded.reshape(-1, group) * base ** np.arange(group, dtype=np.int64)).sum(1).tolist()
    power = base**group
    while len(parts) > 1:
        parts += [0] * (len(parts) % 2)
        parts = [low + power * high for low, high in zip(parts[::2], parts[1::2], strict=True)]
        power *= power
    return parts[0]
