"""Addition without carries: each column by itself, modulo the base (the `symmetry` paper's Appendix C.2).

58+67 -> 15: 8+7 writes 5, 5+6 writes 1, and nothing is carried. The answer has as many digits as the longest operand,
leading zeros too (58+52 -> 00), so that no column depends on another: what is left of addition is to find the digits
that belong together.
"""

from __future__ import annotations

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import numbers
from tenfold.data.tasks.task import Digits, Examples, Ints, NumberTask, check_base
from tenfold.data.tasks.transducer import END, Transducer


class DigitwiseAddition(NumberTask):
    """`DigitwiseAddition().parse("58+67")`; numbers are drawn as for sums.

    >>> task = DigitwiseAddition()
    >>> [task.truth(task.parse(text), 0) for text in ("58+67", "58+52", "999+1")]
    ['15', '00', '990']
    """

    name = "digitwise-addition"
    operator = "+"
    usual_sampler = staticmethod(numbers)

    def __init__(self, terms: int = 2, base: int = 10) -> None:
        if terms < 2:
            raise TenfoldError(f"addition of {terms} term(s); at least 2 are needed")
        check_base(base)
        self.terms, self.base = terms, base

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        answer = (operands.sum(1, dtype=np.int32) % self.base).astype(np.uint8)
        return Examples(operands, lengths, answer, lengths.max(1), beyond="zeros")

    def transducer(self) -> Transducer:
        """One state: nothing is carried."""

        def column(state: int, digits: tuple[int | None, ...]) -> tuple[int, int]:
            if all(digit is None for digit in digits):
                return END, state
            return sum(digit or 0 for digit in digits) % self.base, state

        return Transducer.of(self.base, self.terms, 1, column)

    def parse(self, text: str) -> Examples:
        example = self.operator.join(["10", "111", *["1"] * self.terms][: self.terms])
        return self.solve(*self.operands_of(text, f"a sum of {self.terms} numbers", example))
