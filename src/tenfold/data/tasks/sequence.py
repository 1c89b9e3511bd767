"""Sequence tasks: tokens in, tokens out, over any alphabet; nothing is stripped, so `0312` stays `0312`.

A new task is one class. It states its alphabet, how to draw an input of a length, and the answer to an input:

    class Sorting(SequenceTask):
        name = "sorting"

        def __init__(self) -> None:
            super().__init__("abcdefghij")

        def answer(self, tokens):
            return np.sort(tokens)

Inside these methods a token is its number among `symbols` (the alphabet, then the symbols that only answers have), and
sequences stand in reading order. Arrays of `Examples` hold the last token in column 0, as they do for numbers.

Shapes: N examples, W columns of an input, A columns of an answer.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.tasks.samplers import Drawn, numbers
from tenfold.data.tasks.task import (
    Digits,
    Examples,
    Ints,
    Sampler,
    Task,
    Vocabulary,
    check_length,
    shortened,
)

Alphabet = int | str | list[str]  # so many letters, the characters of a text, or symbols
Tokens = Sequence[int] | NDArray[Any]
Draw = Callable[[np.random.Generator, int], Tokens]  # (rng, length) -> an input of that length


class SequenceTask(Task):
    """A task on sequences of tokens. A subclass defines `answer`, and `draw` where inputs are not uniform."""

    terms = 1
    operator = "|"  # stands before an input that is shorter than its answer, in place
    fills = False
    usual_sampler = staticmethod(numbers)

    def __init__(self, alphabet: Alphabet, outputs: str | list[str] = "") -> None:
        """`outputs` are the symbols that only answers have."""
        named = letters(alphabet) if isinstance(alphabet, int) else list(alphabet)
        self.symbols: list[str] = [*named, *outputs]
        self.base, self.extra = len(named), [*outputs]
        _check(self.symbols, self.base)
        self._vocabulary = Vocabulary(named, self.operator, self.extra)
        used = np.arange(len(self.symbols))  # answer symbols come after the special tokens
        self._ids = np.where(used < self.base, used, used + len(self._vocabulary) - len(used))
        self._dtype = np.dtype(np.uint8 if len(self._vocabulary) <= 256 else np.uint32)

    def answer(self, tokens: Ints) -> Tokens:
        """The true answer to one input, in reading order. A task may override `solve` instead, for whole arrays."""
        raise NotImplementedError

    def draw(self, rng: np.random.Generator, length: int) -> Tokens:
        """One input of exactly this length; uniform over the alphabet by default."""
        return rng.integers(0, self.base, length)

    def answer_size(self, length: int) -> int:
        """The most tokens that an answer to an input of this length may have."""
        return length

    def columns(self, length: int) -> Tokens:
        """The input position that each token of an answer belongs to, from the length of the input alone."""
        return range(self.answer_size(length))

    @property
    def vocabulary(self) -> Vocabulary:
        return self._vocabulary

    @property
    def counted(self) -> str:
        return "tokens of the input"

    def sample(
        self, n: int, length: int, rng: np.random.Generator, sampler: Sampler | None = None
    ) -> Examples:
        """Samplers decide how long inputs are, and `draw` what they are, unless the sampler is one of `Inputs`."""
        check_length(length, n)
        chosen = sampler or self.usual_sampler
        base = min(max(self.base, 2), 256)
        if isinstance(chosen, Inputs):
            return self.solve(*chosen(rng, n, length, self.drawn, base))
        return self.solve(*self.problems(rng, n, length, chosen, base))

    def fit(self, rng: np.random.Generator, operands: Digits, lengths: Ints) -> Drawn:
        return drawn_by(self.draw, rng, lengths[:, -1], self._dtype)

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        operands = operands.astype(self._dtype, copy=False)
        n, _, width = operands.shape
        sizes = {length: self.answer_size(length) for length in {width, *lengths[:, 0].tolist()}}
        answer = np.zeros((n, max(width, *sizes.values())), dtype=self._dtype)
        columns = np.zeros((n, answer.shape[1]), dtype=np.int64)
        answer_length, budget = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for row, length in enumerate(lengths[:, 0].tolist()):
            tokens = self.answer(operands[row, 0, :length][::-1].astype(np.int64))
            answer_length[row], budget[row] = size, most = len(tokens), sizes[length]
            if not 1 <= size <= most:
                raise TenfoldError(
                    f'the task "{self.name}" answers {size} token(s) to an input of {length}; '
                    f"1 to {most} are possible by its answer_size"
                )
            answer[row, :size] = self._ids[np.asarray(tokens)[::-1]]
            columns[row, :most] = self.columns(length)
        return Examples(
            operands, lengths, answer, answer_length, beyond="end", budget=budget, columns=columns
        )

    def parse(self, text: str) -> Examples:
        """Symbols separated by spaces; single characters may also stand side by side."""
        names = self.symbols[: self.base]
        tokens = [token for chunk in text.split() for token in self._split(chunk, names)]
        if not tokens:
            raise TenfoldError(
                "the input is empty; write some of the symbols "
                + ", ".join(names[:10])
                + ", ..." * (len(names) > 10)
            )
        for token in tokens:
            if token not in names:
                raise unknown("symbol", shortened(token), names)
        ids = np.array([names.index(token) for token in tokens][::-1], dtype=self._dtype)
        return self.solve(ids[None, None], np.array([[len(ids)]], dtype=np.int64))

    def _split(self, chunk: str, names: list[str]) -> Sequence[str]:
        return [chunk] if chunk in names or any(len(name) > 1 for name in names) else chunk


@dataclass(frozen=True)
class Inputs:
    """A sampler that draws inputs itself, for the slices of `hard`: `Inputs(draw)`, with `draw(rng, length)`."""

    draw: Draw

    def __call__(
        self, rng: np.random.Generator, n: int, length: int, terms: int, base: int
    ) -> Drawn:
        return drawn_by(self.draw, rng, np.full(n, length, dtype=np.int64), np.dtype(np.uint32))


def drawn_by(
    draw: Draw, rng: np.random.Generator, lengths: Ints, dtype: np.dtype[Any]
) -> tuple[Digits, Ints]:
    """Inputs of these lengths (N,) as operands (N, 1, W)."""
    operands = np.zeros((len(lengths), 1, int(lengths.max(initial=1))), dtype=dtype)
    for row, length in enumerate(lengths.tolist()):
        operands[row, 0, :length] = np.asarray(draw(rng, length))[::-1]
    return operands, lengths[:, None]


def letters(count: int) -> list[str]:
    """So many symbols: a, b, ..., z, aa, ab, ...

    >>> letters(3), letters(30)[-4:]
    (['a', 'b', 'c'], ['aa', 'ab', 'ac', 'ad'])
    """

    def every() -> Iterator[str]:
        for size in itertools.count(1):
            yield from map("".join, itertools.product(string.ascii_lowercase, repeat=size))

    return list(itertools.islice(every(), max(count, 0)))


def _check(symbols: list[str], inputs: int) -> None:
    if inputs < 1:
        raise TenfoldError("an alphabet of no symbols; at least 1 is needed")
    for place, symbol in enumerate(symbols):
        if not symbol or len(symbol.split()) != 1 or symbol != symbol.strip():
            raise TenfoldError(f'the symbol "{symbol}" of an alphabet is empty or has a space')
        if symbol in symbols[:place]:
            raise TenfoldError(f'the symbol "{symbol}" stands twice in an alphabet')
