"""Multiplication modulo a number: (a*b) mod m, with as many digits as m-1 has.

97*5 -> 85 modulo 100. The residues of both numbers are found as for a sum, and one product of them is left.
"""

from __future__ import annotations

import numpy as np

from tenfold.tasks.base import Digits, Examples, Ints, Sampler, Task, check_base
from tenfold.tasks.modular_addition import digits_of_residues, places_of, residue
from tenfold.tasks.operation import Operation
from tenfold.tasks.samplers import nines, numbers


class ModularMultiplication(Task):
    """`ModularMultiplication(modulus=7).parse("12*345")`.

    >>> for modulus in (7, 100, 10**30 + 57):
    ...     task = ModularMultiplication(modulus)
    ...     print(task.truth(task.parse("97*5"), 0))
    2
    85
    0000000000000000000000000000485
    """

    name = "modular-multiplication"
    operator = "*"
    terms = 2
    usual_sampler = staticmethod(numbers)

    def __init__(self, modulus: int = 100, base: int = 10) -> None:
        check_base(base)
        self.modulus, self.base = modulus, base
        self.digits = places_of(modulus, base)

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        a, b = (
            residue(operands[:, m].astype(np.int32), self.base, self.modulus)
            for m in range(self.terms)
        )
        answer = digits_of_residues(a * b % self.modulus, self.digits, operands.shape[2], self.base)
        length = np.full(len(operands), self.digits, dtype=np.int64)
        return Examples(operands, lengths, answer, length, beyond="zeros")

    def operation(self) -> Operation:
        return Operation(product=True, modulus=self.modulus)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a product of 2 numbers", "10*101"))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        return {"nines": {"nines": nines}}
