"""Formats: how examples are written as tokens, and the facts that each token carries.

A format writes a question and an answer; a layout (`tenfold.data.batch`) arranges them for a model. The facts
are `index` (filled in by the layout), `role`, `significance` and `column`; see the table in `docs/core.md`.
Rows of different lengths are aligned at their right end, with pads on the left whose facts are all -1.

Shapes: N examples, Q tokens of a question, A tokens of an answer.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.roles import Role
from tenfold.data.tasks.task import Examples, Ints, Task, Vocabulary, Wording


@dataclass(frozen=True)
class Line:
    """Rows of tokens with their facts; a fact is (N, T), or (1, T) when all rows are alike."""

    tokens: Ints  # (N, T)
    role: Ints
    significance: Ints
    column: Ints


@dataclass(frozen=True)
class Written:
    """A question, and the answer with the column at which each of its tokens is predicted.

    An answer that is read in place may have gaps, where other tokens stand: -1.
    """

    question: Line
    question_length: Ints  # (N,): how many tokens of each question are not padding
    answer: Line
    graded: Ints  # (N,): how many tokens of each answer count, its end included
    budget: Ints  # (N,): how many it may have, which follows from the question alone


Ends = Literal["each", "together"]  # each operand on its own, or padded with zeros to the longest


class Format(ABC):
    """How examples become tokens, and how answer tokens become text again."""

    name: ClassVar[str]
    layouts: ClassVar[frozenset[str]]
    gives: ClassVar[str] = ""  # the label of a method that is given this text; see the glossary
    marked: bool = False  # whether the operator has a column, the first above all digits

    @abstractmethod
    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written: ...

    def read(
        self, tokens: Ints, vocabulary: Vocabulary, examples: Examples | None = None, row: int = 0
    ) -> str:
        """The answer as a person writes it, from one row of answer tokens: `7 5 3 ;` -> `357`.

        What a model writes need not be a number: anything that is not a digit stays visible. Where the
        format pads to a width, leading zeros are padding; but where the question determines how long its answer
        is (1000-999 = 0001), only what is `beyond` that, so the problems are `examples`.
        """
        ended = np.append(np.flatnonzero(tokens == vocabulary.end), len(tokens))[0]
        text = vocabulary.text(tokens[:ended][::-1])
        if not self.pads:
            return text
        beyond = "nothing" if examples is None else examples.beyond_of(row)
        if examples is None or beyond == "nothing":
            return text.lstrip("0") or text[-1:]
        if beyond == "end":
            return text
        above = max(len(text) - int(examples.answer_length[row]), 0)
        padding = text[above : above + 1] if beyond == "last" else "0"
        return text[:above].lstrip(padding or "0") + text[above:]

    def vocabulary(self, task: Task) -> Vocabulary:
        """A task's vocabulary, with the words that this format writes besides."""
        return task.vocabulary

    def parse(self, task: Task, text: str) -> Examples:
        """The example that a person wrote, in this format's words where it has any."""
        return task.parse(text)

    def question(self, task: Task, examples: Examples, row: int) -> str:
        """The problem as a person writes it; `parse` reads it again."""
        return task.question(examples, row)

    def phrasings(self, task: Task) -> dict[str, Wording]:
        """The ways to ask a problem, by label, where there are several."""
        return {}

    def longest(self) -> int | None:
        """The longest operand that fits, if there is a limit."""
        return None

    @property
    def pads(self) -> bool:
        """Whether answers are padded with zeros to a width."""
        return self.longest() is not None

    def ends(self) -> Ends | None:
        """How operands end, where columns of any length are written alike and the answer from its units on."""
        return None

    def by_column(self, task: Task) -> bool:
        """Whether the answer token at place p belongs to column p, as decoding by neighbours assumes."""
        return True

    def check(self, examples: Examples) -> None:
        limit, length = self.longest(), int(examples.longest.max())
        if limit is not None and length > limit:
            raise TenfoldError(
                f'an operand of {length} digits does not fit the format "{self.name}", '
                f"which holds {limit}"
            )


class InPlace(Format):
    """Padded to a frame and read in place, one pass (`symmetry` paper); most significant digit first.

    frame 5: `___12+__345` is answered `___357` at the operator and the second operand.
    `frame: fit` takes the longest operand of each batch, so that nothing is computed for padding alone; `spare` pads
    more, so that an answer that is longer than its operands has places among them: `6*_47` with `spare: 1`.
    With `vary`, half of the batches have a frame that fits so, the others any from there to `frame`: then no model can
    count on padding between the operands. A batch has its frame from its own digits, the same one every time.
    A multiplier has its own few places: `_6*__345` (at most 2 digits) is answered `___2070` from its last
    place on. Where the question is too short for its answer, operators stand before it: `S999` -> `1000`.
    Sums and products in one model: every number has a whole frame, `____6*__345`. A problem with fewer numbers than others
    has pads in front, for the missing ones and their operators: `______12+_345` beside `___1+__12+_345`.
    """

    name = "in-place"
    layouts = frozenset({"in_place"})

    def __init__(
        self, frame: int | Literal["fit"] = 20, vary: bool = False, spare: int = 0
    ) -> None:
        if frame != "fit" and frame < 1:
            raise TenfoldError(f'a frame of {frame}; at least 1, or "fit"')
        if spare < 0 or (spare and frame != "fit"):
            raise TenfoldError(
                f"{spare} spare places in a frame of {frame}; at least 0, and they go with frame: fit"
            )
        if frame == "fit" and vary:
            raise TenfoldError(
                "a frame that fits does not vary further; name the longest with frame"
            )
        self.frame, self.vary, self.spare = frame, vary, spare

    def longest(self) -> int | None:
        return None if self.frame == "fit" else self.frame

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        self.check(examples)
        n, terms, width = examples.operands.shape
        frame = self._frame(examples)
        fields = [examples.room if m == examples.short else frame for m in range(terms)]
        answer = self._answer(examples, vocabulary, frame)
        size = max(sum(fields) + terms - 1, answer.column.shape[1])
        operator = vocabulary.operator + examples.operator_before(1)  # (N|1, 1)
        tokens = np.broadcast_to(operator, (n, size)).astype(np.int64)  # between fields
        role = np.full((len(examples.hubs), size), Role.OPERATOR, dtype=np.int64)
        significance = np.full((n, size), -1, dtype=np.int64)
        column = significance.copy()
        end = size
        for m in reversed(range(terms)):
            field = slice(end - fields[m], end)
            place = np.arange(fields[m] - 1, -1, -1)  # significances, as written
            inside = place < examples.lengths[:, m, None]  # (N, field)
            digits = examples.operands[:, m, place.clip(max=width - 1)]
            tokens[:, field] = np.where(inside, digits, vocabulary.pad)
            role[:, field] = examples.role(m)
            significance[:, field] = np.where(inside, place, -1)
            hub = examples.hubs == m  # it belongs to every column
            column[:, field] = np.where(hub, -1, significance[:, field])
            end = field.start - 1
            if m:
                tokens[:, end] = vocabulary.operator + examples.operator_before(m)[:, 0]
                tokens[examples.lengths[:, m - 1] == 0, end] = vocabulary.pad
        column[:, size - answer.column.shape[1] :] = answer.column
        question = Line(tokens, role, significance, column)
        whole = np.full(n, answer.tokens.shape[1], dtype=np.int64)
        return Written(question, np.full(n, size, dtype=np.int64), answer, whole, whole)

    def _frame(self, examples: Examples) -> int:
        fits = int(examples.longest.max())
        if self.frame == "fit":
            return fits + self.spare
        if not self.vary:
            return self.frame
        rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(examples.operands).tobytes()))
        return fits if rng.random() < 0.5 else int(rng.integers(fits, self.frame + 1))

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

    def read(
        self, tokens: Ints, vocabulary: Vocabulary, examples: Examples | None = None, row: int = 0
    ) -> str:
        return vocabulary.text(tokens[np.cumsum(tokens != vocabulary.pad) > 0])


class Padded(Format):
    """Zeros in front of operands, to a width; a subclass decides the order of the digits.

    `width: 4` takes operands of up to 4 digits, and answers have as many digits as these may need. With `spare`, `width` is
    the least: an operand of n digits has n + spare places if that is more, so there is no longest one, and what overflows
    an operand has its place among the spare ones, `0123+0748` -> `1780` (`bias` paper).
    """

    def __init__(self, width: int | None = None, spare: int | None = None) -> None:
        if width is not None and width < 1:
            raise TenfoldError(f"a width of {width}; at least 1")
        if spare is not None and (spare < 0 or width is None):
            raise TenfoldError(f"{spare} spare places; at least 0, and they go with a width")
        self.width, self.spare = width, spare

    def vocabulary(self, task: Task) -> Vocabulary:
        if self.width is not None and not task.fills:
            raise TenfoldError(
                f'the format "{self.name}" with a width writes zeros in front; the task "{task.name}" has no zeros: '
                "leave width out"
            )
        return task.vocabulary

    @property
    def pads(self) -> bool:
        return self.width is not None

    def longest(self) -> int | None:
        return self.width if self.spare is None else None

    def widths(self, examples: Examples) -> Ints | None:
        """How many places the operands of each problem have (N,), if not as many as they have digits."""
        if self.width is None:
            return None
        if self.spare is None:
            return np.full(len(examples), self.width, dtype=np.int64)
        return np.maximum(examples.longest + self.spare, self.width)

    def answer(self, examples: Examples, vocabulary: Vocabulary) -> tuple[Line, Ints, Ints]:
        widths = self.widths(examples)
        if widths is not None:
            widths = widths + max(examples.room - (self.spare or 0), 0)
        return reversed_answer(examples, vocabulary, widths)


class Reversed(Padded):
    """`12+345` is answered `753;`, least significant digit first (`principled`, `bias`).

    `width: 4` writes `0012+0345`, answered `75300;`; with `spare: 1`, `7530;`. `operands: reversed` writes `21+543`.
    A multiplier is not widened so far, but to as many digits as it may have. With `start` a token stands in front that is
    always the same, `^12+345`: somewhere to attend to for what has nothing to look for.
    """

    name = "reversed"
    layouts = frozenset({"causal", "seq2seq"})

    def __init__(
        self,
        width: int | None = None,
        operands: Literal["forward", "reversed"] = "forward",
        spare: int | None = None,
        start: bool = False,
    ) -> None:
        super().__init__(width, spare)
        self.operands, self.start = operands, start

    def ends(self) -> Ends | None:
        return "each" if self.width is None and not self.start else None

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        self.check(examples)
        terms = examples.operands.shape[1]
        lengths, widths = examples.lengths, self.widths(examples)
        if widths is not None:
            short = np.arange(terms) == (-1 if examples.short is None else examples.short)
            places = np.where(short, examples.room, widths[:, None])
            lengths = np.where(lengths > 0, places, 0)
        size = lengths.sum(1) + (lengths > 0).sum(1) - 1 + self.start
        question = blank(len(examples), int(size.max()), vocabulary)
        from_right = np.arange(question.tokens.shape[1] - 1, -1, -1)[None]  # (1, Q)
        if self.start:
            first = from_right == size[:, None] - 1
            fill(question, first, vocabulary.start, Role.OPERATOR, -1, -1)
        for m in reversed(range(terms)):
            length = lengths[:, m, None]
            inside = (from_right >= 0) & (from_right < length)
            place = from_right if self.operands == "forward" else length - 1 - from_right
            digit = np.take_along_axis(
                examples.operands[:, m], place.clip(0, examples.operands.shape[2] - 1), 1
            )
            digit = np.where(place < examples.lengths[:, m, None], digit, 0)
            column = np.where(examples.hubs == m, -1, place)  # a hub belongs to every column
            fill(question, inside, digit, examples.role(m), place, column)
            if m:
                between = (from_right == length) & (lengths[:, m - 1, None] > 0)
                operator = vocabulary.operator + examples.operator_before(m)
                fill(question, between, operator, Role.OPERATOR, -1, -1)
            from_right = from_right - length - 1
        return Written(question, size, *self.answer(examples, vocabulary))


def blank(n: int, size: int, vocabulary: Vocabulary) -> Line:
    facts = [np.full((n, size), -1, dtype=np.int64) for _ in range(3)]
    return Line(np.full((n, size), vocabulary.pad, dtype=np.int64), *facts)


def fill(
    line: Line,
    where: np.ndarray,
    tokens: NDArray[Any] | int,
    role: Ints | int,
    significance: Ints | int,
    column: Ints | int,
) -> None:
    np.copyto(line.tokens, tokens, where=where)
    np.copyto(line.role, role, where=where)
    np.copyto(line.significance, significance, where=where)
    np.copyto(line.column, column, where=where)


def reversed_answer(
    examples: Examples, vocabulary: Vocabulary, widths: Ints | None
) -> tuple[Line, Ints, Ints]:
    """The answer from its units on, then the end; its places do not show where it ends.

    Padded to `widths` (N,) digits, if these are given and the answer goes on beyond its highest digit.
    """
    ends = np.reshape(examples.beyond, (-1,)) == "end"
    digits = examples.answer_length
    if widths is not None:
        digits = np.where(ends, digits, widths)
    budget = examples.most if widths is None else widths
    place = np.arange(int(budget.max()) + 1, dtype=np.int64)[None]  # (1, A)
    kept = min(place.shape[1], examples.answer.shape[1])
    tokens = np.zeros((len(examples), place.shape[1]), dtype=np.int64)
    tokens[:, :kept] = examples.answer[:, :kept]
    goes_on = np.reshape(examples.beyond, (-1, 1)) == "last"
    last = np.take_along_axis(examples.answer, examples.answer_length[:, None] - 1, 1)
    np.copyto(tokens, last, where=goes_on & (place >= examples.answer_length[:, None]))
    tokens[place == digits[:, None]] = vocabulary.end
    tokens[place > digits[:, None]] = vocabulary.pad
    role = np.full_like(place, Role.ANSWER)
    return Line(tokens, role, place, place), digits + 1, budget + 1
