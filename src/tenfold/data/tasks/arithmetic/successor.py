"""The successor of a number: 999 -> 1000 (`bias` paper). A carry goes in at the units."""

from __future__ import annotations

import functools

import numpy as np

from tenfold.data.tasks.arithmetic.addition import settle
from tenfold.data.tasks.carries import longest_cascade
from tenfold.data.tasks.samplers import Drawn, exact, nines, numbers, powers
from tenfold.data.tasks.task import (
    Digits,
    Examples,
    Ints,
    NumberTask,
    Sampler,
    check_base,
    significant,
)
from tenfold.data.tasks.transducer import END, Transducer


class Successor(NumberTask):
    """`Successor().parse("999")`. The operator, `S`, is written only where a format needs a token in front.

    >>> task = Successor()
    >>> task.truth(task.parse("999"), 0)
    '1000'
    >>> Successor(base=2).truth(Successor(base=2).parse("1011"), 0)
    '1100'
    """

    name = "successor"
    operator = "S"
    terms = 1
    usual_sampler = staticmethod(numbers)

    def __init__(self, base: int = 10) -> None:
        check_base(base)
        self.base = base

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        n, _, width = operands.shape
        columns = np.zeros((n, width + 1), dtype=np.int32)
        columns[:, :width] = operands[:, 0]
        columns[:, 0] += 1
        answer = settle(columns, self.base)
        return Examples(operands, lengths, answer, significant(answer))

    def transducer(self) -> Transducer:
        """The state is the carry, 1 to begin with."""

        def column(carry: int, digits: tuple[int | None, ...]) -> tuple[int, int]:
            if digits[0] is None and not carry:
                return END, 0
            total = (digits[0] or 0) + carry
            return total % self.base, total // self.base

        return Transducer.of(self.base, 1, 2, column, start=1)

    def parse(self, text: str) -> Examples:
        return self.solve(*self.operands_of(text, "a number", "101"))

    def cascade(self, examples: Examples) -> Ints | None:
        """1999 -> 2000 carries over 3 columns."""
        one = np.zeros_like(examples.operands)
        one[..., 0] = 1
        return longest_cascade(np.concatenate([examples.operands, one], 1), self.base)

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """Numbers that end in exactly 1, 2, 4, ... nines, and in any number of them."""
        sizes = {name: size for name, size in powers(length).items() if size < length}
        if self.base == 2:  # the highest digit is a 1, so it cannot be what ends a run of ones
            sizes = {name: size for name, size in sizes.items() if size < length - 1}
        cascades = {name: functools.partial(ending, nines=size) for name, size in sizes.items()}
        return {"cascades": dict(cascades), "nines": {"nines": nines}}


def ending(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, nines: int
) -> Drawn:
    """Numbers of `length` digits that end in exactly so many nines, fewer than all."""
    digits, lengths = exact(rng, n, length, terms, base)
    digits[..., :nines] = base - 1
    least = 1 if nines == length - 1 > 0 else 0
    digits[..., nines] = rng.integers(least, base - 1, (n, terms))
    return digits, lengths
