"""Addition of two or more numbers in any base, by columns.

12+345 -> 357. All columns are added at once; carries are settled by looking back to the last column
that decides (the carry-lookahead of hardware adders), so a million digits cost a few array passes.
"""

from __future__ import annotations

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.carries import longest_cascade
from tenfold.data.tasks.carry_levels import add
from tenfold.data.tasks.operation import Operation
from tenfold.data.tasks.samplers import cascades, level_by_level, lone_carries, nines, numbers
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


class Addition(NumberTask):
    """`Addition().parse("12+345")`; `Addition().sample(64, length=5, rng=rng)`.

    >>> task = Addition()
    >>> task.truth(task.parse("999+1"), 0)
    '1000'
    >>> examples = task.sample(2, 3, np.random.default_rng(0))
    >>> [task.question(examples, i) + "=" + task.truth(examples, i) for i in range(2)]
    ['753+988=1741', '160+588=748']
    """

    name = "addition"
    operator = "+"
    usual_sampler = staticmethod(numbers)

    def __init__(self, terms: int = 2, base: int = 10) -> None:
        if terms < 2:
            raise TenfoldError(f"addition of {terms} term(s); at least 2 are needed")
        check_base(base)
        self.terms, self.base = terms, base
        # terms * (base^W - 1) needs this many digits beyond W, whatever W is
        self.room = next(r for r in range(1, 64) if base**r >= terms)

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        n, _, width = operands.shape
        sums = np.zeros((n, width + self.room), dtype=np.int32)
        operands.sum(1, dtype=np.int32, out=sums[:, :width])
        answer = settle(sums, self.base)
        return Examples(operands, lengths, answer, significant(answer))

    def transducer(self) -> Transducer:
        """The state is the carry; with `terms` operands it stays below their number."""

        def column(carry: int, digits: tuple[int | None, ...]) -> tuple[int, int]:
            total = carry + sum(digit or 0 for digit in digits)
            ended = carry == 0 and all(digit is None for digit in digits)
            return (END, 0) if ended else (total % self.base, total // self.base)

        return Transducer.of(self.base, self.terms, self.terms, column)

    def operation(self) -> Operation | None:
        return Operation(product=False) if self.terms == 2 else None

    def parse(self, text: str) -> Examples:
        example = self.operator.join(["10", "111", *["1"] * self.terms][: self.terms])
        return self.solve(*self.operands_of(text, f"a sum of {self.terms} numbers", example))

    def cascade(self, examples: Examples) -> Ints | None:
        """Of more than two numbers the levels of the parallel algorithm, which for two are the longest cascade."""
        if self.terms == 2:
            return longest_cascade(examples.operands, self.base)
        return add(examples.operands, self.base).levels

    def by_levels(self, length: int) -> dict[str, Sampler]:
        return level_by_level(length, self.terms, self.base)

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        slices: dict[str, dict[str, Sampler]] = {"nines": {"nines": nines}}
        if self.terms == 2:
            slices |= {"cascades": cascades(length, self.base), "carries": lone_carries(length)}
        return slices


def settle(columns: np.ndarray, base: int) -> Digits:
    """Column sums (..., W), least significant first, to digits: [15, 9, 0] -> [5, 0, 1].

    Carries above one are passed on all at once until every column is below 2 * base - 1; the
    remaining single carries come from the last column that is not base - 1.
    """
    columns = columns.astype(np.int32)
    while columns.max(initial=0) > 2 * base - 2:
        carry = columns // base
        columns -= carry * base
        columns[..., 1:] += carry[..., :-1]
    width = columns.shape[-1]
    decides = np.where(columns != base - 1, np.arange(width, dtype=np.int32), -1)
    last = np.maximum.accumulate(decides, axis=-1)
    generates = np.take_along_axis(columns >= base, np.maximum(last, 0), -1) & (last >= 0)
    columns[..., 1:] += generates[..., :-1]
    return (columns % base).astype(np.uint8)
