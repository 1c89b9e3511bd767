"""Running parity of bits from the units on (`bias` paper): y_0 = x_0, y_i = y_(i-1) xor x_i; or the final bit alone.

1101 -> 1011: at every bit, whether the ones up to it are odd in number; the highest is the parity of all.
1101 -> 1 with `final`: one bit at column 0, however long the question; each bit of the question decides it.
"""

from __future__ import annotations

import numpy as np

from tenfold.data.tasks.samplers import nines, numbers
from tenfold.data.tasks.task import Digits, Examples, Ints, NumberTask, Sampler
from tenfold.data.tasks.transducer import END, Transducer


class Parity(NumberTask):
    """`Parity().parse("1101")`; the answer has as many bits, or with `final` one.

    >>> task = Parity()
    >>> task.truth(task.parse("1101"), 0), task.truth(task.parse("1111"), 0)
    ('1011', '0101')
    >>> last = Parity(final=True)
    >>> last.truth(last.parse("1101"), 0), last.truth(last.parse("1111"), 0)
    ('1', '0')
    """

    name = "parity"
    base = 2
    operator = "P"
    terms = 1
    usual_sampler = staticmethod(numbers)
    no_transducer = (
        "with the final bit alone writes at column 0 what all columns decide, so no finite machine over columns "
        "writes it; a proof takes the running output, final: false"
    )

    def __init__(self, final: bool = False) -> None:
        self.final = final

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        if self.final:
            answer = np.zeros_like(operands[:, 0])
            answer[:, 0] = np.bitwise_xor.reduce(operands[:, 0], axis=-1)
            return Examples(operands, lengths, answer, np.ones_like(lengths[:, 0]), beyond="end")
        inside = np.arange(operands.shape[-1]) < lengths
        answer = np.bitwise_xor.accumulate(operands[:, 0], axis=-1) * inside
        return Examples(operands, lengths, answer, lengths[:, 0].copy(), beyond="last")

    def transducer(self) -> Transducer | None:
        """The state is the parity so far; none for the final bit alone."""
        if self.final:
            return None

        def column(odd: int, digits: tuple[int | None, ...]) -> tuple[int, int]:
            return (END, odd) if digits[0] is None else (odd ^ digits[0], odd ^ digits[0])

        return Transducer.of(2, 1, 2, column)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a number", "1101"))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """Numbers that end in any number of ones."""
        return {"nines": {"nines": nines}}
