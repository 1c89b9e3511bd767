"""Slices: which problems of a length are asked. The hard ones are asked by default.

A slice names the samplers to draw from at a length, none where it does not apply:
`cascades` of sums of 5 digits is `cascade-1`, `cascade-2`, `cascade-4` and `cascade-all`.
Which problems are hard is for the task to say (`Task.hard`).
"""

from __future__ import annotations

from collections.abc import Callable

from tenfold.tasks import samplers
from tenfold.tasks.base import Sampler, Task
from tenfold.tasks.formats import Format

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


def nines(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Carries from nines: 99...9 plus a number of any length up to this one, or one number that ends in nines."""
    return task.hard(length).get("nines", {})


SLICES: dict[str, Slice] = {
    slice.__name__: slice for slice in (uniform, full, unequal, cascades, nines)
}
