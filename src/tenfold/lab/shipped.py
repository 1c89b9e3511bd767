"""Proved models that come with the package: weights, recipe and certificate of each, by the name of what it does."""

from __future__ import annotations

from pathlib import Path

from tenfold.errors import TenfoldError
from tenfold.lab.run import Run

SHELF = Path(__file__).resolve().parents[1] / "proved"


def names() -> list[str]:
    """Every model that is there, the plainest first."""
    found = [path.parent.name for path in SHELF.glob("*/recipe.yaml")]
    return sorted(found, key=lambda name: (name.count("-"), name))


def shipped(name: str) -> Run | None:
    return Run.open(SHELF / name) if name in names() else None


def answering(question: str) -> Run:
    """The first model whose task the question is: `12+345` is the adder's.

    One that says what is wrong with it (7-12 is negative) knows what it is, and is heard.
    """
    told: list[str] = []
    for name in names():
        run = Run.open(SHELF / name)
        task = run.built.batcher.task
        try:
            task.parse(question)
        except TenfoldError as error:
            if task.terms > 1 and task.operator in question:
                told.append(str(error))
        else:
            return run
    shown = question if len(question) <= 40 else f"{question[:37]}..."
    raise TenfoldError(
        told[0] if told else f'no proved model answers "{shown}"; `tenfold ls proved` lists them'
    )
