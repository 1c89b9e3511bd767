"""Slices: which problems of a length are asked. The hard ones are asked by default.

A slice names the samplers to draw from at a length, none where it does not apply:
`cascades` at 5 digits is `cascade-1`, `cascade-2`, `cascade-4` and `cascade-5`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tenfold.tasks import samplers
from tenfold.tasks.formats import Format

Sampler = Callable[..., samplers.Drawn]
Slice = Callable[[int, Format], dict[str, Sampler]]


def uniform(length: int, written: Format) -> dict[str, Sampler]:
    """Uniform over the problems whose longest operand has exactly this length."""
    return {"uniform": samplers.longest}


def full(length: int, written: Format) -> dict[str, Sampler]:
    """Every operand of this length, where the format then has no padding left."""
    return {"full": samplers.exact} if written.longest() in (None, length) else {}


def unequal(length: int, written: Format) -> dict[str, Sampler]:
    """One operand of this length, the others shorter."""
    return {"unequal": samplers.unequal} if length > 1 else {}


def cascades(length: int, written: Format) -> dict[str, Sampler]:
    """Sums whose longest carry cascade is 1, 2, 4, ... and as long as the operands."""
    sizes = sorted({2**i for i in range(length.bit_length()) if 2**i <= length} | {length})
    return {f"cascade-{c}": functools.partial(samplers.cascade, cascade=c) for c in sizes}


def nines(length: int, written: Format) -> dict[str, Sampler]:
    """99...9 plus a number of any length up to this one."""
    return {"nines": samplers.nines}


SLICES: dict[str, Slice] = {
    slice.__name__: slice for slice in (uniform, full, unequal, cascades, nines)
}
