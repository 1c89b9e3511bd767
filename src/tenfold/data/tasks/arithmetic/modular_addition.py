"""Addition modulo a number: (a+b) mod m, with as many digits as m-1 has: 97+5 -> 02 modulo 100."""

from __future__ import annotations

import numpy as np

from tenfold.data.tasks.arithmetic.modular import Modular, Residues, residue
from tenfold.data.tasks.carries import longest_cascade
from tenfold.data.tasks.operation import Operation
from tenfold.data.tasks.samplers import cascades, nines
from tenfold.data.tasks.task import Digits, Examples, Ints, Sampler
from tenfold.data.tasks.transducer import END, Transducer


class ModularAddition(Modular):
    """`ModularAddition(modulus=7).parse("12+345")`.

    >>> for modulus in (7, 100):
    ...     task = ModularAddition(modulus)
    ...     print(task.truth(task.parse("97+5"), 0), task.transducer() is not None)
    4 False
    02 True
    """

    name = "modular-addition"
    operator = "+"

    def left(self, operands: Digits) -> Residues:
        return residue(operands.sum(1, dtype=np.int32), self.base, self.modulus)

    def operation(self) -> Operation:
        return Operation(product=False, modulus=self.modulus)

    def transducer(self) -> Transducer | None:
        """A machine where the low digits of the sum decide: m = d * base^j, d a divisor of the base.

        The state is the column, up to the last that counts, and the carry.
        """
        rest, whole = self.modulus, 0
        while rest % self.base == 0:
            rest, whole = rest // self.base, whole + 1
        if self.base % rest:
            return None

        def column(state: int, digits: tuple[int | None, ...]) -> tuple[int, int]:
            place, carry = divmod(state, 2)
            if place == self.digits:
                return END, state
            total = carry + sum(digit or 0 for digit in digits)
            written = total % (self.base if place < whole else rest)
            after = place + 1
            return written, 2 * after + (total // self.base if after < self.digits else 0)

        return Transducer.of(self.base, 2, 2 * self.digits + 1, column)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a sum of 2 numbers", "10+101"))

    def cascade(self, examples: Examples) -> Ints | None:
        return longest_cascade(examples.operands, self.base) if self.terms == 2 else None

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        return {"cascades": cascades(length, self.base), "nines": {"nines": nines}}
