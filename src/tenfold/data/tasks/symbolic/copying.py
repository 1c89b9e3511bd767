"""Copying: the answer is the input, token by token. `0312` -> `0312`."""

from __future__ import annotations

from tenfold.data.tasks.sequence import Alphabet, SequenceTask
from tenfold.data.tasks.task import Ints


class Copying(SequenceTask):
    """`alphabet` is a number of letters, the characters of a text, or a list of symbols.

    >>> task = Copying("0123456789")
    >>> task.truth(task.parse("0312"), 0)
    '0312'
    >>> words = Copying(["the", "cat", "sat"])
    >>> words.truth(words.parse("the cat sat the"), 0)
    'the cat sat the'
    """

    name = "copying"

    def __init__(self, alphabet: Alphabet = 10) -> None:
        super().__init__(alphabet)

    def answer(self, tokens: Ints) -> Ints:
        return tokens
