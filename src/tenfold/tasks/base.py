"""What a task is: examples as digit arrays, the truth, and the tokens they are written with.

Digit arrays are numpy, least significant digit first, so that column i of every array has significance i.
Nothing on the hot path goes through Python integers: a million digits is one array operation.

Shapes: N examples, M operands, W columns of an operand, A columns of an answer.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from tenfold.errors import TenfoldError

if TYPE_CHECKING:
    from tenfold.tasks.transducer import Transducer

Digits = NDArray[np.uint8]
Ints = NDArray[np.int64]

Sampler = Callable[..., tuple[Digits, Ints]]  # (rng, n, length, terms, base), see samplers.py

DIGITS = "0123456789abcdef"


class Role(enum.IntEnum):
    """What a token does in the text. Operand m (from 0) has role `OPERAND + m`."""

    TEXT = 0
    OPERATOR = 1
    ANSWER = 2
    OPERAND = 3


@dataclass(frozen=True)
class Examples:
    """N problems and their answers.

    12+345: operands [[[2, 1, 0], [5, 4, 3]]], lengths [[2, 3]], answer [[7, 5, 3, 0]], answer_length [3].
    """

    operands: Digits  # (N, M, W), zero beyond each operand's length
    lengths: Ints  # (N, M)
    answer: Digits  # (N, A), zero beyond the answer's length
    answer_length: Ints  # (N,)
    hub: int | None = None  # the operand that every column needs, such as a multiplier

    def __len__(self) -> int:
        return len(self.operands)

    @property
    def longest(self) -> Ints:
        """The length of each example's longest operand, the hub left out (N,)."""
        if self.hub is None:
            return self.lengths.max(-1)
        return np.delete(self.lengths, self.hub, -1).max(-1)

    @property
    def room(self) -> int:
        """How many digits an answer may have beyond its longest operand."""
        return self.answer.shape[-1] - self.operands.shape[-1]


class Vocabulary:
    """Characters and their token numbers; a digit's number is its value.

    >>> v = Vocabulary(base=10, operator="+")
    >>> v.ids("12+345=").tolist()
    [1, 2, 14, 3, 4, 5, 13]
    >>> v.text([v.pad, 7, 5, 3, v.end])
    '_753;'
    """

    def __init__(self, base: int, operator: str) -> None:
        self.symbols = DIGITS[:base] + "_;^=" + operator
        self.pad, self.end, self.start, self.equals = range(base, base + 4)
        self.operator = base + 4

    def __len__(self) -> int:
        return len(self.symbols)

    def ids(self, text: str) -> Ints:
        return np.array([self.symbols.index(character) for character in text], dtype=np.int64)

    def text(self, ids: object) -> str:
        return "".join(self.symbols[int(i)] for i in np.asarray(ids))


class Task(ABC):
    """A problem over digit columns with one true answer."""

    name: ClassVar[str]
    base: int
    operator: str
    terms: int  # operands
    usual_sampler: Sampler

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.base, self.operator)

    @abstractmethod
    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        """The examples with these operands (N, M, W) and their true answers."""

    def sample(
        self, n: int, length: int, rng: np.random.Generator, sampler: Sampler | None = None
    ) -> Examples:
        """`n` examples with operands of up to `length` digits; same generator state, same examples."""
        check_length(length)
        draw = sampler or self.usual_sampler
        return self.solve(*draw(rng, n, length, self.terms, self.base))

    def transducer(self) -> Transducer | None:
        """The task as a finite machine over columns, if it is one."""
        return None

    @abstractmethod
    def parse(self, text: str) -> Examples:
        """The example that a person wrote, such as "12+345"."""

    def question(self, examples: Examples, row: int) -> str:
        """The problem as a person writes it: `12+345`."""
        pairs = zip(examples.operands[row], examples.lengths[row], strict=True)
        return self.operator.join(self.number(digits, length) for digits, length in pairs)

    def truth(self, examples: Examples, row: int) -> str:
        return self.number(examples.answer[row], examples.answer_length[row])

    def number(self, digits: Digits, length: int) -> str:
        """Digits, least significant first, as written: [2, 1, 0], 2 -> `12`."""
        symbols = np.frombuffer(DIGITS.encode(), dtype=np.uint8)
        return symbols[digits[:length][::-1]].tobytes().decode()


def check_length(length: int) -> None:
    if length < 1:
        raise TenfoldError(f"a length of {length} digits is too short; the least is 1")


def digits_of(text: str, base: int) -> Digits:
    """`345` -> [5, 4, 3]; the caller has checked that every character is a digit of the base."""
    codes = np.frombuffer(text.encode(), dtype=np.uint8)
    table = np.zeros(256, dtype=np.uint8)
    table[np.frombuffer(DIGITS[:base].encode(), dtype=np.uint8)] = np.arange(base, dtype=np.uint8)
    return table[codes][::-1]


def significant(digits: Digits) -> Ints:
    """The length of each number without leading zeros, at least 1: (..., W) -> (...)."""
    width = digits.shape[-1]
    nonzero = digits[..., ::-1] != 0
    return np.where(nonzero.any(-1), width - nonzero.argmax(-1), 1).astype(np.int64)
