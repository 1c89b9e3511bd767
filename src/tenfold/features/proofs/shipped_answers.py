"""Answers by the proved models that come with the package; no run is named."""

from __future__ import annotations

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import shortened
from tenfold.features.proofs.run_machine import look_up
from tenfold.features.proofs.schoolbook import Schoolbook
from tenfold.runs.answer import Answer
from tenfold.runs.run import Run
from tenfold.runs.shipped import SHELF, names, shipped


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
            return look_up(run, question) if machine else run.ask(question)
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
