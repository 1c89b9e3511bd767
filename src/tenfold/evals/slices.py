"""Slices: which problems of a length are asked. The hard ones are asked by default.

A slice names the samplers to draw from at a length, none where it does not apply:
`cascades` at 5 digits is `cascade-1`, `cascade-2`, `cascade-4` and `cascade-all`.
"""

from __future__ import annotations

import functools
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
    return {"unequal": samplers.unequal} if length > 1 else {}


def cascades(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """Sums whose longest carry cascade is 1, 2, 4, ... below their length, and through all of it."""
    if task.terms != 2:
        return {}
    sizes = {f"cascade-{2**i}": 2**i for i in range((length - 1).bit_length())}
    if (
        task.base > 2 or length == 1
    ):  # two leading ones in base 2 start a cascade, they do not go on
        sizes["cascade-all"] = length
    return {name: functools.partial(samplers.cascade, cascade=c) for name, c in sizes.items()}


def nines(length: int, task: Task, written: Format) -> dict[str, Sampler]:
    """99...9 plus a number of any length up to this one."""
    return {"nines": samplers.nines}


SLICES: dict[str, Slice] = {
    slice.__name__: slice for slice in (uniform, full, unequal, cascades, nines)
}
