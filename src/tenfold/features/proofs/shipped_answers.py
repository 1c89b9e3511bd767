"""Answer a question by a run, or by one of the proved models that come with the package."""

from __future__ import annotations

import os
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import shortened
from tenfold.features.proofs.run_machine import look_up
from tenfold.features.proofs.schoolbook import Schoolbook
from tenfold.runs.answer import Answer, GoingOn
from tenfold.runs.run import SHELF, Run, Which, open_run, shipped, shipped_names


def ask(
    question: str,
    run: Run | Path | str | None = None,
    *,
    machine: bool = False,
    which: Which = "best",
    how: GoingOn | None = None,
) -> Answer:
    """Answer a question such as "123+4095" by a run, or without one by a proved model of the package.

    Arguments:
        run: a run, its folder, or the name of a shipped model.
        machine: look the answer up in the finite machine that the model computes.
        which: the checkpoint, "best" or "final".
        how: how a language model continues the text.

    >>> ask("99+1").answer
    '100'
    """
    if run is None:
        return answer(question, machine=machine)
    run = run if isinstance(run, Run) else open_run(run)
    return (
        look_up(run, question, which=which) if machine else run.ask(question, which=which, how=how)
    )


def answer(question: str, *, machine: bool = False) -> Answer:
    """Answer by the first model whose task can parse the question: the adder answers `12+345`.

    A product of two longer numbers is computed by long multiplication with the multiplier and the adder. Where no
    model parses the question, the error of a model with that operator is raised (7-12 is negative).
    """
    errors: list[TenfoldError] = []
    unary: list[str] = []
    for name in shipped_names():
        run = Run.open(SHELF / name)
        task = run.built.batcher.task
        try:
            task.parse(question)
        except TenfoldError as error:
            if task.terms > 1 and task.operator in question:
                errors.append(error)
            continue
        if task.terms > 1:
            return look_up(run, question) if machine else run.ask(question)
        unary.append(name)
    if question in shipped_names() or os.path.isfile(os.path.join(question, "recipe.yaml")):
        raise TenfoldError(
            f'{question} is a run; a question is missing: tenfold ask {question} "..."'
        )
    if unary:
        raise TenfoldError(
            f"{' and '.join(unary)} can answer a single number; name one: tenfold ask {unary[0]} "
            f"{shortened(question)}"
        )
    multiplier, adder = shipped("multiplication"), shipped("addition")
    if multiplier and adder and multiplier.built.batcher.task.operator in question:
        return Schoolbook(multiplier, adder).ask(question, machine=machine)
    if errors:
        raise errors[0]
    raise TenfoldError(
        f'no proved model answers "{shortened(question)}"; `tenfold ls proved` lists them'
    )
