"""Long multiplication of any two numbers by proved models: one line for each digit, then the sum of the lines.

345*67: a model proved for one-digit multipliers gives 7*345 = 2415 and 6*345 = 2070. A proved adder gives
2415+20700 = 23115. Both are right at every length, so the product is right. This code only splits the multiplier into
digits, appends zeros to a line, and passes one answer on as the next question.

Shapes: W digits of a number, least significant first.
"""

from __future__ import annotations

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.arithmetic.addition import Addition, settle
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.task import Digits, Examples, significant
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.runs.run import Answer, Run


class Schoolbook:
    """`Schoolbook(multiplier, adder).ask("345*67")`, from two runs in the same base."""

    def __init__(self, multiplier: Run, adder: Run) -> None:
        self.multiplier, self.adder = multiplier, adder
        task, sums = multiplier.built.batcher.task, adder.built.batcher.task
        if not (
            isinstance(task, Multiplication) and isinstance(sums, Addition) and sums.terms == 2
        ):
            raise TenfoldError(
                "Schoolbook needs a run of multiplication and a run of addition of two numbers, in this order"
            )
        if task.base != sums.base:
            raise TenfoldError("the two runs have different bases")
        self.task = task

    def ask(self, question: str, *, machine: bool = False) -> Answer:
        """Answer a product as a person writes it, with the truth."""
        operands, lengths = self.task.operands_of(question, "a product of 2 numbers", "345*67")
        first, second = (digits[:n] for digits, n in zip(operands[0], lengths[0], strict=True))
        few, many = sorted((first, second), key=len)
        product = self.product(few, many, machine=machine)
        truth = _true_product(few, many, self.task.base)
        shown = (self.task.text(d, len(d)) for d in (first, second, product, truth))
        first_text, second_text, answer, right = shown
        return Answer(f"{first_text}{self.task.operator}{second_text}", answer, right)

    def product(self, few: Digits, many: Digits, *, machine: bool = False) -> Digits:
        """The digits of a product; every digit is written by one of the two models."""
        total = np.zeros(1, dtype=np.uint8)
        for place, digit in enumerate(few):
            line = _answered(self.multiplier, np.array([digit]), many, machine)
            if line.any():
                line = np.concatenate([np.zeros(place, dtype=np.uint8), line])
                total = _answered(self.adder, total, line, machine)
        return total


def _answered(run: Run, first: Digits, second: Digits, machine: bool) -> Digits:
    """The answer of a run's model, or of its machine, to two numbers."""
    batcher = run.built.batcher
    operands = np.zeros((1, 2, max(len(first), len(second))), dtype=np.uint8)
    operands[0, 0, : len(first)], operands[0, 1, : len(second)] = first, second
    examples = batcher.task.solve(operands, np.array([[len(first), len(second)]]))
    tokens = extract_machine(run).answer(examples) if machine else _decoded(run, examples)
    if not len(tokens) or tokens.max() >= batcher.task.base:
        raise TenfoldError(f'the model of "{run.recipe.name}" wrote no number')
    return tokens.astype(np.uint8)


def _decoded(run: Run, examples: Examples) -> Digits:
    batcher = run.built.batcher
    answerer = run.answerer()
    answer = (
        answerer.answer(batcher(examples).without_answer(batcher.task.vocabulary.pad))[0]
        .cpu()
        .numpy()
    )
    return answer[answer != answerer.end]


def _true_product(few: Digits, many: Digits, base: int) -> Digits:
    """The correct product: sums of digit products in each column, then carries."""
    columns = np.zeros(len(few) + len(many), dtype=np.int64)
    columns[:-1] = np.convolve(few.astype(np.int64), many.astype(np.int64))
    digits = settle(columns, base)
    return digits[: int(significant(digits))]
