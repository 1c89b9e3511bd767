"""Any task, applied to the last few digits of its numbers: f(a mod 10^n, b mod 10^n).

According to the `principled` paper, this is the function that a model with absolute positions learns from numbers of n digits.
12345+6789 of the last 3 digits is 345+789 -> 1134. Questions stay as they are; only what is true changes. So whatever asks
and grades problems of a task also measures a model against the truncated function.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pydantic import PositiveInt

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.tasks.samplers import numbers
from tenfold.data.tasks.task import (
    Digits,
    Examples,
    Ints,
    NumberTask,
    Sampler,
    Task,
    Vocabulary,
    significant,
)

USUAL = Spec(name="addition")


class Truncated(NumberTask):
    """`Truncated.to(3, Addition())`; in a recipe `{name: truncated, of: addition, digits: 3}`.

    >>> task = Truncated(digits=3)
    >>> task.question(task.parse("12345+6789"), 0), task.truth(task.parse("12345+6789"), 0)
    ('12345+6789', '1134')
    """

    name = "truncated"
    usual_sampler = staticmethod(numbers)

    def __init__(self, of: Spec = USUAL, digits: PositiveInt = 3) -> None:
        from tenfold.data.tasks import TASKS  # it lists this one

        self._take(TASKS.build(of), digits)

    @classmethod
    def to(cls, digits: int, task: Task) -> Truncated:
        """The same of a task that is at hand."""
        made = cls.__new__(cls)
        made._take(task, digits)
        return made

    def _take(self, task: Task, digits: int) -> None:
        if digits < 1:
            raise TenfoldError(f"numbers truncated to {digits} digits; at least 1")
        if not isinstance(task, NumberTask):
            raise TenfoldError(f'the task "{task.name}" has no numbers that could be truncated')
        if task.has_hub:
            raise TenfoldError(
                f'the task "{task.name}" has a multiplier of its own length; one whose numbers are all alike can be truncated'
            )
        self.inner, self.digits = task, digits
        self.base, self.operator, self.terms = task.base, task.operator, task.terms

    @property
    def vocabulary(self) -> Vocabulary:
        return self.inner.vocabulary

    @property
    def counted(self) -> str:
        return self.inner.counted

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        solved = self.inner.solve(*self.cut(operands, lengths))
        return replace(solved, operands=operands, lengths=lengths)

    def solve_as(self, examples: Examples, operands: Digits, lengths: Ints) -> Examples:
        solved = self.inner.solve_as(examples, *self.cut(operands, lengths))
        return replace(solved, operands=operands, lengths=lengths)

    def cut(self, operands: Digits, lengths: Ints) -> tuple[Digits, Ints]:
        """The last digits of these numbers: 12045, 678 to 3 -> 45, 678."""
        kept = operands.copy()
        kept[..., self.digits :] = 0
        return kept, np.where(lengths > 0, np.minimum(significant(kept), lengths), 0)

    def truncate(self, examples: Examples) -> Examples:
        """Problems of the task itself with the answers of their last digits; what each asks stays as it is."""
        solved = self.solve_as(examples, examples.operands, examples.lengths)
        return replace(solved, wording=examples.wording)

    def sample(
        self, n: int, length: int, rng: np.random.Generator, sampler: Sampler | None = None
    ) -> Examples:
        return self.truncate(self.inner.sample(n, length, rng, sampler))

    def fit(self, rng: np.random.Generator, operands: Digits, lengths: Ints) -> tuple[Digits, Ints]:
        return self.inner.fit(rng, operands, lengths)

    def parse(self, text: str) -> Examples:
        return self.truncate(self.inner.parse(text))

    def question(self, examples: Examples, row: int) -> str:
        return self.inner.question(examples, row)

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        return self.inner.hard(length)
