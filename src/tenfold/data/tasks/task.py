"""What a task is: problems as token arrays, their true answers, and the tokens they are written with.

A problem is one or more input sequences, its operands, and one answer. Arrays are numpy, with the last token of every
operand in column 0. For a number this is the least significant digit, so column i has significance i. Nothing on the
hot path goes through Python integers: a million digits is one array operation.

`Task` is what training, evaluation and the features know. `NumberTask` adds digits. Tasks on tokens that are no numbers
derive from `SequenceTask` (`sequence.py`).

Shapes: N examples, M operands, W columns of an operand, A columns of an answer.
"""

from __future__ import annotations

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import LARGEST_DATA
from tenfold.data.roles import Role

if TYPE_CHECKING:
    from tenfold.data.tasks.operation import Operation
    from tenfold.data.tasks.transducer import Transducer

Digits = NDArray[np.uint8]  # token numbers; uint32 where a vocabulary is larger than 256
Ints = NDArray[np.int64]

DRAWN = 16  # bytes that a token of a problem takes while problems are drawn
Sampler = Callable[..., tuple[Digits, Ints]]  # (rng, n, length, terms, base), see samplers.py
Fit = Callable[[np.random.Generator, Digits, Ints], tuple[Digits, Ints]]  # `Task.fit`

DIGITS = "0123456789abcdef"

# Words before, between and after the numbers: (("what", "is"), ("plus",), ("?",)).
Wording = tuple[tuple[str, ...], ...]

# What an answer has above its highest digit. A number has nothing: zeros there are padding. An answer whose length
# follows from the question has zeros (1000-999 = 0001), or its last token again (a running verdict). An answer that is
# equally long for every question has its end there, whatever the width: the final bit of a parity.
Beyond = Literal["nothing", "zeros", "last", "end"]


@dataclass(frozen=True)
class Examples:
    """N problems and their answers.

    12+345: operands [[[2, 1, 0], [5, 4, 3]]], lengths [[2, 3]], answer [[7, 5, 3, 0]], answer_length [3].

    Problems of one task may have fewer operands than others: the first ones are missing, of length 0. `hub`, `beyond`
    and `operator` are one for all problems, or an array with one for each. Where a problem has different operators, such
    as (1+2)*3, `operator` is a tuple of them.
    """

    operands: Digits  # (N, M, W), zero beyond each operand's length
    lengths: Ints  # (N, M), 0 where there is no operand
    answer: Digits  # (N, A) token numbers, zero beyond the answer's length
    answer_length: Ints  # (N,)
    hub: int | Ints | None = (
        None  # the operand that every column needs, such as a multiplier; -1: none
    )
    beyond: Beyond | NDArray[np.str_] = "nothing"
    operator: int | Ints | tuple[int, ...] = (
        0  # which of the task's; a tuple: one before each operand but the first
    )
    wording: Wording | None = None  # the words around the numbers of all, where a person wrote them
    budget: Ints | None = None  # (N,): the most tokens an answer may have; None: `longest + room`
    columns: Ints | None = None  # (N, A): the input position of each answer token, in reading order

    def __len__(self) -> int:
        return len(self.operands)

    def rows(self, which: slice | list[int] | Ints) -> Examples:
        """Some of the problems."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        chosen: Any = {k: v[which] for k, v in values.items() if isinstance(v, np.ndarray)}
        return replace(self, **chosen)

    @property
    def hubs(self) -> Ints:
        """The operand that is a hub, -1 for none: (N, 1), or (1, 1) where all problems are alike."""
        return np.reshape(-1 if self.hub is None else self.hub, (-1, 1))

    @property
    def short(self) -> int | None:
        """The operand that is a hub in every problem of the task, so that a few places hold it."""
        return self.hub if isinstance(self.hub, int) else None

    def role(self, operand: int) -> Ints:
        """Of an operand's tokens: (N, 1), or (1, 1) where all problems are alike."""
        own = Role.OPERAND + (operand if self.short is not None else self.operands.shape[1])
        return np.where(self.hubs == operand, own, Role.OPERAND + operand)

    def operator_before(self, operand: int) -> Ints:
        """Which of the task's operators stands before an operand: (N, 1), or (1, 1) where all problems are alike."""
        own = self.operator[operand - 1] if isinstance(self.operator, tuple) else self.operator
        return np.reshape(own, (-1, 1))

    def beyond_of(self, row: int) -> str:
        """What an answer has above its highest digit."""
        return str(self.beyond if isinstance(self.beyond, str) else self.beyond[row])

    @property
    def longest(self) -> Ints:
        """The length of each example's longest operand, the hub left out (N,)."""
        by_column = np.arange(self.lengths.shape[1]) != self.hubs
        return np.where(by_column, self.lengths, 0).max(-1)

    @property
    def room(self) -> int:
        """How many tokens an answer may have beyond its longest operand; a hub has no more than these."""
        return self.answer.shape[-1] - self.operands.shape[-1]

    @property
    def most(self) -> Ints:
        """How many tokens each answer may have, which follows from the question alone (N,)."""
        return self.longest + self.room if self.budget is None else self.budget


class Vocabulary:
    """Symbols and their token numbers: inputs first, then pad, end, start, equals, operators, and answer symbols.

    A number as alphabet stands for the digits of that base; then the token number of a digit is its value.

    >>> v = Vocabulary(10, operator="+")
    >>> v.ids("12+345=").tolist()
    [1, 2, 14, 3, 4, 5, 13]
    >>> v.text([v.pad, 7, 5, 3, v.end])
    '_753;'

    Each character of `operator` is an operator. `extra` are the symbols that only answers have. Words, which a format
    may add, come last:

    >>> v.with_words(["what", "is"]).ids(["is", "7"]).tolist()
    [16, 7]

    Symbols of several characters are separated by spaces:

    >>> Vocabulary(["the", "cat", "a"]).text([0, 1, 2])
    'the cat a'
    """

    def __init__(
        self, alphabet: int | Sequence[str], operator: str = "", extra: Sequence[str] = ()
    ) -> None:
        inputs = DIGITS[:alphabet] if isinstance(alphabet, int) else alphabet
        self.base = len(inputs)
        self.words: tuple[str, ...] = ()
        self.symbols = (*inputs, *"_;^=", *operator, *extra)
        self.spaced = any(len(symbol) > 1 for symbol in self.symbols)
        self.pad, self.end, self.start, self.equals = range(self.base, self.base + 4)
        self.operator = self.base + 4  # the first one

    def __len__(self) -> int:
        return len(self.symbols) + len(self.words)

    def with_words(self, words: Sequence[str]) -> Vocabulary:
        """The same vocabulary with words after all symbols."""
        extended = copy.copy(self)
        extended.words = tuple(words)
        return extended

    def ids(self, text: str | Sequence[str]) -> Ints:
        """The token number of every character, or of every element of a sequence of symbols and words."""
        tokens = [*self.symbols, *self.words]
        return np.array([tokens.index(token) for token in text], dtype=np.int64)

    def text(self, ids: object) -> str:
        """Characters side by side; words and symbols of several characters separated by spaces."""
        symbols = [f" {symbol} " for symbol in self.symbols] if self.spaced else [*self.symbols]
        symbols += [f" {word} " for word in self.words]
        return " ".join("".join([symbols[i] for i in np.asarray(ids).tolist()]).split())


class Task(ABC):
    """A problem over columns of tokens with one true answer."""

    name: ClassVar[str]
    extra: Sequence[str] = ""  # symbols that only answers have
    hub: ClassVar[int | None] = None  # the operand that every column needs, such as a multiplier
    no_transducer: str = "is not declared as a finite machine over columns"  # why, if it has none
    as_long: bool = False  # whether a number's answer always has its length: then it may begin with its highest digit
    fills: bool = True  # whether a format may fill an operand with token 0 to a width, like 007
    base: int  # how many symbols inputs are made of
    operator: str  # a character; one for each operation of a task that has several
    terms: int  # operands, at the most
    usual_sampler: Sampler

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.base, self.operator, self.extra)

    @property
    def drawn(self) -> int:
        """How many operands samplers draw: those that are read by columns, all but a hub."""
        return self.terms - (self.hub is not None)

    @property
    @abstractmethod
    def counted(self) -> str:
        """What a problem's length counts, in words: `digits of the longer operand`."""

    @property
    def has_hub(self) -> bool:
        """Whether some of its problems have an operand that every column needs."""
        return self.hub is not None

    @abstractmethod
    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        """The examples with these operands (N, M, W) and their true answers."""

    def solve_as(self, examples: Examples, operands: Digits, lengths: Ints) -> Examples:
        """The problems of these examples with other operands; a task of several operations keeps the operation."""
        return self.solve(operands, lengths)

    def sample(
        self, n: int, length: int, rng: np.random.Generator, sampler: Sampler | None = None
    ) -> Examples:
        """`n` examples with operands of up to `length` tokens; same generator state, same examples."""
        check_length(length, n)
        draw = sampler or self.usual_sampler
        operands, lengths = self.problems(rng, n, length, draw, self.base)
        if operands.shape[1] != self.terms:
            raise TenfoldError(
                f'the sampler drew {operands.shape[1]} numbers; a problem of the task "{self.name}" has {self.terms}'
            )
        return self.solve(operands, lengths)

    def problems(
        self, rng: np.random.Generator, n: int, length: int, draw: Sampler, base: int
    ) -> tuple[Digits, Ints]:
        """What a sampler draws, fitted to this task."""
        given = (rng, n, length, self.drawn, base)
        if draws_problems(draw):
            return draw(*given, self.fit)
        return self.fit(rng, *draw(*given))

    def fit(self, rng: np.random.Generator, operands: Digits, lengths: Ints) -> tuple[Digits, Ints]:
        """Turn what was drawn into problems of this task: the larger number first, a multiplier before it."""
        return operands, lengths

    def answerable(self, operands: Digits) -> NDArray[np.bool_]:
        """Which of these operands (N, M, W) are a problem of the task: 12-7 is one, 7-12 is not."""
        return np.ones(len(operands), dtype=np.bool_)

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """The hard problems of this length: samplers by slice and label."""
        return {}

    def by_levels(self, length: int) -> dict[str, Sampler]:
        """Samplers of problems of this length by the levels of the parallel algorithm: `levels-0`, `levels-1`, ..."""
        return {}

    def cascade(self, examples: Examples) -> Ints | None:
        """How many columns the longest carry, or borrow, of each problem runs over (N,): 97+5 -> 2; None without any."""
        return None

    def transducer(self) -> Transducer | None:
        """The task as a finite machine over columns, if it is one."""
        return None

    def operation(self) -> Operation | None:
        """What it computes of its two numbers, if that is their sum or product, whole or modulo a number."""
        return None

    @abstractmethod
    def parse(self, text: str) -> Examples:
        """The example that a person wrote, such as "12+345"."""

    def question(self, examples: Examples, row: int) -> str:
        """The problem as a person writes it: `12+345`."""
        text = ""
        for m, length in enumerate(examples.lengths[row].tolist()):
            if length and text:
                before = examples.operator_before(m)
                text += self.operator[int(before[row % len(before), 0])]
            text += self.text(examples.operands[row, m], length) if length else ""
        return text

    def truth(self, examples: Examples, row: int) -> str:
        """The true answer as a person writes it."""
        return self.text(examples.answer[row], examples.answer_length[row])

    def text(self, tokens: Digits, length: int) -> str:
        """Tokens, column 0 first, as written: [2, 1, 0], 2 -> `12`."""
        return self.vocabulary.text(tokens[:length][::-1])


class NumberTask(Task):
    """A task whose operands are numbers in a base from 2 to 16, written without leading zeros."""

    @property
    def counted(self) -> str:
        most = {1: "operand", 2: "longer operand"}.get(self.drawn, "longest operand")
        return f"digits of the {most}"

    def operands_of(self, text: str, what: str, example: str) -> tuple[Digits, Ints]:
        """The numbers in a text such as `12+345`, or an error that states what was expected."""
        terms = [term.strip() for term in text.split(self.operator)]
        number = f"[{DIGITS[: self.base]}]+"
        if len(terms) != self.terms or not all(re.fullmatch(number, term) for term in terms):
            raise TenfoldError(
                f'"{shortened(text)}" is not {what} in base {self.base}; write it as "{example}"'
            )
        return self.as_operands(terms)

    def as_operands(self, texts: Sequence[str]) -> tuple[Digits, Ints]:
        """One problem with these numbers, which the caller has checked: ["12", "0345"] -> (1, M, W), (1, M)."""
        terms = [text.lstrip("0") or "0" for text in texts]
        lengths = np.array([[len(term) for term in terms]], dtype=np.int64)
        operands = np.zeros((1, self.terms, int(lengths.max())), dtype=np.uint8)
        for m, term in enumerate(terms):
            operands[0, m, : len(term)] = digits_of(term, self.base)
        return operands, lengths


def as_drawn(rng: np.random.Generator, operands: Digits, lengths: Ints) -> tuple[Digits, Ints]:
    """What was drawn, as it is: the `fit` of a task that adds nothing to it."""
    return operands, lengths


def whole_problems(sampler: Sampler) -> Sampler:
    """Mark a sampler that draws whole problems: `Task.sample` hands it the task's `fit` after the base."""
    sampler.whole_problems = True  # type: ignore[attr-defined]
    return sampler


def draws_problems(sampler: Sampler) -> bool:
    """Whether a sampler is marked so, with its options set or without."""
    return getattr(getattr(sampler, "func", sampler), "whole_problems", False)


def check_length(length: int, drawn: int = 0) -> None:
    """Raise for a length that there is not, and if the problems to be drawn need more than half of the memory."""
    if length < 1:
        raise TenfoldError(f"a length of {length} is too short; the least is 1")
    if (need := DRAWN * length * drawn) > LARGEST_DATA:
        raise TenfoldError(
            f"{drawn:,} problem{'s' * (drawn != 1)} of length {length:,} would take {need / 2**30:,.0f} GiB, and half of the memory is "
            f"{LARGEST_DATA / 2**30:,.0f} GiB; a smaller length or fewer problems are needed"
        )


def check_base(base: int) -> None:
    if not 2 <= base <= 16:
        raise TenfoldError(f"base {base}; 2 to 16 are supported")


def shortened(text: str) -> str:
    """The text, cut to fit into an error of one line."""
    return text if len(text) <= 40 else f"{text[:37]}..."


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
