"""Problems written as sentences, for models that read in place and for those that write their answer.

The template of a problem follows from its digits. `held_out` of them, the last ones, are written only on request:
by a person, or by the slice `sentences`, which has every template by itself. The word before the second number does
the work of the operator, and has its role.

Shapes: N examples, T tokens of a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import Format, Line, Written, reversed_answer
from tenfold.data.formats.wording import phrases, spoken, understood, words_of
from tenfold.data.formats.woven import Squeeze, Words, Woven, side_by_side, wording_of
from tenfold.data.roles import Role
from tenfold.data.tasks.chance import below, draws
from tenfold.data.tasks.task import Examples, Ints, Task, Vocabulary, Wording


class Spoken(Format):
    """What both formats share: templates, and a person's own words."""

    held_out: int

    def vocabulary(self, task: Task) -> Vocabulary:
        return task.vocabulary.with_words(words_of(task))

    def phrasings(self, task: Task) -> dict[str, Wording]:
        """Every template: `sentence-1`, ..., and those that training never writes: `unseen-1`, ..."""
        every = phrases(task.operator)
        seen = len(self._taught(task.operator))
        return {
            (f"sentence-{n + 1}" if n < seen else f"unseen-{n + 1 - seen}"): phrase
            for n, phrase in enumerate(every)
        }

    def parse(self, task: Task, text: str) -> Examples:
        vocabulary = self.vocabulary(task)
        numbers, wording = understood(text, task, vocabulary)
        return replace(task.parse(task.operator.join(numbers)), wording=wording)

    def question(self, task: Task, examples: Examples, row: int) -> str:
        kinds, which = self._said(examples.rows([row]), self.vocabulary(task))
        numbers = task.question(examples, row).split(task.operator)
        return spoken(kinds[int(which[0])], numbers)

    def _taught(self, operator: str) -> tuple[Wording, ...]:
        every = phrases(operator)
        if self.held_out >= len(every):
            raise TenfoldError(
                f"{self.held_out} templates held out of {len(every)}; one must be left to train on"
            )
        return every[: len(every) - self.held_out]

    def _said(self, examples: Examples, vocabulary: Vocabulary) -> tuple[Sequence[Wording], Ints]:
        """The wordings there are, and which of them each problem has (N,)."""
        if examples.operands.shape[1] != 2:
            raise TenfoldError(
                f"a sentence is about 2 numbers, not {examples.operands.shape[1]}; another format may do"
            )
        wording = wording_of(examples)
        if wording is not None:
            return [wording], np.zeros(len(examples), dtype=np.int64)
        taught = self._taught(vocabulary.symbols[vocabulary.operator])
        return taught, below(draws(examples, 1)[:, 0], len(taught))


class SentencesInPlace(Spoken, Woven):
    """A sentence with its numbers padded to the frame, answered in place.

    frame 4: `what is __12 plus _345 ?` is answered `_` at `plus` and `_357` at the second number.
    """

    name = "sentences-in-place"
    words_follow_operator = False

    def __init__(self, frame: PositiveInt = 20, held_out: NonNegativeInt = 3) -> None:
        super().__init__(frame)
        self.held_out = held_out

    def words(self, examples: Examples, vocabulary: Vocabulary) -> list[Words]:
        kinds, which = self._said(examples, vocabulary)
        before, between, after = zip(*kinds, strict=True)
        gaps = (before, [words[:-1] for words in between], after)
        return [Words.choose(gap, which, vocabulary) for gap in gaps]

    def operators(self, examples: Examples, vocabulary: Vocabulary) -> Ints:
        kinds, which = self._said(examples, vocabulary)
        return vocabulary.ids([between[-1] for _, between, _ in kinds])[which]


class Sentences(Spoken):
    """A sentence answered from the units on: `what is 12 plus 345 ?` is answered `753;`."""

    name = "sentences"
    layouts = frozenset({"causal", "seq2seq"})

    def __init__(self, held_out: NonNegativeInt = 3) -> None:
        self.held_out = held_out

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        self.check(examples)
        kinds, which = self._said(examples, vocabulary)
        gaps = [Words.choose(gap, which, vocabulary) for gap in zip(*kinds, strict=True)]
        lines, inside = [gaps[0].line()], [gaps[0].inside]
        for m, gap in enumerate(gaps[1:]):
            place = np.arange(examples.operands.shape[2] - 1, -1, -1, dtype=np.int64)[None]
            role = np.full_like(place, Role.OPERAND + m)
            column = np.where(examples.hubs == m, -1, place)  # a hub belongs to every column
            digits = examples.operands[:, m, ::-1].astype(np.int64)
            lines += [Line(digits, role, place, column), gap.line()]
            inside += [place < examples.lengths[:, m, None], gap.inside]
        operator = np.arange(gaps[1].ids.shape[1]) == gaps[1].count[:, None] - 1
        lines[2] = replace(lines[2], role=np.where(operator, Role.OPERATOR, Role.TEXT))
        squeeze = Squeeze(np.concatenate(inside, 1))
        question = squeeze.line(side_by_side(lines), vocabulary.pad)
        return Written(question, squeeze.count, *reversed_answer(examples, vocabulary, None))
