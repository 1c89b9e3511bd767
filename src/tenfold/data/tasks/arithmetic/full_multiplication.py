"""Multiplication of two numbers of many digits each: 123*4567 -> 561741.

Every digit of one meets every digit of the other, so no operand is short enough to be a hub, and no machine over columns
writes the product. `digits` is how many the shorter number may have: an answer has so much room beyond the longer one,
which a format must know before it sees the problem.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.arithmetic.addition import settle
from tenfold.data.tasks.operation import Operation
from tenfold.data.tasks.samplers import nines, numbers
from tenfold.data.tasks.task import (
    Digits,
    Examples,
    Ints,
    NumberTask,
    Sampler,
    check_base,
    significant,
)

FEW = 64  # columns of a factor that are added up one by one; more go through a Fourier transform


class FullMultiplication(NumberTask):
    """`FullMultiplication(digits=4).parse("123*4567")`.

    >>> task = FullMultiplication(digits=3)
    >>> task.truth(task.parse("123*4567"), 0), task.truth(task.parse("0*4567"), 0)
    ('561741', '0')
    >>> task.parse("1234*4567")
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: a product of two numbers of 4 digits or more; one of them may have 3 at the most, or set digits to 4
    """

    name = "full-multiplication"
    operator = "*"
    terms = 2
    usual_sampler = staticmethod(numbers)

    def __init__(self, digits: int = 20, base: int = 10) -> None:
        check_base(base)
        if digits < 1:
            raise TenfoldError(f"a factor of {digits} digits; at least 1")
        self.digits, self.base = digits, base

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        shorter = int(lengths.min(1).max(initial=1))
        if shorter > self.digits:
            raise TenfoldError(
                f"a product of two numbers of {shorter} digits or more; one of them may have {self.digits} at the most, "
                f"or set digits to {shorter}"
            )
        n, _, width = operands.shape
        columns = np.zeros((n, width + self.digits), dtype=np.int32)
        product = convolved(operands[:, 0], operands[:, 1])
        kept = min(product.shape[1], columns.shape[1])  # what is beyond is zero: one is short
        columns[:, :kept] = product[:, :kept]
        answer = settle(columns, self.base)
        return Examples(operands, lengths, answer, significant(answer))

    def operation(self) -> Operation:
        return Operation(product=True)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a product of 2 numbers", "10*101"))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        return {"nines": {"nines": nines}}


def convolved(a: Digits, b: Digits) -> NDArray[np.int64]:
    """Column sums of products, before any carry: (N, W) and (N, W) -> (N, 2 W - 1).

    >>> convolved(np.array([[2, 1]], dtype=np.uint8), np.array([[5, 4]], dtype=np.uint8)).tolist()
    [[10, 13, 4]]
    """
    n, width = a.shape
    if width > FEW:
        # Digits are below 16, so sums stay below 225 W, and the transform errs by far less than a half.
        size = 1 << (2 * width - 1).bit_length()
        spectrum = np.fft.rfft(a, size) * np.fft.rfft(b, size)
        return np.rint(np.fft.irfft(spectrum, size)[:, : 2 * width - 1]).astype(np.int64)
    sums = np.zeros((n, 2 * width - 1), dtype=np.int64)
    wide = b.astype(np.int64)
    for column in range(width):
        sums[:, column : column + width] += a[:, column, None] * wide
    return sums
