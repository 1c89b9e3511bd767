"""Numbers in place, with words woven in: what formats for text have in common.

The tokens are those of `in-place`, in their order; words stand before, between and after the numbers. The answer is read
at the same tokens as without words, wherever these are: at the second integer, and for what overflows it, at the operator
and (a multiplier of several digits) the multiplier's last places.

Every token of a frame has a `column`: a pad too, its place in the integer, so that relations by column hold between all
positions of two integers, as in the `symmetry` paper. Only digits have a `significance`; words have neither.

Shapes: N examples, M operands, G = M + 1 gaps for words, T tokens of a line.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import InPlace, Line, Written
from tenfold.data.roles import Role
from tenfold.data.tasks.task import Examples, Ints, Vocabulary, Wording

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Words:
    """The words of one gap: (N, most) token numbers, of which each row has the first `count` (N,)."""

    ids: Ints
    count: Ints

    @classmethod
    def choose(cls, kinds: Sequence[Sequence[str]], which: Ints, vocabulary: Vocabulary) -> Words:
        """Of several ways to fill the gap, for every row the one with that number."""
        count = np.array([len(words) for words in kinds], dtype=np.int64)
        table = np.full((len(kinds), int(count.max(initial=0))), vocabulary.pad, dtype=np.int64)
        for row, words in enumerate(kinds):
            table[row, : len(words)] = vocabulary.ids(words)
        return cls(table[which], count[which])

    @property
    def inside(self) -> Mask:
        return np.arange(self.ids.shape[1]) < self.count[:, None]

    def line(self) -> Line:
        """As tokens without a place on any axis."""
        nowhere = np.full_like(self.ids, -1)
        return Line(self.ids, np.full_like(self.ids, Role.TEXT), nowhere, nowhere)


def side_by_side(lines: Sequence[Line]) -> Line:
    """One line of several: (N, T1), (N, T2), ... -> (N, T1 + T2 + ...)."""
    n = len(lines[0].tokens)
    facts = zip(*((x.tokens, x.role, x.significance, x.column) for x in lines), strict=True)
    return Line(
        *(np.concatenate([np.broadcast_to(x, (n, x.shape[1])) for x in fact], 1) for fact in facts)
    )


class Squeeze:
    """Takes out of rows what is not inside, and aligns what is left at the right end.

    >>> squeeze = Squeeze(np.array([[True, False, True], [True, True, True]]))
    >>> squeeze(np.array([[1, 2, 3], [4, 5, 6]]), -1).tolist(), squeeze.count.tolist()
    ([[-1, 1, 3], [4, 5, 6]], [2, 3])
    """

    def __init__(self, inside: Mask) -> None:
        self.count: Ints = inside.sum(1, dtype=np.int64)
        longest = int(self.count.max(initial=0))
        kept = np.argsort(inside, axis=1, kind="stable")  # what is left out comes first
        self.order = kept[:, inside.shape[1] - longest :]
        self.inside = np.take_along_axis(inside, self.order, 1)

    def __call__(self, rows: Ints, padding: int) -> Ints:
        return np.where(self.inside, np.take_along_axis(rows, self.order, 1), padding)

    def line(self, line: Line, pad: int) -> Line:
        facts = (line.role, line.significance, line.column)
        return Line(self(line.tokens, pad), *(self(fact, -1) for fact in facts))


def alternating(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """A column of one and a column of the other in turn: (N, T), (N, T) -> (N, 2T).

    >>> alternating(np.array([[1, 3]]), np.array([[2, 4]])).tolist()
    [[1, 2, 3, 4]]
    """
    pairs = np.stack(np.broadcast_arrays(first, second), -1)
    return pairs.reshape(len(pairs), -1)


class Woven(InPlace):
    """In place among words; a subclass defines the words and what stands for the operator."""

    words_follow_operator: ClassVar[bool]  # or stand before it

    def __init__(self, frame: int = 20) -> None:
        super().__init__(frame)
        self.size = frame

    @abstractmethod
    def words(self, examples: Examples, vocabulary: Vocabulary) -> list[Words]:
        """What fills the gaps before, between and after the numbers."""

    def operators(self, examples: Examples, vocabulary: Vocabulary) -> Ints | None:
        """The token that stands for the operator in each row (N,), if it is not the operator itself."""
        return None

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        bare = super().write(examples, vocabulary)
        n, size = bare.question.tokens.shape
        starts = self._starts(examples, size)
        question = _placed(bare.question, starts, examples, self.size)
        operators = self.operators(examples, vocabulary)
        if operators is not None:
            question.tokens[:, starts[1:] - 1] = operators[:, None]
        answer = np.full((n, size), -1, dtype=np.int64)
        answer[:, size - bare.answer.tokens.shape[1] :] = bare.answer.tokens
        cuts = [0, *(starts[1:] - (not self.words_follow_operator)).tolist(), size]
        lines: list[Line] = []
        answers: list[Ints] = []
        inside: list[Mask] = []
        gaps = self.words(examples, vocabulary)
        for gap, start, stop in zip(gaps, cuts, [*cuts[1:], size], strict=True):
            here = slice(start, stop)
            lines += [gap.line(), _part(question, here)]
            answers += [np.full_like(gap.ids, -1), answer[:, here]]
            inside += [gap.inside, np.ones((n, stop - start), dtype=bool)]
        squeeze = Squeeze(np.concatenate(inside, 1))
        question = squeeze.line(side_by_side(lines), vocabulary.pad)
        return Written(question, squeeze.count, *_tail(question, squeeze(np.hstack(answers), -1)))

    def read(
        self, tokens: Ints, vocabulary: Vocabulary, examples: Examples | None = None, row: int = 0
    ) -> str:
        if examples is None:
            raise TenfoldError(
                f'an answer in the format "{self.name}" cannot be read without its question'
            )
        where = self.write(examples.rows([row]), vocabulary).answer.tokens[0] >= 0
        return super().read(tokens[len(tokens) - len(where) :][where], vocabulary)

    def _starts(self, examples: Examples, size: int) -> Ints:
        """Where each operand's field begins."""
        terms = examples.operands.shape[1]
        fields = [examples.room if m == examples.short else self.size for m in range(terms)]
        from_right = np.cumsum([field + (m > 0) for m, field in enumerate(fields)][::-1])[::-1]
        return size - from_right + (np.arange(terms) > 0)


def wording_of(examples: Examples) -> Wording | None:
    """What a person wrote around the numbers, with a gap for every one and one more."""
    wording = examples.wording
    if wording is not None and len(wording) != examples.operands.shape[1] + 1:
        raise TenfoldError(
            f"words in {len(wording)} places; {examples.operands.shape[1]} numbers have "
            f"{examples.operands.shape[1] + 1}: before, between and after them"
        )
    return wording


def _placed(line: Line, starts: Ints, examples: Examples, frame: int) -> Line:
    """The line with a column for every pad of a frame: its place in the integer."""
    column = line.column.copy()
    for m, start in enumerate(starts):
        if m != examples.short:
            field = column[:, start : start + frame]
            place = np.where(examples.hubs == m, -1, np.arange(frame - 1, -1, -1))
            np.copyto(field, place, where=field < 0)
    return Line(line.tokens.copy(), line.role, line.significance, column)


def _part(line: Line, here: slice) -> Line:
    facts = (line.tokens, line.role, line.significance, line.column)
    return Line(*(fact[:, here] for fact in facts))


def _tail(question: Line, answer: Ints) -> tuple[Line, Ints, Ints]:
    """From the first token that answers in any row on: the answer, and how much of it counts."""
    first = int((answer >= 0).any(0).argmax())
    tokens, column = answer[:, first:], question.column[:, first:]
    role = np.where(tokens >= 0, Role.ANSWER, -1)
    column = np.where(tokens >= 0, column, -1)
    whole = np.full(len(tokens), tokens.shape[1], dtype=np.int64)
    return Line(tokens, role, column, column), whole, whole
