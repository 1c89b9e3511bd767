"""Running parity of bits from the units on (`bias` paper): y_0 = x_0, y_i = y_(i-1) xor x_i.

1101 -> 1011: at every bit, whether the ones up to it are odd in number; the highest is the parity of all.
"""

from __future__ import annotations

import numpy as np

from tenfold.tasks.base import Digits, Examples, Ints, Sampler, Task
from tenfold.tasks.samplers import nines, numbers
from tenfold.tasks.transducer import END, Transducer


class Parity(Task):
    """`Parity().parse("1101")`; the answer has as many bits.

    >>> task = Parity()
    >>> task.truth(task.parse("1101"), 0), task.truth(task.parse("1111"), 0)
    ('1011', '0101')
    """

    name = "parity"
    base = 2
    operator = "P"
    terms = 1
    usual_sampler = staticmethod(numbers)

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        inside = np.arange(operands.shape[-1]) < lengths
        answer = np.bitwise_xor.accumulate(operands[:, 0], axis=-1) * inside
        return Examples(operands, lengths, answer, lengths[:, 0].copy(), beyond="last")

    def transducer(self) -> Transducer:
        """The state is the parity so far."""

        def column(odd: int, digits: tuple[int | None, ...]) -> tuple[int, int]:
            return (END, odd) if digits[0] is None else (odd ^ digits[0], odd ^ digits[0])

        return Transducer.of(2, 1, 2, column)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a number", "1101"))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """Numbers that end in any number of ones."""
        return {"nines": {"nines": nines}}
