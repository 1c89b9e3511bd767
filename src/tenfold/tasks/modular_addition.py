"""Addition modulo a number: (a+b) mod m, with as many digits as m-1 has.

97+5 -> 02 modulo 100. Residues of all columns are joined pairwise, then in fours, ...: a million digits are twenty
array operations, whatever the modulus.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.errors import TenfoldError
from tenfold.tasks.base import Digits, Examples, Ints, Sampler, Task, check_base
from tenfold.tasks.cascades import longest_cascade
from tenfold.tasks.operation import Operation
from tenfold.tasks.samplers import cascades, nines, numbers
from tenfold.tasks.transducer import END, Transducer


class ModularAddition(Task):
    """`ModularAddition(modulus=7).parse("12+345")`.

    >>> for modulus in (7, 100):
    ...     task = ModularAddition(modulus)
    ...     print(task.truth(task.parse("97+5"), 0), task.transducer() is not None)
    4 False
    02 True
    """

    name = "modular-addition"
    operator = "+"
    terms = 2
    usual_sampler = staticmethod(numbers)

    def __init__(self, modulus: int = 100, base: int = 10) -> None:
        check_base(base)
        self.modulus, self.base = modulus, base
        self.digits = places_of(modulus, base)

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        left = residue(operands.sum(1, dtype=np.int32), self.base, self.modulus)
        answer = digits_of_residues(left, self.digits, operands.shape[2], self.base)
        length = np.full(len(operands), self.digits, dtype=np.int64)
        return Examples(operands, lengths, answer, length, beyond="zeros")

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


def places_of(modulus: int, base: int) -> int:
    """How many digits the largest residue has.

    >>> places_of(100, 10), places_of(101, 10)
    (2, 3)
    """
    if modulus < 2:
        raise TenfoldError(f"a modulus of {modulus}; at least 2")
    return next(d for d in range(1, modulus + 1) if base**d >= modulus)


def digits_of_residues(left: NDArray[Any], digits: int, width: int, base: int) -> Digits:
    """Residues (N,) as answers (N, A), leading zeros and all, to problems whose operands have so many columns.

    >>> digits_of_residues(np.array([4, 50]), 2, 3, 10).tolist()
    [[4, 0, 0, 0], [0, 5, 0, 0]]
    """
    # an operand may have a single digit: room for the others
    answer = np.zeros((len(left), width + digits - 1), dtype=np.uint8)
    for place in range(digits):
        answer[:, place] = left % base
        left = left // base
    return answer


def residue(columns: NDArray[np.int32], base: int, modulus: int) -> NDArray[Any]:
    """What numbers of these columns, least significant first, leave over: (N, W) -> (N,).

    >>> residue(np.array([[12, 9]]), 10, 7).tolist()  # 102
    [4]
    """
    small = modulus <= 2**31  # then products of residues fit 64 bits; else Python's integers
    values = columns.astype(np.int64 if small else object) % modulus
    power = base % modulus
    while values.shape[-1] > 1:
        if values.shape[-1] % 2:
            values = np.concatenate([values, np.zeros_like(values[:, :1])], 1)
        values = (values[:, 0::2] + values[:, 1::2] * power) % modulus
        power = power * power % modulus
    return values[:, 0]
