"""Tasks modulo a number: the answer is a residue, with as many digits as the largest one has.

Residues of all columns are joined pairwise, then in fours, ...: a million digits are twenty array operations, whatever the
modulus.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import numbers
from tenfold.data.tasks.task import Digits, Examples, Ints, NumberTask, check_base

Residues = NDArray[Any]  # (N,): 64 bits, or Python's integers


class Modular(NumberTask):
    """A task whose answer is the residue of a function of two numbers."""

    terms = 2
    usual_sampler = staticmethod(numbers)

    def __init__(self, modulus: int = 100, base: int = 10) -> None:
        check_base(base)
        self.modulus, self.base = modulus, base
        self.digits = places_of(modulus, base)

    @abstractmethod
    def left(self, operands: Digits) -> Residues:
        """The answer: (N, M, W) -> (N,)."""

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        left = self.left(operands)
        answer = digits_of_residues(left, self.digits, operands.shape[2], self.base)
        length = np.full(len(operands), self.digits, dtype=np.int64)
        return Examples(operands, lengths, answer, length, beyond="zeros")


def places_of(modulus: int, base: int) -> int:
    """How many digits the largest residue has.

    >>> places_of(100, 10), places_of(101, 10)
    (2, 3)
    """
    if modulus < 2:
        raise TenfoldError(f"a modulus of {modulus}; at least 2")
    return next(d for d in range(1, modulus + 1) if base**d >= modulus)


def digits_of_residues(left: Residues, digits: int, width: int, base: int) -> Digits:
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


def residue(columns: NDArray[np.int32], base: int, modulus: int) -> Residues:
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
