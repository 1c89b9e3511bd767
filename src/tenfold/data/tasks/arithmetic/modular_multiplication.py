"""Multiplication modulo a number: (a*b) mod m, with as many digits as m-1 has.

97*5 -> 85 modulo 100. The residues of both numbers are computed as for a sum, and one product of them is left.
"""

from __future__ import annotations

import numpy as np

from tenfold.data.tasks.arithmetic.modular import Modular, Residues, residue
from tenfold.data.tasks.operation import Operation
from tenfold.data.tasks.samplers import nines
from tenfold.data.tasks.task import Digits, Examples, Sampler


class ModularMultiplication(Modular):
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

    def left(self, operands: Digits) -> Residues:
        a, b = (
            residue(operands[:, m].astype(np.int32), self.base, self.modulus)
            for m in range(self.terms)
        )
        return a * b % self.modulus

    def operation(self) -> Operation:
        return Operation(product=True, modulus=self.modulus)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a product of 2 numbers", "10*101"))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        return {"nines": {"nines": nines}}
