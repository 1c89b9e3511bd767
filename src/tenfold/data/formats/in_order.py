"""Sequences as they are read: the input, then the answer, both from the first token on.

Positions count from the first token. An answer token has the column of the input token it belongs to, as its task
states (`SequenceTask.columns`): `cba` reversed is answered `abc;` with columns 2, 1, 0.

Shapes: N examples, Q tokens of a question, A tokens of an answer.
"""

from __future__ import annotations

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import Format, Line, Reversed, Written
from tenfold.data.roles import Role
from tenfold.data.tasks.sequence import SequenceTask
from tenfold.data.tasks.task import Examples, Ints, Task, Vocabulary


class InOrder(Format):
    """`cba` is answered `abc;` by the task `sorting`, `100/8` is answered `012;` by `division`."""

    name = "in-order"
    layouts = frozenset({"causal", "seq2seq"})

    def vocabulary(self, task: Task) -> Vocabulary:
        if not (isinstance(task, SequenceTask) or task.as_long):
            raise TenfoldError(
                f'the format "{self.name}" writes sequences, and the task "{task.name}" has numbers, whose answers begin '
                "with their units; use the format reversed"
            )
        return task.vocabulary

    def by_column(self, task: Task) -> bool:
        return isinstance(task, SequenceTask) and [*task.columns(3)] == [
            *range(task.answer_size(3))
        ]

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        """As `reversed` writes the question, but positions count from the first token of each operand."""
        written = Reversed().write(examples, vocabulary)
        line, lengths = written.question, examples.lengths
        first = np.zeros_like(line.role)  # the length of the operand that each token stands in
        for m in range(lengths.shape[1]):
            first = np.where(line.role == examples.role(m), lengths[:, m, None], first)
        place = np.where(line.significance >= 0, first - 1 - line.significance, -1)
        column = np.where(line.column >= 0, place, -1)
        question = Line(line.tokens, line.role, place, column)
        return Written(question, written.question_length, *self._answer(examples, vocabulary))

    def _answer(self, examples: Examples, vocabulary: Vocabulary) -> tuple[Line, Ints, Ints]:
        size, budget = examples.answer_length[:, None], examples.most
        place = np.arange(int(budget.max()) + 1, dtype=np.int64)[None]  # (1, A)
        from_last = (size - 1 - place).clip(0, examples.answer.shape[1] - 1)
        tokens = np.take_along_axis(examples.answer, from_last, 1).astype(np.int64)
        tokens = np.where(place < size, tokens, vocabulary.pad)
        tokens[place == size] = vocabulary.end
        column = place
        if examples.columns is not None:
            stated = np.take_along_axis(
                examples.columns, place.clip(max=examples.columns.shape[1] - 1), 1
            )
            column = np.where(place < budget[:, None], stated, place)
        role = np.full_like(place, Role.ANSWER)
        return Line(tokens, role, column, column), size[:, 0] + 1, budget + 1

    def read(
        self, tokens: Ints, vocabulary: Vocabulary, examples: Examples | None = None, row: int = 0
    ) -> str:
        ended = np.append(np.flatnonzero(tokens == vocabulary.end), len(tokens))[0]
        return vocabulary.text(tokens[:ended])
