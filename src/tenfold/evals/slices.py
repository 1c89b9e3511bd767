"""Slices: which problems of a length are asked. The hard ones are asked by default.

A slice names the samplers to draw from at a length, none where it does not apply:
`cascades` of sums of 5 digits is `cascade-1`, `cascade-2`, `cascade-4` and `cascade-all`.
Which problems are hard is for the task to say (`Task.hard`). `carries`, `hard`, `levels`, `multipliers`, `parts`, `pads`,
`shifted`, `sentences` and `pairs` are asked only where named.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

import numpy as np

from tenfold.data.formats.numeric import Format
from tenfold.data.tasks import samplers
from tenfold.data.tasks.task import Sampler, Task

Slice = Callable[[int, Task, Format], dict[str, Sampler]]


def uniform(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Uniform over the problems whose longest operand has exactly this length."""
    return {"uniform": samplers.longest}


def full(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Every operand of this length, where the format then has no padding left."""
    return {"full": samplers.exact} if written.longest() in (None, length) else {}


def unequal(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """One operand of this length, the others shorter."""
    return {"unequal": samplers.unequal} if length > 1 and task.drawn > 1 else {}


def cascades(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """What runs on over 1, 2, 4, ... columns, and over all: a carry, a borrow, a verdict over equal digits."""
    return task.hard(length).get("cascades", {})


def pads(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Every operand of this length, where the format has 3 to 0 places left: `pads-1` is one short of full."""
    limit = written.longest()
    left = -1 if limit is None else limit - length
    return {f"pads-{left}": samplers.exact} if 0 <= left <= 3 else {}


def carries(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Sums of two numbers with 1, 2, 4, ... carries in a row that do not run on: no cascade, whatever their number."""
    return task.hard(length).get("carries", {})


def nines(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Carries from nines: 99...9 plus a number of any length up to this one, or one number that ends in nines."""
    return task.hard(length).get("nines", {})


def levels(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """By the levels of the parallel algorithm, those that are not rare: `levels-0` to `levels-4` of products of 5 digits."""
    return task.by_levels(length)


def multipliers(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Products by how many digits the multiplier has: `multiplier-1`, `multiplier-2`, ..."""
    return task.hard(length).get("multipliers", {})


def hard(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """What a sequence task itself states as hard: close majorities, deep brackets."""
    return task.hard(length).get("hard", {})


def parts(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """The uniform problems of each part, of a task that has several: `sum`, `product`."""
    return task.hard(length).get("parts", {})


def shifted(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Problems of half as many digits, the rest zeros at the end of every operand: `12300+45600` at 5.

    At twice the training length these are the longest problems of training, moved up.
    """
    return {"shifted": halves} if length > 2 else {}  # one digit alone may be 0, which stays 0


def halves(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> samplers.Drawn:
    """At least one operand has exactly `length` digits; the lower half of every one is zeros."""
    digits, lengths = samplers.longest(rng, n, (length + 1) // 2, terms, base)
    by = np.full(n, length // 2, dtype=np.int64)
    return samplers.shifted(digits, lengths, by, length)


def sentences(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Every way that the format has to ask a problem, by itself: `sentence-1`, ..., and, not in training, `unseen-1`, ..."""
    return dict.fromkeys(written.phrasings(task), samplers.longest)


def pairs(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Each pair of lengths whose longer one is this, the other 1, 2, 4, ... digits or as long: `5x2`, `2x5`, `5x5`."""
    if task.drawn != 2 or task.terms != 2:
        return {}
    shorter = [2**i for i in range((length - 1).bit_length())]
    asked = [*((length, m) for m in shorter), *((m, length) for m in shorter), (length, length)]
    return {
        f"{a}x{b}": functools.partial(pair, digits=(a, b)) for a, b in asked if _can(task, (a, b))
    }


def pair(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, digits: tuple[int, int]
) -> samplers.Drawn:
    """Two operands of exactly so many digits."""
    return samplers.of_lengths(rng, np.tile(np.array(digits, dtype=np.int64), (n, 1)), length, base)


def _can(task: Task, digits: tuple[int, int]) -> bool:
    """Whether the task asks what is drawn: one that puts the larger number first has no `2x5`."""
    drawn = functools.partial(pair, digits=digits)
    some = task.sample(32, max(digits), np.random.default_rng(0), drawn)
    return bool((some.lengths == digits).all())


def pair_of(label: str) -> tuple[int, int] | None:
    """The lengths that a label of `pairs` names.

    >>> pair_of("5x2"), pair_of("cascade-4")
    ((5, 2), None)
    """
    found = re.fullmatch(r"(\d+)x(\d+)", label)
    return (int(found[1]), int(found[2])) if found else None


SLICES: dict[str, Slice] = {
    slice.__name__: slice
    for slice in (
        uniform,
        parts,
        full,
        pads,
        unequal,
        cascades,
        carries,
        levels,
        multipliers,
        nines,
        hard,
        shifted,
        sentences,
        pairs,
    )
}
