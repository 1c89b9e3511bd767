"""Subtraction a-b with a >= b, by columns; the answer is as long as a.

1000-999 -> 0001. Where the answer's leading zeros begin is not known before its last column, so they are written.
Borrows are settled like carries, in the sum of a and the complement of b: 1000 + 9000 + 1 = 10001.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.arithmetic.addition import settle
from tenfold.data.tasks.arithmetic.comparison import running_sign
from tenfold.data.tasks.carries import draw_cascade, longest_cascade
from tenfold.data.tasks.samplers import Drawn, lengths, numbers, powers
from tenfold.data.tasks.task import (
    Digits,
    Examples,
    Ints,
    NumberTask,
    Sampler,
    check_base,
    shortened,
    significant,
)
from tenfold.data.tasks.transducer import END, REFUSED, Transducer


class Subtraction(NumberTask):
    """`Subtraction().parse("1000-999")`; what would be negative is refused, and drawn the other way round.

    >>> task = Subtraction()
    >>> task.truth(task.parse("1000-999"), 0)
    '0001'
    >>> task.parse("7-12")
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: 7-12 is negative; write the larger number first
    """

    name = "subtraction"
    operator = "-"
    terms = 2
    usual_sampler = staticmethod(numbers)

    def __init__(self, base: int = 10) -> None:
        check_base(base)
        self.base = base

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        n, _, width = operands.shape
        sums = np.zeros((n, width + 1), dtype=np.int32)
        sums[:, :width] = (self.base - 1 + operands[:, 0]) - operands[:, 1]
        sums[:, 0] += 1
        settled = settle(sums, self.base)
        answer, positive = settled[:, :width], settled[:, width]
        examples = Examples(operands, lengths, answer, lengths[:, 0].copy(), beyond="zeros")
        if len(wrong := np.flatnonzero(positive == 0)):
            question = shortened(self.question(examples, int(wrong[0])))
            raise TenfoldError(f"{question} is negative; write the larger number first")
        return examples

    def fit(self, rng: np.random.Generator, operands: Digits, lengths: Ints) -> tuple[Digits, Ints]:
        """The larger number first."""
        less = ~self.answerable(operands)
        operands = np.where(less[:, None, None], operands[:, ::-1], operands)
        return operands, np.where(less[:, None], lengths[:, ::-1], lengths)

    def answerable(self, operands: Digits) -> NDArray[np.bool_]:
        return np.asarray(running_sign(operands)[:, -1] >= 0)

    def transducer(self) -> Transducer:
        """The state is the borrow."""

        def column(borrow: int, digits: tuple[int | None, ...]) -> tuple[int, int]:
            a, b = digits
            if a is None:  # no larger number has ended before the smaller, or with a borrow
                return (END if b is None and not borrow else REFUSED), 0
            left = a - (b or 0) - borrow
            return left % self.base, int(left < 0)

        return Transducer.of(self.base, 2, 2, column)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a difference of 2 numbers", "100-11"))

    def cascade(self, examples: Examples) -> Ints | None:
        """1000-1 borrows over 3 columns: a column borrows where the complement of its upper digit and its lower digit carry."""
        upper, lower = examples.operands[:, 0], examples.operands[:, 1]
        return longest_cascade(np.stack([self.base - 1 - upper, lower], 1), self.base)

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """Borrows that run over 1, 2, 4, ... columns, and below the highest over all; 10...0 minus anything."""
        sizes = powers(length) | ({"cascade-all": length - 1} if length > 1 else {})
        cascades = {name: functools.partial(borrows, cascade=size) for name, size in sizes.items()}
        return {"cascades": {**cascades, "power": power}}


def borrows(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, cascade: int
) -> Drawn:
    """Differences of a number of `length` digits whose longest borrow runs over exactly `cascade` columns.

    A column borrows where the complement of its upper digit and its lower digit carry in a sum.
    """
    digits = np.zeros((n, 2, length), dtype=np.uint8)
    low = draw_cascade(rng, n, length - 1, base, cascade, leading=False)
    digits[:, 0, :-1], digits[:, 1, :-1] = base - 1 - low[:, 0], low[:, 1]
    digits[:, 0, -1] = rng.integers(1, base, n)
    digits[:, 1, -1] = rng.integers(0, digits[:, 0, -1])  # below: no borrow is left
    return digits, significant(digits)


def power(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """10...0 of `length` digits minus a shorter number."""
    digits = np.zeros((n, 2, length), dtype=np.uint8)
    shorter, drawn = lengths(rng, n, max(length - 1, 1), 1, base)
    digits[:, 1, : shorter.shape[2]] = shorter[:, 0]
    digits[:, 0, -1] = 1
    return digits, np.concatenate([np.full((n, 1), length), drawn], 1)
