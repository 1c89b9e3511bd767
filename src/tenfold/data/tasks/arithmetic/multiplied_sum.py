"""Two steps in one problem: a sum of two numbers, times a third. (12+34)*5 -> 230.

No step is written but the answer. The product needs all digits of the sum, so what a model has to find first is nowhere
in its text. A model reads the numbers with their operators between them, `12+34*5`.
"""

from __future__ import annotations

import re

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.arithmetic.addition import settle
from tenfold.data.tasks.arithmetic.full_multiplication import convolved
from tenfold.data.tasks.samplers import nines, numbers
from tenfold.data.tasks.task import (
    DIGITS,
    Digits,
    Examples,
    Ints,
    NumberTask,
    Sampler,
    check_base,
    shortened,
    significant,
)


class MultipliedSum(NumberTask):
    """`MultipliedSum(digits=4).parse("(12+34)*5")`; `digits` is how many the third number may have.

    The sum always comes first: `12+34*5`, as formats write it, is read as (12+34)*5.

    >>> task = MultipliedSum(digits=3)
    >>> examples = task.parse("(12+34)*5")
    >>> task.question(examples, 0), task.truth(examples, 0)
    ('(12+34)*5', '230')
    >>> task.parse("(1+2)*3456")
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: a sum times a number of 4 digits; at most 3, or set digits to 4
    """

    name = "multiplied-sum"
    operator = "+*"
    terms = 3
    no_transducer = "needs all lower columns of the sum and of the third number in each column"
    usual_sampler = staticmethod(numbers)

    def __init__(self, digits: int = 20, base: int = 10) -> None:
        check_base(base)
        if digits < 1:
            raise TenfoldError(f"a factor of {digits} digits; at least 1")
        self.digits, self.base = digits, base

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        n, _, width = operands.shape
        longest = int(lengths[:, 2].max(initial=1))
        if longest > self.digits:
            raise TenfoldError(
                f"a sum times a number of {longest} digits; at most {self.digits}, or set digits to {longest}"
            )
        places = width + self.digits + 1  # the sum has a digit more than its numbers
        sums = np.zeros((n, width + 1), dtype=np.int32)
        operands[:, :2].sum(1, dtype=np.int32, out=sums[:, :width])
        factor = np.zeros((n, width + 1), dtype=np.uint8)
        factor[:, :width] = operands[:, 2]
        columns = np.zeros((n, places), dtype=np.int32)
        product = convolved(settle(sums, self.base), factor)
        kept = min(product.shape[1], places)  # what is beyond is zero: the factor is short
        columns[:, :kept] = product[:, :kept]
        answer = settle(columns, self.base)
        return Examples(operands, lengths, answer, significant(answer), operator=(0, 1))

    def parse(self, text: str) -> Examples:
        number = f"([{DIGITS[: self.base]}]+)"
        plain = text.replace(" ", "")
        for pattern in (rf"\({number}\+{number}\)\*{number}", rf"{number}\+{number}\*{number}"):
            if found := re.fullmatch(pattern, plain):
                break
        else:
            raise TenfoldError(
                f'"{shortened(text)}" is not a sum of 2 numbers, times a third, in base {self.base}; '
                'write it as "(10+101)*11"'
            )
        return self.solve(*self.as_operands(found.groups()))

    def question(self, examples: Examples, row: int) -> str:
        pairs = zip(examples.operands[row], examples.lengths[row], strict=True)
        first, second, third = (self.text(tokens, length) for tokens, length in pairs)
        return f"({first}+{second})*{third}"

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        return {"nines": {"nines": nines}}
