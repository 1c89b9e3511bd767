"""Random words around the numbers (the `symmetry` paper, Section 3.3): does arithmetic survive among text?"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.formats.woven import Words, Woven, wording_of
from tenfold.data.tasks.chance import below, draws
from tenfold.data.tasks.task import DIGITS, Examples, Ints, Task, Vocabulary, shortened

SYLLABLES = [c + v for c in "klmnprstvz" for v in "aeiou"]  # none is a hexadecimal number
MOST_WORDS = len(SYLLABLES) * (len(SYLLABLES) + 1)


def word(number: int) -> str:
    """
    >>> word(0), word(7), word(50), word(151)
    ('ka', 'li', 'kaka', 'kike')
    """
    longer, last = divmod(number, len(SYLLABLES))
    return (SYLLABLES[longer - 1] if longer else "") + SYLLABLES[last]


class InText(Woven):
    """In place, with 0 to `most` random words before the first integer, between the two, and after the second.

    frame 4: `ma re __12+ ti _345 ka lo` is answered `_` at the `+` and `_357` at the second integer.

    How many words and which follows from the problem's digits: a problem has its text, drawn from `words` different ones.
    """

    name = "in-text"
    words_follow_operator = True

    def __init__(
        self, frame: PositiveInt = 20, most: NonNegativeInt = 20, words: PositiveInt = 100
    ) -> None:
        super().__init__(frame)
        if words > MOST_WORDS:
            raise TenfoldError(f"{words} different words; there are {MOST_WORDS}")
        self.most, self.different = most, words

    def vocabulary(self, task: Task) -> Vocabulary:
        if task.vocabulary.symbols[: task.base] != tuple(DIGITS[: task.base]):
            raise TenfoldError(
                f'the format "{self.name}" writes words around digits; the task "{task.name}" has other symbols'
            )
        return task.vocabulary.with_words([word(number) for number in range(self.different)])

    def words(self, examples: Examples, vocabulary: Vocabulary) -> list[Words]:
        wording, gaps = wording_of(examples), examples.operands.shape[1] + 1
        if wording is not None:
            one = np.zeros(len(examples), dtype=np.int64)
            return [Words.choose([words], one, vocabulary) for words in wording]
        bits = draws(examples, gaps * (1 + self.most)).reshape(len(examples), gaps, 1 + self.most)
        count = below(bits[:, :, 0], self.most + 1)
        ids: Ints = len(vocabulary.symbols) + below(bits[:, :, 1:], self.different)
        return [Words(ids[:, gap], count[:, gap]) for gap in range(gaps)]

    def question(self, task: Task, examples: Examples, row: int) -> str:
        """With its words: `ma re 12+ ti 345 ka lo`."""
        vocabulary = self.vocabulary(task)
        gaps = self.words(examples.rows([row]), vocabulary)
        texts = [vocabulary.text(words.ids[0, : words.count[0]]) for words in gaps]
        bare = Task.question(task, examples, row)  # its own may not stand number by number
        numbers = re.findall(r"\w+\W?", bare)  # `12+`, `345`
        front = len(texts) - len(numbers)  # a problem of fewer numbers has more gaps before these
        pieces = [*texts[:front], *itertools.chain(*zip(numbers, texts[front:], strict=True))]
        return " ".join(piece for piece in pieces if piece)

    def parse(self, task: Task, text: str) -> Examples:
        """A problem with words, or without: then it has its own. Words before an operator are moved behind it."""
        known, digits = self.vocabulary(task).words, DIGITS[: task.base]
        bare = ""
        gaps: list[list[str]] = [[]]
        for chunk in text.split():
            if chunk in known:
                gaps[-1].append(chunk)
                continue
            if not set(chunk) <= {*digits, *task.operator}:
                raise unknown("word", chunk, known)
            if chunk[0] in digits and bare and bare[-1] in digits:
                raise TenfoldError(f'"{shortened(text)}" has no operator before {shortened(chunk)}')
            bare += chunk
            numbers = len(re.findall(f"[{digits}]+", bare))
            gaps += [[] for _ in range(numbers + 1 - len(gaps))]
        examples = task.parse(bare)
        if not any(gaps):
            return examples
        missing = examples.operands.shape[1] + 1 - len(gaps)
        return replace(examples, wording=((),) * missing + tuple(map(tuple, gaps)))
