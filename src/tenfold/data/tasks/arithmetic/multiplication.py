"""Multiplication of a number of any length by one of a few digits: 6*47 -> 282.

The multiplier is a hub: every column needs it. A column's digit times the multiplier, and the carry, which stays below
the multiplier, give what is written and the next carry.
"""

from __future__ import annotations

import functools

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.arithmetic.addition import settle
from tenfold.data.tasks.samplers import (
    level_by_level,
    multiplied,
    multiplier_of,
    multipliers,
    nines,
    numbers,
)
from tenfold.data.tasks.task import (
    Digits,
    Examples,
    Ints,
    NumberTask,
    Sampler,
    check_base,
    shortened,
    significant,
)
from tenfold.data.tasks.transducer import END, Transducer

STATES = 2**20  # of a machine that is still written as a table


class Multiplication(NumberTask):
    """`Multiplication(multiplier=2).parse("12*345")`; `multiplier` is how many digits the first number may have.

    Its length is drawn uniformly, then its digits; samplers draw the second number. With `least` or `most`, it is drawn
    uniformly from the least (0 by default) to the most, and others are refused. `least: 100` with 3 digits is the form of
    the `symmetry` paper: a multiplier of exactly 3 digits, which needs no padding.

    >>> task = Multiplication()
    >>> task.truth(task.parse("6*47"), 0), task.truth(task.parse("0*47"), 0)
    ('282', '0')
    >>> task.parse("12*345")
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: the multiplier 12 has 2 digits; at most 1, or set multiplier to 2, 3 or 4
    """

    name = "multiplication"
    operator = "*"
    terms = 2
    hub = 0
    usual_sampler = staticmethod(numbers)

    @property
    def counted(self) -> str:
        return "digits of the number that is multiplied"

    def __init__(
        self,
        multiplier: int = 1,
        base: int = 10,
        most: int | None = None,
        least: int | None = None,
    ) -> None:
        check_base(base)
        if not 1 <= multiplier <= 4:
            raise TenfoldError(f"a multiplier of {multiplier} digits; 1 to 4 are supported")
        highest = base**multiplier - 1
        if most is not None and not 1 <= most <= highest:
            raise TenfoldError(
                f"a multiplier of {most} at the most; 1 to {highest} fit {multiplier} digit(s)"
            )
        if least is not None and not 0 <= least <= (most or highest):
            raise TenfoldError(
                f"a multiplier of {least} at the least; 0 to {most or highest} can be"
            )
        self.multiplier, self.base = multiplier, base
        self.most = highest if most is None and least is not None else most
        self.least = least or 0

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        n, _, width = operands.shape
        size = int(lengths[:, 0].max(initial=1))
        if size > self.multiplier:
            row = int(lengths[:, 0].argmax())
            raise TenfoldError(
                f"the multiplier {shortened(self.text(operands[row, 0], size))} has {size} digits; "
                f"at most {self.multiplier}, or set multiplier to 2, 3 or 4"
            )
        places = (self.base ** np.arange(size)).astype(np.int32)
        value = (operands[:, 0, :size] * places).sum(-1, dtype=np.int32)
        if self.most is not None and value.max(initial=0) > self.most:
            raise TenfoldError(f"the multiplier {value.max()} is too large; at most {self.most}")
        if value.min(initial=self.least) < self.least:
            raise TenfoldError(f"the multiplier {value.min()} is too small; at least {self.least}")
        columns = np.zeros((n, width + self.multiplier), dtype=np.int32)
        np.multiply(operands[:, 1], value[:, None], out=columns[:, :width])
        answer = settle(columns, self.base)
        return Examples(operands, lengths, answer, significant(answer), hub=self.hub)

    def fit(self, rng: np.random.Generator, operands: Digits, lengths: Ints) -> tuple[Digits, Ints]:
        """A multiplier before what was drawn, unless the sampler drew that too."""
        if operands.shape[1] == self.terms:
            return operands, lengths
        drawn = multipliers(rng, len(operands), self.multiplier, self.base, self.most, self.least)
        return multiplied(drawn, (operands, lengths))

    def transducer(self) -> Transducer | None:
        """The state is the multiplier and the carry; 0 has a second state, after the one digit of its product.

        None where the table would be too large: 3 digits in a base of 12 or more.
        """
        values = self.base**self.multiplier if self.most is None else self.most + 1
        sizes = np.maximum(np.arange(values), 1)  # carries are below these
        sizes[0] = 2
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        if sizes.sum() > STATES:
            return None
        value = np.repeat(np.arange(len(sizes)), sizes)
        carry = np.arange(len(value)) - starts[value]
        digit = np.append(np.arange(self.base), 0)  # blank is the last symbol
        total = value[:, None] * digit + carry[:, None]  # (Q, S)
        output, then = total % self.base, starts[value][:, None] + total // self.base
        output[carry == 0, -1] = END
        output[1], then[:2] = END, 1  # the number 0
        return Transducer(self.base, 1, output, then, starts[self.least :], value, self.hub)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a product of 2 numbers", "1*101"))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """A number that ends in any number of nines: the largest carries. And multipliers of each length by themselves."""
        each: dict[str, Sampler] = {
            f"multiplier-{digits}": functools.partial(
                multiplier_of, digits=digits, largest=self.most, smallest=self.least
            )
            for digits in range(1, self.multiplier + 1)
            if (self.most is None or self.base ** (digits - 1) <= self.most)
            and self.least < self.base**digits
        }
        return {"nines": {"nines": nines}, "multipliers": each}

    def by_levels(self, length: int) -> dict[str, Sampler]:
        return level_by_level(length, self.drawn, self.base, self.multiplier, self.most, self.least)
