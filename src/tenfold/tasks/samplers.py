"""Which operands to draw: functions (rng, n, length, terms, base) -> digits (N, M, W), lengths (N, M).

A task draws the operands that are read by columns: one for the successor, two for a sum. What it then makes
of them is its own affair (`Task.fit`).

Every sampler is vectorised over examples, and draws numbers without leading zeros (0 itself is `0`).
"""

from __future__ import annotations

import functools
from typing import Annotated

import numpy as np
import pydantic

from tenfold.errors import TenfoldError
from tenfold.registry import Registry, Spec
from tenfold.tasks.base import Digits, Ints, Sampler, significant
from tenfold.tasks.cascades import draw_carries, draw_cascade

Drawn = tuple[Digits, Ints]


def of_lengths(rng: np.random.Generator, lengths: Ints, width: int, base: int) -> Drawn:
    """Uniform numbers of exactly these lengths; the leading digit is not 0 unless it is the only one."""
    digits = rng.integers(0, base, (*lengths.shape, width), dtype=np.uint8)
    digits[np.arange(width) >= lengths[..., None]] = 0
    leading = np.where(
        lengths > 1, rng.integers(1, base, lengths.shape), rng.integers(0, base, lengths.shape)
    )
    np.put_along_axis(digits, lengths[..., None] - 1, leading[..., None].astype(np.uint8), -1)
    return digits, lengths


def numbers(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Uniform over the numbers of at most `length` digits: 9 in 10 have exactly that many."""
    digits = rng.integers(0, base, (n, terms, length), dtype=np.uint8)
    return digits, significant(digits)


def lengths(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Each operand's length uniform over 1..length, then uniform over the numbers of that length."""
    return of_lengths(rng, rng.integers(1, length + 1, (n, terms)), length, base)


def exact(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Every operand has exactly `length` digits: no padding separates them in a frame of that length."""
    return of_lengths(rng, np.full((n, terms), length, dtype=np.int64), length, base)


def longest(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Uniform over the numbers of at most `length` digits, of which at least one has exactly that many."""
    digits, drawn = numbers(rng, n, length, terms, base)
    while len(short := np.flatnonzero(drawn.max(1) < length)):
        digits[short], drawn[short] = numbers(rng, len(short), length, terms, base)
    return digits, drawn


def unequal(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """One operand, at a random place, has exactly `length` digits; the others are shorter (where they can be)."""
    drawn = rng.integers(1, max(length, 2), (n, terms))
    drawn[np.arange(n), rng.integers(0, terms, n)] = length
    return of_lengths(rng, drawn, length, base)


def no_carry(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Operands of `length` digits whose every column sums below the base."""
    if terms >= base and length > 1:
        raise TenfoldError(f"{terms} leading digits cannot sum below base {base} without a carry")
    room = np.full((n, length), base - 1, dtype=np.int64)
    least = np.zeros(length, dtype=np.int64)
    least[-1] = 1 if length > 1 else 0
    digits = np.zeros((n, terms, length), dtype=np.uint8)
    for m in range(terms):  # each operand leaves the least that the following ones need
        most = room - least * (terms - 1 - m)
        digits[:, m] = rng.integers(least, most + 1)
        room -= digits[:, m]
    return rng.permuted(digits, axis=1), np.full((n, terms), length, dtype=np.int64)


def cascade(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, cascade: int
) -> Drawn:
    """Two operands of `length` digits, uniform among those whose longest carry cascade is exactly `cascade`.

    A cascade starts at a column that sums to at least the base and runs on over columns that sum to
    base - 1; its length counts both. 0 means that nothing carries.
    """
    _check_two(terms)
    if not 0 <= cascade <= length:
        raise TenfoldError(
            f"a cascade of {cascade} in sums of {length} digits; 0 to {length} can be"
        )
    digits = draw_cascade(rng, n, length, base, cascade)
    return digits, np.full((n, 2), length, dtype=np.int64)


def carries(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, carries: int
) -> Drawn:
    """Two operands of `length` digits with so many carries in a row, none of which runs on: every cascade is 1."""
    _check_two(terms)
    if not 0 <= carries <= length:
        raise TenfoldError(f"{carries} carries in sums of {length} digits; 0 to {length} can be")
    digits = draw_carries(rng, n, length, base, carries)
    return digits, np.full((n, 2), length, dtype=np.int64)


def complexity(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Longest cascade uniform over 0..length, then uniform over the sums with it, of up to `length` digits each."""
    _check_two(terms)
    wanted = rng.integers(0, length + 1, n)
    digits = np.zeros((n, 2, length), dtype=np.uint8)
    for each in np.unique(wanted):
        rows = np.flatnonzero(wanted == each)
        digits[rows] = draw_cascade(rng, len(rows), length, base, int(each), leading=False)
    return digits, significant(digits)


def mixed(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    share: Annotated[float, pydantic.Field(ge=0, le=1)] = 0.5,
) -> Drawn:
    """Each example by `complexity` with this probability, else uniform numbers."""
    hard = rng.random(n) < share
    digits, drawn = numbers(rng, n, length, terms, base)
    digits[hard], drawn[hard] = complexity(rng, int(hard.sum()), length, terms, base)
    return digits, drawn


def appended(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    to: int,
    inner: Spec = Spec(name="numbers"),  # noqa: B008 (frozen)
) -> Drawn:
    """Shifted copies: what `inner` draws, with as many zeros at the end of every operand, any number up to `to` digits.

    12+345 -> 12+345, 120+3450, 1200+34500, ...: an answer is shifted as they are. Of a product only the
    multiplicand is drawn, so the multiplier stays. Numbers may thus have more than `length` digits, and the format's
    frame must hold `to`. 0 stays 0.
    """
    digits, drawn = SAMPLERS.bind(inner)(rng, n, length, terms, base)
    longest = max(length, int(drawn.max(initial=1)))
    if to < longest:
        raise TenfoldError(
            f"zeros appended to numbers of {longest} digits, up to {to}; at least {longest}"
        )
    return shifted(digits, drawn, rng.integers(0, to - drawn.max(1) + 1), to)


def shifted(digits: Digits, lengths: Ints, by: Ints, width: int) -> Drawn:
    """Every operand of row i with `by[i]` zeros at its end, in arrays of this width: 12 by 2 -> 1200."""
    n, terms, held = digits.shape
    place = np.arange(width) - by[:, None, None]  # (N, 1, width): where each digit comes from
    inside = (place >= 0) & (place < held)
    taken = np.take_along_axis(
        digits, np.broadcast_to(place.clip(0, held - 1), (n, terms, width)), -1
    )
    moved = np.where(inside, taken, 0).astype(np.uint8)
    return moved, np.where(digits.any(-1), lengths + by[:, None], lengths)


def _check_two(terms: int) -> None:
    if terms != 2:
        raise TenfoldError(f"cascades are defined for 2 operands, not {terms}")


def nines(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """99...9 plus numbers of any length up to `length`, in random order: carries run through every zero.

    One operand alone has exactly `length` digits and ends in any number of nines, all of them at the most.
    """
    if terms == 1:
        alone, drawn = exact(rng, n, length, terms, base)
        alone[np.arange(length) < rng.integers(0, length + 1, (n, 1, 1))] = base - 1
        return alone, drawn
    others, drawn = lengths(rng, n, length, terms, base)
    where = rng.integers(0, terms, n)
    others[np.arange(n), where] = base - 1
    drawn[np.arange(n), where] = length
    return others, drawn


def cascades(length: int, base: int) -> dict[str, Sampler]:
    """Samplers of sums whose longest cascade is 1, 2, 4, ... below their length, and through all of it."""
    sizes = powers(length)
    if base > 2 or length == 1:  # two leading ones in base 2 start a cascade, they do not go on
        sizes["cascade-all"] = length
    return {name: functools.partial(cascade, cascade=size) for name, size in sizes.items()}


def lone_carries(length: int) -> dict[str, Sampler]:
    """Samplers of sums with 1, 2, 4, ... carries in a row, below their length, none of which runs on."""
    sizes = [2**i for i in range((length - 1).bit_length())]
    return {f"carries-{size}": functools.partial(carries, carries=size) for size in sizes}


def powers(length: int) -> dict[str, int]:
    """The cascades 1, 2, 4, ... below a length, by label."""
    return {f"cascade-{2**i}": 2**i for i in range((length - 1).bit_length())}


SAMPLERS: Registry[Drawn] = Registry(
    "sampler",
    "tenfold.samplers",
    of=(
        numbers,
        lengths,
        exact,
        longest,
        unequal,
        no_carry,
        cascade,
        carries,
        complexity,
        mixed,
        nines,
        appended,
    ),
)
