"""Proved models that come with the package: weights, recipe and certificate of each, by the name of what it does."""

from __future__ import annotations

from pathlib import Path

from tenfold.errors import TenfoldError
from tenfold.lab.run import Answer, Run
from tenfold.lab.schoolbook import Schoolbook
from tenfold.tasks.base import shortened

SHELF = Path(__file__).resolve().parents[1] / "proved"


def names() -> list[str]:
    """Every model that is there, the plainest first."""
    found = [path.parent.name for path in SHELF.glob("*/recipe.yaml")]
    return sorted(found, key=lambda name: (name.count("-"), name))


def shipped(name: str) -> Run | None:
    return Run.open(SHELF / name) if name in names() else None


def holds(run: Run) -> bool:
    """Whether a run is one of these: the package's own, where nobody writes."""
    return run.folder.resolve().is_relative_to(SHELF)


def answer(question: str, *, machine: bool = False) -> Answer:
    """The answer of the first model whose task the question is: `12+345` is the adder's.

    A product of two longer numbers is written out as at school, by the models for one digit and for sums. A model
    that says what is wrong with a question (7-12 is negative) knows what it is, and is heard.
    """
    told: list[TenfoldError] = []
    alone: list[str] = []
    for name in names():
        run = Run.open(SHELF / name)
        task = run.built.batcher.task
        try:
            task.parse(question)
        except TenfoldError as error:
            if task.terms > 1 and task.operator in question:
                told.append(error)
            continue
        if task.terms > 1:
            return run.look_up(question) if machine else run.ask(question)
        alone.append(name)
    if alone:
        raise TenfoldError(
            f"a number alone can be asked of {' and '.join(alone)}; name one: tenfold ask {alone[0]} "
            f"{shortened(question)}"
        )
    multiplier, adder = shipped("multiplication"), shipped("addition")
    if multiplier and adder and multiplier.built.batcher.task.operator in question:
        return Schoolbook(multiplier, adder).ask(question, machine=machine)
    if told:
        raise told[0]
    raise TenfoldError(
        f'no proved model answers "{shortened(question)}"; `tenfold ls proved` lists them'
    )
