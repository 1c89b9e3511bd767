"""Majority: which token does the input have most often? One token, whatever the length. `abbab` -> `b`.

A model has to count over the whole input. Of tokens that are equally frequent, the first of the alphabet is the answer.
"""

from __future__ import annotations

import functools

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import powers
from tenfold.data.tasks.sequence import Alphabet, Inputs, SequenceTask
from tenfold.data.tasks.task import Ints, Sampler


class Majority(SequenceTask):
    """The counts of an input are drawn first, uniformly, so that close and clear majorities both occur.

    >>> task = Majority()
    >>> [task.truth(task.parse(text), 0) for text in ("abbab", "ba")]
    ['b', 'a']
    """

    name = "majority"

    def __init__(self, alphabet: Alphabet = 2) -> None:
        super().__init__(alphabet)
        if self.base < 2:
            raise TenfoldError("a majority among 1 symbol; at least 2 are needed")

    def answer(self, tokens: Ints) -> list[int]:
        return [int(np.bincount(tokens).argmax())]

    def answer_size(self, length: int) -> int:
        return 1

    def draw(self, rng: np.random.Generator, length: int) -> Ints:
        """Uniform over the ways to divide the length into counts; then in any order."""
        cuts = np.sort(rng.choice(length + self.base - 1, self.base - 1, replace=False))
        edges = np.concatenate([[-1], cuts, [length + self.base - 1]])
        return rng.permutation(np.repeat(np.arange(self.base), np.diff(edges) - 1))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """`margin-1`, `margin-2`, `margin-4`, ...: two tokens whose counts differ by so much, or by one more."""
        labels = powers(length, "margin")
        return {
            "hard": {k: Inputs(functools.partial(self._close, by=v)) for k, v in labels.items()}
        }

    def _close(self, rng: np.random.Generator, length: int, *, by: int) -> Ints:
        fewer = (length - by) // 2
        pair = rng.permutation(self.base)[:2]
        return rng.permutation(np.repeat(pair, [length - fewer, fewer]))
