"""Sorting: the tokens of the input in the order of the alphabet. `cab` -> `abc`."""

from __future__ import annotations

import numpy as np

from tenfold.data.tasks.sequence import Alphabet, Inputs, SequenceTask
from tenfold.data.tasks.task import Ints, Sampler


class Sorting(SequenceTask):
    """Every token of the input stands in the answer, as often as in the input.

    >>> task = Sorting()
    >>> task.truth(task.parse("c b a b"), 0)
    'abbc'
    """

    name = "sorting"

    def __init__(self, alphabet: Alphabet = 10) -> None:
        super().__init__(alphabet)

    def answer(self, tokens: Ints) -> Ints:
        return np.sort(tokens)

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """`few`: at most two different tokens, so that the answer must count; `descending`: every token has to move."""
        return {"hard": {"few": Inputs(self._few), "descending": Inputs(self._descending)}}

    def _few(self, rng: np.random.Generator, length: int) -> Ints:
        return rng.choice(rng.integers(0, self.base, 2), length)

    def _descending(self, rng: np.random.Generator, length: int) -> Ints:
        return np.sort(rng.integers(0, self.base, length))[::-1]
