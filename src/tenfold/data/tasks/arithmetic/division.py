"""Long division of a number of any length by one digit: 100/8 -> 012, rounded down.

The divisor is a hub: every column needs it. From the highest column down, the remainder of the columns above times the
base, plus the column's digit, is divided by the divisor: the quotient is written, and the remainder goes on. So the
state flows from the highest digit to the units, against the direction of carries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import Drawn, lengths, numbers
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


class Division(NumberTask):
    """`Division().parse("100/8")`; the quotient is rounded down and written as long as the number that is divided.

    Samplers draw the number that is divided; the divisor is drawn uniformly from 1 to the highest digit.

    >>> task = Division()
    >>> task.truth(task.parse("100/8"), 0), task.truth(task.parse("3/7"), 0)
    ('012', '0')
    >>> task.parse("100/0")
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: 100/0 divides by 0; divide by 1 to 9
    """

    name = "division"
    operator = "/"
    terms = 2
    hub = 1
    as_long = True
    no_transducer = "needs the remainder of the higher columns, which a machine that begins with the units does not know"
    usual_sampler = staticmethod(numbers)

    @property
    def counted(self) -> str:
        return "digits of the number that is divided"

    def __init__(self, base: int = 10) -> None:
        check_base(base)
        self.base = base

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        number, divisor = operands[:, 0], operands[:, 1, 0].astype(np.int64)
        refused = (divisor == 0) | (lengths[:, 1] > 1)
        if len(wrong := np.flatnonzero(refused)):
            row = int(wrong[0])
            question = self.operator.join(
                shortened(self.text(*pair))
                for pair in zip(operands[row], lengths[row], strict=True)
            )
            what = "divides by 0" if lengths[row, 1] == 1 else "divides by more than one digit"
            raise TenfoldError(f"{question} {what}; divide by 1 to {DIGITS[self.base - 1]}")
        answer = np.zeros(
            (len(number), number.shape[1] + 1), dtype=np.uint8
        )  # with room for the hub
        answer[:, :-1] = quotients(number, divisor, self.base)
        return Examples(operands, lengths, answer, lengths[:, 0].copy(), self.hub, beyond="zeros")

    def fit(self, rng: np.random.Generator, operands: Digits, lengths: Ints) -> tuple[Digits, Ints]:
        """A divisor after what was drawn, unless the sampler drew that too."""
        if operands.shape[1] == self.terms:
            if not self.answerable(operands).all():
                raise TenfoldError(
                    f'a sampler of products does not fit the task "{self.name}"; numbers and lengths do'
                )
            return operands, lengths
        return divided((operands, lengths), rng.integers(1, self.base, len(operands)))

    def answerable(self, operands: Digits) -> NDArray[np.bool_]:
        return np.asarray((operands[:, 1, 0] > 0) & ~operands[:, 1, 1:].any(-1))

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a quotient of 2 numbers", "100/8"))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """Powers of the base, and multiples of the divisor less one: both keep a remainder over many columns."""
        return {"remainders": {"power": power_of_base, "almost": almost_multiples}}


def quotients(number: Digits, divisor: Ints, base: int) -> Digits:
    """Long division, one column at a time from the highest: (N, W), (N,) -> (N, W)."""
    answer = np.zeros_like(number)
    remainder = np.zeros(len(number), dtype=np.int64)
    for column in reversed(range(number.shape[1])):
        remainder = remainder * base + number[:, column]
        answer[:, column], remainder = remainder // divisor, remainder % divisor
    return answer


def divided(drawn: Drawn, divisors: Ints) -> Drawn:
    """Problems of one number and a divisor of one digit each."""
    operands, lengths_of = drawn
    second = np.zeros_like(operands)
    second[:, 0, 0] = divisors
    ones = np.ones((len(operands), 1), dtype=np.int64)
    return np.concatenate([operands, second], 1), np.concatenate([lengths_of, ones], 1)


def power_of_base(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """10...0 of `length` digits by any divisor: 1000/7 has a remainder in every column."""
    number = np.zeros((n, 1, length), dtype=np.uint8)
    number[:, 0, -1] = 1
    return divided((number, np.full((n, 1), length)), rng.integers(1, base, n))


def almost_multiples(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """One less than a multiple of the divisor: the last digit of the quotient hangs on every column."""
    number, _ = lengths(rng, n, length, 1, base)
    divisor = rng.integers(1, base, n)
    wide = number[:, 0].astype(np.int64)
    remainder = np.zeros(n, dtype=np.int64)
    for column in reversed(range(length)):
        remainder = (remainder * base + wide[:, column]) % divisor
    units = wide[:, 0] + divisor - 1 - remainder
    wide[:, 0] = np.where(
        units < base, units, units - divisor
    )  # one multiple less, if they have no room
    made = wide.astype(np.uint8)[:, None]
    return divided((made, significant(made)), divisor)
