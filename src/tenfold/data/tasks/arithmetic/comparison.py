"""Comparison of two numbers from the units on: at every column, which of the low parts is larger.

21?12 -> ><, highest first like a number: 1 < 2 at the units, 21 > 12 at the tens. The highest is the verdict for the
whole. What is written at a column depends on the columns up to it alone, so a finite machine can write it.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tenfold.data.tasks.samplers import Drawn, exact, numbers, powers
from tenfold.data.tasks.task import Digits, Examples, Ints, NumberTask, Sampler, check_base
from tenfold.data.tasks.transducer import END, Transducer


class Comparison(NumberTask):
    """`Comparison().parse("12?345")`; tokens of answers are `<`, `=` (the one that ends a question) and `>`.

    >>> task = Comparison()
    >>> for text in ("12?345", "345?12", "21?12", "7?7"):
    ...     print(text, task.truth(task.parse(text), 0))
    12?345 <<<
    345?12 >>>
    21?12 ><
    7?7 =
    """

    name = "comparison"
    operator = "?"
    extra = "<>"
    terms = 2
    usual_sampler = staticmethod(numbers)

    def __init__(self, base: int = 10) -> None:
        check_base(base)
        self.base = base

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        longest = lengths.max(-1)
        inside = np.arange(operands.shape[-1]) < longest[:, None]
        tokens = self.vocabulary.ids("=><").astype(np.uint8)  # by sign: 0, 1, -1
        answer = np.where(inside, tokens[running_sign(operands)], 0).astype(np.uint8)
        return Examples(operands, lengths, answer, longest, beyond="last")

    def transducer(self) -> Transducer:
        """The state is the verdict so far: equal, greater, less."""
        tokens = self.vocabulary.ids("=><").tolist()

        def column(verdict: int, digits: tuple[int | None, ...]) -> tuple[int, int]:
            if digits == (None, None):
                return END, verdict
            a, b = (digit or 0 for digit in digits)
            verdict = verdict if a == b else 1 if a > b else 2
            return tokens[verdict], verdict

        return Transducer.of(self.base, 2, 3, column)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a comparison of 2 numbers", "10?101"))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """Numbers that are alike in their 1, 2, 4, ... highest digits, in all but the lowest, and in all."""
        sizes = powers(length) | ({"cascade-all": length - 1} if length > 1 else {})
        cascades = {name: functools.partial(alike, highest=size) for name, size in sizes.items()}
        return {"cascades": {**cascades, "equal": functools.partial(alike, highest=length)}}


def running_sign(operands: Digits) -> NDArray[np.int8]:
    """The sign of the difference of the low parts at every column: (N, 2, W) -> (N, W).

    >>> running_sign(np.array([[[2, 1, 0], [5, 1, 0]], [[1, 2, 0], [2, 1, 0]]], dtype=np.uint8))
    array([[-1, -1, -1],
           [-1,  1,  1]], dtype=int8)
    """
    a, b = operands[:, 0], operands[:, 1]
    here = np.sign(a.astype(np.int8) - b.astype(np.int8))
    decides = np.where(here != 0, np.arange(here.shape[-1], dtype=np.int32), 0)
    return np.take_along_axis(here, np.maximum.accumulate(decides, axis=-1), -1)


def alike(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, highest: int
) -> Drawn:
    """Two numbers of `length` digits with exactly so many highest digits alike."""
    digits, lengths = exact(rng, n, length, terms, base)
    digits[:, 1, length - highest :] = digits[:, 0, length - highest :]
    if highest < length:  # the digit that decides: another one
        decides = length - highest - 1
        other = digits[:, 0, decides] + rng.integers(1, base, n)
        digits[:, 1, decides] = other % base
    return digits, lengths
