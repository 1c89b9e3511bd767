"""Very long problems: answered by a run's model and by its extracted machine, timed and checked.

Shapes: W digits.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.core.registry import first_problem
from tenfold.core.stored_files import read_json, sealed
from tenfold.data.tasks.task import Digits, Examples
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.models.decoding import by_neighbours
from tenfold.models.locality import NotCertifiable
from tenfold.runs.run import Run, Which

LONG_PROBLEMS = "feats.json"  # in a run's folder


@dataclass(frozen=True)
class LongProblem:
    """One problem, the time of each way to answer it, and whether every digit was right."""

    what: str
    digits: int
    sweeps: int  # passes of the model over the answer
    model_seconds: float
    machine_seconds: float
    right: bool  # whether the model's answer is correct
    agrees: bool  # whether the machine's answer equals the model's

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def summary(self) -> str:
        verdict = "every digit right" if self.right else "WRONG"
        same = "the same" if self.agrees else "SOMETHING ELSE"
        return (
            f"{self.what}: {verdict}, {self.model_seconds:.2f} s by the model; {same} by its machine, "
            f"{self.machine_seconds:.3f} s"
        )


Seconds = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]


class StoredProblem(pydantic.BaseModel):
    """The part of a stored long problem that a page shows."""

    model_config = pydantic.ConfigDict(strict=True)
    what: Annotated[str, pydantic.Field(max_length=200)]
    model_seconds: Seconds
    machine_seconds: Seconds
    right: bool
    agrees: bool


def write_long_problems(problems: list[LongProblem], folder: Path) -> None:
    """Write the problems of a run into its folder."""
    data = sealed({"problems": [each.as_json() for each in problems]})
    write_atomically(folder / LONG_PROBLEMS, data)


def read_long_problems(folder: Path) -> list[StoredProblem]:
    """The problems in a run's folder, checked; none if there is no file."""
    try:
        stored = read_json(folder, LONG_PROBLEMS)  # version 0.1 wrote the list alone
        listed = stored.get("problems") if isinstance(stored, dict) else stored
        return pydantic.TypeAdapter(list[StoredProblem]).validate_python(listed)
    except FileNotFoundError:
        return []
    except pydantic.ValidationError as error:
        path = folder / LONG_PROBLEMS
        raise TenfoldError(f"{path} is damaged: {first_problem(error)[:160]}") from None


def solve_long_problem(
    run: Run, what: str, examples: Examples, *, which: Which = "best"
) -> LongProblem:
    """Answer one problem by the model and by its machine."""
    batcher, model = run.built.batcher, run.model(which)
    swift, machine = run.answerer(which), extract_machine(run, which=which)
    if swift.local is None:
        raise NotCertifiable("the model is not local")
    batch = batcher(examples).without_answer(batcher.task.vocabulary.pad)
    began = time.monotonic()
    tokens, sweeps = by_neighbours(model, batch, swift.local, swift.end)
    model_seconds = time.monotonic() - began
    began = time.monotonic()
    looked_up = machine.answer(examples)
    machine_seconds = time.monotonic() - began
    answer = tokens[0].numpy()
    answer = answer[answer != swift.end]
    truth = examples.answer[0, : examples.answer_length[0]]
    digits = int(examples.longest.max())
    right, agrees = np.array_equal(answer, truth), np.array_equal(answer, looked_up)
    return LongProblem(what, digits, sweeps, model_seconds, machine_seconds, right, agrees)


def integer(digits: Digits, base: int = 10) -> int:
    """Convert digits, least significant first, to a Python integer, by halves: `int(text)` takes quadratic time.

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
