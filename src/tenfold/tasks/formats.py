"""Formats: how examples are written as tokens, and the facts that each token carries.

A format writes a question and an answer; a layout (`tenfold.batch`) arranges them for a model. The facts
are `index` (filled in by the layout), `role`, `significance` and `column`; see the table in `docs/core.md`.
Rows of different lengths are aligned at their right end, with pads on the left whose facts are all -1.

Shapes: N examples, Q tokens of a question, A tokens of an answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tenfold.errors import TenfoldError
from tenfold.registry import Registry
from tenfold.tasks.base import Examples, Ints, Role, Vocabulary


@dataclass(frozen=True)
class Line:
    """Rows of tokens with their facts; a fact is (N, T), or (1, T) when all rows are alike."""

    tokens: Ints  # (N, T)
    role: Ints
    significance: Ints
    column: Ints


@dataclass(frozen=True)
class Written:
    """A question, and the answer with the column at which each of its tokens is predicted."""

    question: Line
    asked: Ints  # (N,): how many tokens of each question are not padding
    answer: Line
    graded: Ints  # (N,): how many tokens of each answer count, its end included
    budget: Ints  # (N,): how many it may have, which follows from the question alone


class Format(ABC):
    """How examples become tokens, and how answer tokens become text again."""

    name: ClassVar[str]
    layouts: ClassVar[frozenset[str]]

    @abstractmethod
    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written: ...

    def read(self, tokens: Ints, vocabulary: Vocabulary) -> str:
        """The answer as a person writes it, from one row of answer tokens: `7 5 3 ;` -> `357`.

        What a model writes need not be a number: anything that is not a digit stays visible. Where the
        format pads to a width, leading zeros are padding.
        """
        text = vocabulary.text(tokens).split(vocabulary.symbols[vocabulary.end])[0][::-1]
        return text if self.longest() is None else text.lstrip("0") or text[-1:]

    def longest(self) -> int | None:
        """The longest operand that fits, if there is a limit."""
        return None

    def by_columns(self) -> bool:
        """Whether operands are written as they are and the answer from its units on, at any length alike."""
        return False

    def check(self, examples: Examples) -> None:
        limit, length = self.longest(), int(examples.lengths.max())
        if limit is not None and length > limit:
            raise TenfoldError(
                f'an operand of {length} digits does not fit the format "{self.name}", '
                f"which holds {limit}"
            )


class InPlace(Format):
    """Padded to a frame and read in place, one pass (`symmetry` paper); most significant digit first.

    frame 5: `___12+__345` is answered `___357` at the operator and the second operand.
    `frame: fit` takes the longest operand of each batch, so that nothing is computed for padding alone.
    """

    name = "in-place"
    layouts = frozenset({"in_place"})

    def __init__(self, frame: int | Literal["fit"] = 20) -> None:
        if frame != "fit" and frame < 1:
            raise TenfoldError(f'a frame of {frame}; at least 1, or "fit"')
        self.frame = frame

    def longest(self) -> int | None:
        return None if self.frame == "fit" else self.frame

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        self.check(examples)
        n, terms, width = examples.operands.shape
        frame = int(examples.longest.max()) if self.frame == "fit" else self.frame
        places = np.arange(frame - 1, -1, -1)  # significances, as written
        kept = min(width, frame)
        size = terms * (frame + 1) - 1
        tokens = np.full((n, size), vocabulary.pad, dtype=np.int64)
        role = np.full((1, size), Role.OPERATOR, dtype=np.int64)
        significance = np.full((n, size), -1, dtype=np.int64)
        for m in range(terms):
            at = m * (frame + 1)
            if m:
                tokens[:, at - 1] = vocabulary.operator
            inside = places < examples.lengths[:, m, None]  # (N, frame)
            digits = examples.operands[:, m, :kept][:, ::-1]
            field = tokens[:, at + frame - kept : at + frame]
            np.copyto(field, digits, where=inside[:, frame - kept :])
            role[:, at : at + frame] = Role.OPERAND + m
            significance[:, at : at + frame] = np.where(inside, places, -1)
        answer = self._answer(examples, vocabulary, frame)
        column = significance.copy()
        column[:, size - answer.column.shape[1] :] = answer.column
        question = Line(tokens, role, significance, column)
        whole = np.full(n, answer.tokens.shape[1], dtype=np.int64)
        return Written(question, np.full(n, size, dtype=np.int64), answer, whole, whole)

    def _answer(self, examples: Examples, vocabulary: Vocabulary, frame: int) -> Line:
        width = frame + examples.room
        column = np.arange(width - 1, -1, -1, dtype=np.int64)[None]
        inside = column < examples.answer_length[:, None]
        digits = np.zeros((len(examples), width), dtype=np.int64)
        kept = min(width, examples.answer.shape[1])
        digits[:, width - kept :] = examples.answer[:, :kept][:, ::-1]
        tokens = np.where(inside, digits, vocabulary.pad)
        role = np.full((1, width), Role.ANSWER, dtype=np.int64)
        return Line(tokens, role, np.where(inside, column, -1), column)

    def read(self, tokens: Ints, vocabulary: Vocabulary) -> str:
        return vocabulary.text(tokens).lstrip(vocabulary.symbols[vocabulary.pad])


class Reversed(Format):
    """`12+345` is answered `753;`, least significant digit first (`principled`, `bias`).

    `width: 4` writes `0012+0345`, answered `75300;`. `operands: reversed` writes `21+543`.
    """

    name = "reversed"
    layouts = frozenset({"causal", "seq2seq"})

    def __init__(
        self, width: int | None = None, operands: Literal["forward", "reversed"] = "forward"
    ) -> None:
        if width is not None and width < 1:
            raise TenfoldError(f"a width of {width}; at least 1")
        self.width, self.operands = width, operands

    def longest(self) -> int | None:
        return self.width

    def by_columns(self) -> bool:
        return self.width is None

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        self.check(examples)
        terms = examples.operands.shape[1]
        lengths = (
            examples.lengths if self.width is None else np.full_like(examples.lengths, self.width)
        )
        asked = lengths.sum(1) + terms - 1
        question = _blank(len(examples), int(asked.max()), vocabulary)
        from_right = np.arange(question.tokens.shape[1] - 1, -1, -1)[None]  # (1, Q)
        for m in reversed(range(terms)):
            length = lengths[:, m, None]
            inside = (from_right >= 0) & (from_right < length)
            place = from_right if self.operands == "forward" else length - 1 - from_right
            digit = np.take_along_axis(
                examples.operands[:, m], place.clip(0, examples.operands.shape[2] - 1), 1
            )
            digit = np.where(place < examples.lengths[:, m, None], digit, 0)
            column = -1 if m == examples.hub else place  # a hub belongs to every column
            _fill(question, inside, digit, Role.OPERAND + m, place, column)
            if m:
                _fill(question, from_right == length, vocabulary.operator, Role.OPERATOR, -1, -1)
            from_right = from_right - length - 1
        return Written(question, asked, *_reversed_answer(examples, vocabulary, self.width))


class Interleaved(Format):
    """Columns side by side, zero-padded: `12+345` is written `+031425`, answered `753;` (`bias` paper)."""

    name = "interleaved"
    layouts = frozenset({"causal", "seq2seq"})

    def __init__(self, width: int | None = None) -> None:
        if width is not None and width < 1:
            raise TenfoldError(f"a width of {width}; at least 1")
        self.width = width

    def longest(self) -> int | None:
        return self.width

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        self.check(examples)
        n, terms, width = examples.operands.shape
        columns = examples.longest if self.width is None else np.full(n, self.width, dtype=np.int64)
        asked = columns * terms + 1
        question = _blank(n, int(asked.max()), vocabulary)
        from_right = np.arange(question.tokens.shape[1] - 1, -1, -1)[None]  # (1, Q)
        place = from_right // terms
        for m in range(terms):
            inside = (place < columns[:, None]) & (from_right % terms == terms - 1 - m)
            digit = examples.operands[:, m][:, place[0].clip(max=width - 1)]
            digit = np.where(place < width, digit, 0)
            _fill(question, inside, digit, Role.OPERAND + m, place, place)
        _fill(
            question, from_right == asked[:, None] - 1, vocabulary.operator, Role.OPERATOR, -1, -1
        )
        return Written(question, asked, *_reversed_answer(examples, vocabulary, self.width))


def _blank(n: int, size: int, vocabulary: Vocabulary) -> Line:
    facts = [np.full((n, size), -1, dtype=np.int64) for _ in range(3)]
    return Line(np.full((n, size), vocabulary.pad, dtype=np.int64), *facts)


def _fill(
    line: Line,
    where: np.ndarray,
    tokens: NDArray[Any] | int,
    role: int,
    significance: Ints | int,
    column: Ints | int,
) -> None:
    np.copyto(line.tokens, tokens, where=where)
    np.copyto(line.role, role, where=where)
    np.copyto(line.significance, significance, where=where)
    np.copyto(line.column, column, where=where)


def _reversed_answer(
    examples: Examples, vocabulary: Vocabulary, width: int | None
) -> tuple[Line, Ints, Ints]:
    """The answer from its units on, then the end; its places do not tell where it ends."""
    digits = (
        examples.answer_length if width is None else np.full(len(examples), width + examples.room)
    )
    budget = (examples.longest if width is None else np.full(len(examples), width)) + examples.room
    place = np.arange(int(budget.max()) + 1, dtype=np.int64)[None]  # (1, A)
    kept = min(place.shape[1], examples.answer.shape[1])
    tokens = np.zeros((len(examples), place.shape[1]), dtype=np.int64)
    tokens[:, :kept] = examples.answer[:, :kept]
    tokens[place == digits[:, None]] = vocabulary.end
    tokens[place > digits[:, None]] = vocabulary.pad
    role = np.full_like(place, Role.ANSWER)
    return Line(tokens, role, place, place), digits + 1, budget + 1


FORMATS: Registry[Format] = Registry(
    "format", "tenfold.formats", of=(InPlace, Reversed, Interleaved)
)
