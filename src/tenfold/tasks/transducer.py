"""A task as a finite machine over columns: what it writes at a column follows from its state and the digits there.

Columns are read from the least significant on. 12+345 is (2, 5) (1, 4) (-, 3) (-, -), written 7 5 3 end; the
state of an adder is its carry. An operand that has ended has no digit: BLANK.

Shapes: N examples, M operands, S symbols (a column's digits as one number), Q states.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tenfold.tasks.base import Digits, Ints

END = -1  # in place of a digit: the answer ends here

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
    operands: int
    output: Ints  # (Q, S)
    next: Ints  # (Q, S)

    @classmethod
    def of(cls, base: int, operands: int, states: int, rule: Rule) -> Transducer:
        """From a rule for one state and one column; None is no digit."""
        entries: list[int | None] = [*range(base), None]
        columns = list(itertools.product(entries, repeat=operands))
        both = [[rule(state, column) for column in columns] for state in range(states)]
        table = np.array(both, dtype=np.int64)  # (Q, S, 2)
        return cls(base, operands, table[..., 0], table[..., 1])

    @property
    def states(self) -> int:
        return len(self.output)

    @property
    def symbols(self) -> int:
        return (self.base + 1) ** self.operands

    def digits(self, symbols: Ints) -> Ints:
        """The digits of columns, (...,) -> (..., M); `base` stands for no digit."""
        powers = (self.base + 1) ** np.arange(self.operands - 1, -1, -1)
        return symbols[..., None] // powers % (self.base + 1)

    def symbol(self, digits: Ints) -> Ints:
        """The inverse of `digits`."""
        powers = (self.base + 1) ** np.arange(self.operands - 1, -1, -1)
        return (digits * powers).sum(-1)

    def write(self, operands: Digits, lengths: Ints) -> Ints:
        """The answers to (N, M, W) digits as this machine writes them, END from their end on: (N, A)."""
        n, terms, width = operands.shape
        room = width + self.states + 2
        columns = np.full((n, terms, room), self.base, dtype=np.int64)
        columns[:, :, :width] = np.where(np.arange(width) < lengths[..., None], operands, self.base)
        symbols = self.symbol(columns.transpose(0, 2, 1))  # (N, room)
        state, ended = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
        written = []
        for column in range(room):
            out = np.where(ended, END, self.output[state, symbols[:, column]])
            written.append(out)
            ended = out == END
            state = self.next[state, symbols[:, column]]
            if ended.all():
                break
        return np.stack(written, 1)
