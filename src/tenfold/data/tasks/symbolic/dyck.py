"""Dyck-1: whether each prefix of a sequence of brackets is well-formed. `(()))(` -> `ooobxx`.

The symbol at position i is about the first i + 1 brackets:

    b    balanced: every bracket is closed
    o    open: some bracket is not closed yet
    x    broken: a bracket was closed that was not open; every longer prefix is broken too

A model has to count the open brackets, and there is no bound on their number.
"""

from __future__ import annotations

import functools

import numpy as np

from tenfold.data.tasks.samplers import powers
from tenfold.data.tasks.sequence import Inputs, SequenceTask
from tenfold.data.tasks.task import Ints, Sampler

OPEN, CLOSE = 0, 1
BALANCED, UNCLOSED, BROKEN = 2, 3, 4  # after the two brackets, as symbols of the task


class Dyck(SequenceTask):
    """Half of the inputs are never broken; in the others a bracket is closed where none is open.

    >>> task = Dyck()
    >>> [task.truth(task.parse(text), 0) for text in ("(())", "( ) )(")]
    ['ooob', 'obxx']
    """

    name = "dyck"

    def __init__(self) -> None:
        super().__init__("()", outputs="box")

    def answer(self, tokens: Ints) -> Ints:
        depth = np.cumsum(np.where(tokens == OPEN, 1, -1))
        broken = np.minimum.accumulate(depth) < 0
        return np.where(broken, BROKEN, np.where(depth == 0, BALANCED, UNCLOSED))

    def draw(self, rng: np.random.Generator, length: int) -> Ints:
        """A random walk that opens a bracket wherever none is open; every second one closes one there instead, once."""
        tokens = rng.integers(0, 2, length)
        depth, grounds = 0, []
        for place, token in enumerate(tokens.tolist()):
            if depth == 0:
                grounds.append(place)
                tokens[place] = OPEN
            depth += 1 if depth == 0 or token == OPEN else -1
        if rng.random() < 0.5:
            tokens[rng.choice(grounds)] = CLOSE
        return tokens

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """`depth-1`, `depth-2`, `depth-4`, ...: so many brackets are opened and then closed, among pairs `()`."""
        labels = powers(length // 2 + 1, "depth")
        return {"hard": {k: Inputs(functools.partial(self._deep, to=v)) for k, v in labels.items()}}

    def _deep(self, rng: np.random.Generator, length: int, *, to: int) -> Ints:
        before = rng.integers(0, (length - 2 * to) // 2 + 1)
        pairs = np.resize([OPEN, CLOSE], length)
        nest = np.repeat([OPEN, CLOSE], to)
        return np.concatenate([pairs[: 2 * before], nest, pairs])[:length]
