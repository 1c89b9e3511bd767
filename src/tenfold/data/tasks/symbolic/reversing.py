"""Reversing: the answer is the input from its last token to its first. `abcd` -> `dcba`."""

from __future__ import annotations

from tenfold.data.tasks.sequence import Alphabet, SequenceTask
from tenfold.data.tasks.task import Ints


class Reversing(SequenceTask):
    """The column of an answer token is the position of the input token that it repeats.

    >>> task = Reversing()
    >>> task.truth(task.parse("a b c d"), 0), list(task.columns(4))
    ('dcba', [3, 2, 1, 0])
    """

    name = "reversing"

    def __init__(self, alphabet: Alphabet = 10) -> None:
        super().__init__(alphabet)

    def answer(self, tokens: Ints) -> Ints:
        return tokens[::-1]

    def columns(self, length: int) -> range:
        return range(length - 1, -1, -1)
