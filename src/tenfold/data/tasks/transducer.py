"""A task as a finite machine over columns: what it writes at a column follows from its state and the digits there.

Columns are read from the least significant on. 12+345 is (2, 5) (1, 4) (-, 3) (-, -), written 7 5 3 end; the
state of an adder is its carry. An operand that has ended has no digit: blank.

A *hub* is an operand of a few digits that every column needs, such as a multiplier: it is not read by columns,
its value is chosen at the start and stored in the state. 6*47 starts in the state (6, carry 0) and reads 7, 4, -.

Shapes: N examples, M operands, M' operands read by columns (all but the hub), S symbols (a column's digits as one
number), Q states, U values of the hub.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tenfold.data.tasks.task import Digits, Ints

END = -1  # in place of a digit: the answer ends here
REFUSED = (
    -2
)  # in place of a digit: no problem of the task has this column here (7-12 ends with a borrow)

Rule = Callable[
    [int, tuple[int | None, ...]], tuple[int, int]
]  # state, digits -> output, next state


@dataclass(frozen=True)
class Transducer:
    """Tables (Q, S) of what is written and of the state that follows; it starts in state 0.

    >>> parity = Transducer.of(
    ...     2, 1, 2, lambda q, d: (END, q) if d[0] is None else (q ^ d[0], q ^ d[0])
    ... )
    >>> digits, lengths = np.array([[[1, 1, 0, 1]]]), np.array([[4]])
    >>> parity.write(digits, lengths)[0].tolist()
    [1, 0, 0, 1, -1]
    """

    base: int
    operands: int  # read by columns
    output: Ints  # (Q, S): a token of the answer, END or REFUSED
    next: Ints  # (Q, S)
    starts: Ints  # (U,): the state it starts in, for each value of the hub from the least on; one without a hub
    value: Ints  # (Q,): the hub's value in each state; 0 without one
    hub: int | None = None  # which operand it is

    @classmethod
    def of(
        cls,
        base: int,
        operands: int,
        states: int,
        rule: Rule,
        *,
        start: int = 0,
        hub: int | None = None,
        starts: Sequence[int] | None = None,
        value: Sequence[int] | None = None,
    ) -> Transducer:
        """From a rule for one state and one column; None is no digit."""
        entries: list[int | None] = [*range(base), None]
        columns = list(itertools.product(entries, repeat=operands))
        both = [[rule(state, column) for column in columns] for state in range(states)]
        table = np.array(both, dtype=np.int64)  # (Q, S, 2)
        begins = np.array([start] if starts is None else starts, dtype=np.int64)
        values = np.zeros(states, dtype=np.int64) if value is None else np.array(value)
        return cls(base, operands, table[..., 0], table[..., 1], begins, values, hub)

    @property
    def states(self) -> int:
        return len(self.output)

    @property
    def least(self) -> int:
        """The hub's least value; 0 without a hub."""
        return int(self.value[self.starts[0]])

    @property
    def symbols(self) -> int:
        return (self.base + 1) ** self.operands

    @property
    def tokens(self) -> int:
        """How many different tokens an answer may have: they are numbered below this."""
        return int(self.output.max()) + 1

    def digits(self, symbols: Ints | int) -> Ints:
        """The digits of columns, (...,) -> (..., M'); `base` stands for no digit."""
        powers = (self.base + 1) ** np.arange(self.operands - 1, -1, -1)
        return np.asarray(symbols)[..., None] // powers % (self.base + 1)

    def symbol(self, digits: Ints) -> Ints:
        """The inverse of `digits`."""
        powers = (self.base + 1) ** np.arange(self.operands - 1, -1, -1)
        return (digits * powers).sum(-1)

    def columns(self, operands: Digits, lengths: Ints, room: int) -> tuple[Ints, Ints]:
        """The columns of (N, M, W) digits and `room` more, (N, W + room), and the state each starts in, (N,)."""
        n, terms, width = operands.shape
        by_column = [m for m in range(terms) if m != self.hub]
        digits = np.full((n, self.operands, width + room), self.base, dtype=np.int64)
        there = np.arange(width) < lengths[:, by_column, None]
        digits[:, :, :width] = np.where(there, operands[:, by_column], self.base)
        value = np.zeros(n, dtype=np.int64)
        if self.hub is not None:  # few digits, but the array may be as wide as the others are long
            size = int(lengths[:, self.hub].max())
            value = (operands[:, self.hub, :size] * self.base ** np.arange(size)).sum(-1)
        return self.symbol(digits.transpose(0, 2, 1)), self.starts[value - self.least]

    def write(self, operands: Digits, lengths: Ints) -> Ints:
        """The answers to (N, M, W) digits as this machine writes them, END from their end on: (N, A)."""
        symbols, state = self.columns(operands, lengths, room=1)
        ended = np.zeros(len(state), dtype=bool)
        written = []
        further = [
            symbols[:, -1]
        ] * self.states  # no digit any more: it ends, or goes round in circles
        for column in itertools.chain(symbols.T, further):
            out = np.where(ended, END, self.output[state, column])
            written.append(out)
            ended = out == END
            state = self.next[state, column]
            if ended.all():
                break
        return np.stack(written, 1)
