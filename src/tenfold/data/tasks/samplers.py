"""Samplers of operands: functions (rng, n, length, terms, base) -> digits (N, M, W), lengths (N, M).

A sampler draws the operands that a task reads by columns: one for the successor, two for a sum. `Task.fit` turns them
into problems. Samplers are vectorised over examples. Numbers have no leading zeros (0 itself is `0`).
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np
import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Registry, Spec
from tenfold.data.tasks.carries import draw_carries, draw_cascade
from tenfold.data.tasks.carry_levels import Draw, Measure, common, counted, of_levels
from tenfold.data.tasks.domains import Domain, domain
from tenfold.data.tasks.finite import finite
from tenfold.data.tasks.task import Digits, Ints, Sampler, draws_problems, significant

Drawn = tuple[Digits, Ints]
Pattern = Annotated[str, pydantic.StringConstraints(pattern=r"^([a-z][a-z0]{0,3})$")]


def of_lengths(rng: np.random.Generator, lengths: Ints, width: int, base: int) -> Drawn:
    """Uniform numbers of exactly these lengths. The leading digit is 0 only if it is the only digit."""
    digits = rng.integers(0, base, (*lengths.shape, width), dtype=np.uint8)
    digits[np.arange(width) >= lengths[..., None]] = 0
    leading = np.where(
        lengths > 1, rng.integers(1, base, lengths.shape), rng.integers(0, base, lengths.shape)
    )
    np.put_along_axis(digits, lengths[..., None] - 1, leading[..., None].astype(np.uint8), -1)
    return digits, lengths


def numbers(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Uniform numbers of at most `length` digits; 9 in 10 have exactly `length` digits."""
    digits = rng.integers(0, base, (n, terms, length), dtype=np.uint8)
    return digits, significant(digits)


def lengths(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Each operand's length is uniform over 1..length; the number is uniform among those of that length."""
    return of_lengths(rng, rng.integers(1, length + 1, (n, terms)), length, base)


def exact(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Uniform numbers of exactly `length` digits. In a frame of that length, no padding separates them."""
    return of_lengths(rng, np.full((n, terms), length, dtype=np.int64), length, base)


def longest(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Uniform numbers of at most `length` digits, at least one of which has exactly `length` digits."""
    digits, drawn = numbers(rng, n, length, terms, base)
    while len(short := np.flatnonzero(drawn.max(1) < length)):
        digits[short], drawn[short] = numbers(rng, len(short), length, terms, base)
    return digits, drawn


def unequal(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    digits: str | None = None,
) -> Drawn:
    """One randomly chosen operand has exactly `length` digits; the others are shorter (if `length` is above 1).

    With `digits`, such as "6789", no other digit occurs: training with holes.
    """
    drawn = rng.integers(1, max(length, 2), (n, terms))
    drawn[np.arange(n), rng.integers(0, terms, n)] = length
    if digits is None:
        return of_lengths(rng, drawn, length, base)
    operands = np.zeros((n, terms, length), dtype=np.uint8)
    for size in range(1, length + 1):  # a domain of one number of one length is uniform
        here = drawn == size
        operands[here, :size] = Domain([size], digits=digits).draw(rng, int(here.sum()), 1, base)[
            0
        ][:, 0]
    return operands, drawn


def no_carry(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """Operands of `length` digits in which every column sums to less than the base."""
    if terms >= base and length > 1:
        raise TenfoldError(f"{terms} leading digits cannot sum below base {base} without a carry")
    room = np.full((n, length), base - 1, dtype=np.int64)
    least = np.zeros(length, dtype=np.int64)
    least[-1] = 1 if length > 1 else 0
    digits = np.zeros((n, terms, length), dtype=np.uint8)
    for m in range(terms):  # each operand leaves room for the smallest digits of the others
        most = room - least * (terms - 1 - m)
        digits[:, m] = rng.integers(least, most + 1)
        room -= digits[:, m]
    return rng.permuted(digits, axis=1), np.full((n, terms), length, dtype=np.int64)


def cascade(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, cascade: int
) -> Drawn:
    """Two operands of `length` digits, uniform among those whose longest carry cascade is exactly `cascade`.

    A cascade starts at a column that sums to at least the base and continues over columns that sum to base - 1. Its
    length counts both. 0 means that there is no carry.
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
    """Two operands of `length` digits with this many carries in a row and no propagation: every cascade is 1."""
    _check_two(terms)
    if not 0 <= carries <= length:
        raise TenfoldError(f"{carries} carries in sums of {length} digits; 0 to {length} can be")
    digits = draw_carries(rng, n, length, base, carries)
    return digits, np.full((n, 2), length, dtype=np.int64)


def complexity(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    shorter: bool = False,
    most: pydantic.NonNegativeInt | None = None,
) -> Drawn:
    """The longest cascade is uniform over 0..length; the sum is uniform among those of up to `length` digits with it.

    With `shorter`, the largest number of digits is drawn uniformly from the cascade's length to `length`. Otherwise nearly
    all numbers have `length` digits. With `most`, no cascade is longer than that.
    """
    _check_two(terms)
    wanted = rng.integers(0, min(length, length if most is None else most) + 1, n)
    columns = rng.integers(np.maximum(wanted, 1), length + 1) if shorter else np.full(n, length)
    digits = np.zeros((n, 2, length), dtype=np.uint8)
    for each, size in np.unique(np.stack([wanted, columns], 1), axis=0).tolist():
        rows = np.flatnonzero((wanted == each) & (columns == size))
        digits[rows, :, :size] = draw_cascade(rng, len(rows), size, base, each, leading=False)
    return digits, significant(digits)


def mixed(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    share: Annotated[float, pydantic.Field(ge=0, le=1)] = 0.5,
    easy: Spec = Spec(name="numbers"),  # noqa: B008 (frozen)
    hard: Spec = Spec(name="complexity"),  # noqa: B008
) -> Drawn:
    """Each example is drawn by the sampler `hard` with probability `share`, otherwise by `easy` (by default uniform numbers)."""
    chosen = rng.random(n) < share
    digits, drawn = _drawn_by(easy, rng, n, length, terms, base)
    others, their_lengths = _drawn_by(hard, rng, int(chosen.sum()), length, terms, base)
    _check_drawn(others, terms, hard)
    wide = np.zeros((n, terms, max(digits.shape[-1], others.shape[-1])), dtype=np.uint8)
    wide[..., : digits.shape[-1]] = digits
    wide[chosen] = 0
    wide[chosen, :, : others.shape[-1]] = others
    drawn[chosen] = their_lengths
    return wide, drawn


def levels(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    multiplier: Annotated[int, pydantic.Field(ge=1, le=4)] = 1,
    largest: pydantic.PositiveInt | None = None,
    smallest: pydantic.NonNegativeInt = 0,
    least: pydantic.NonNegativeInt = 0,
    most: pydantic.NonNegativeInt | None = None,
    share: Annotated[float, pydantic.Field(ge=0, le=1)] = 1.0,
    inner: Spec = Spec(name="numbers"),  # noqa: B008 (frozen)
) -> Drawn:
    """Problems of `inner` whose levels (`tenfold.data.tasks.carry_levels`) are uniform over `least` to `most`.

    Several numbers form a sum. A single number is a multiplicand; its multiplier of up to `multiplier` digits (at least
    `smallest`, at most `largest`) is drawn too, because levels depend on it. Without `most`, levels are those of at least
    one problem in a thousand. With a `share` below 1, the levels of the other problems are not controlled.
    """
    draw, measure = _problems(rng, inner, length, terms, base, multiplier, largest, smallest)
    if most is None:
        counts = _common(
            inner.model_dump_json(), length, terms, base, multiplier, largest, smallest
        )
        counts = [each for each in counts if each >= least]
    else:
        counts = list(range(least, most + 1))
    if not counts:
        raise TenfoldError(f"no levels from {least} to {most or 'the most that are common'}")
    digits, drawn = draw(n)
    chosen = np.flatnonzero(rng.random(n) < share)
    wanted = rng.choice(counts, len(chosen))
    digits[chosen], drawn[chosen] = of_levels(wanted, draw, measure)
    return digits, drawn


def _problems(
    rng: np.random.Generator,
    inner: Spec,
    length: int,
    terms: int,
    base: int,
    multiplier: int,
    largest: int | None,
    smallest: int,
) -> tuple[Draw, Measure]:
    """A function that draws problems, and a function that counts their levels."""

    def draw(n: int) -> Drawn:
        drawn = _drawn_by(inner, rng, n, length, terms, base)
        if terms > 1:
            return drawn
        return multiplied(multipliers(rng, n, multiplier, base, largest, smallest), drawn)

    return draw, functools.partial(counted, base=base, product=terms == 1)


@functools.lru_cache(1024)
def _common(inner: str, *options: Any) -> list[int]:
    spec = Spec.model_validate_json(inner)
    return common(*_problems(np.random.default_rng(0), spec, *options))


def level_by_level(
    length: int,
    terms: int,
    base: int,
    multiplier: int = 1,
    largest: int | None = None,
    smallest: int = 0,
) -> dict[str, Sampler]:
    """Samplers of problems of this length by their levels, `levels-0`, `levels-1`, ...; rare levels are left out."""
    inner = Spec(name="longest")
    counts = _common(inner.model_dump_json(), length, terms, base, multiplier, largest, smallest)
    more: Any = {
        "multiplier": multiplier,
        "largest": largest,
        "smallest": smallest,
        "inner": inner,
    }
    return {
        f"levels-{each}": functools.partial(levels, least=each, most=each, **more)
        for each in counts
    }


def multipliers(
    rng: np.random.Generator,
    n: int,
    digits: int,
    base: int,
    largest: int | None = None,
    least: int = 0,
) -> Drawn:
    """Multipliers (N, 1, digits): uniform length, then uniform digits; with a bound, uniform over least..largest."""
    if largest is None and not least:
        return lengths(rng, n, digits, 1, base)
    value = rng.integers(least, (largest or base**digits - 1) + 1, (n, 1, 1))
    drawn = (value // base ** np.arange(digits) % base).astype(np.uint8)
    return drawn, significant(drawn)


def multiplier_of(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    digits: int,
    largest: int | None = None,
    smallest: int = 0,
) -> Drawn:
    """Products whose multiplier is uniform among numbers of `digits` digits; the other number has exactly `length`."""
    highest = base**digits - 1 if largest is None else min(base**digits - 1, largest)
    least = max(base ** (digits - 1) if digits > 1 else 0, smallest)
    few = multipliers(rng, n, digits, base, highest, least)
    return multiplied(few, longest(rng, n, length, 1, base))


def patterns(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    of: Annotated[dict[Pattern, pydantic.PositiveFloat], pydantic.Field(min_length=1)],
    inner: Spec = Spec(name="numbers"),  # noqa: B008 (frozen)
) -> Drawn:
    """Products whose multipliers have these patterns, in these shares: `{a: 1, a0: 1, ab: 2}` are `7`, `70`, and twice as many `74`.

    A letter stands for any digit, except that a number does not begin with 0; 0 stands for itself. `inner` draws the other
    number. A curriculum goes from few digits, or from digits that are 0, to all of them.
    """
    if terms != 1:
        raise TenfoldError(f"patterns of a multiplier ({', '.join(of)}) are for products")
    many = _drawn_by(inner, rng, n, length, terms, base)
    _check_drawn(many[0], terms, inner)
    shares = np.array(list(of.values()))
    chosen = rng.choice(len(of), n, p=shares / shares.sum())
    digits = np.zeros((n, 1, max(map(len, of))), dtype=np.uint8)
    for number, pattern in enumerate(of):
        rows = np.flatnonzero(chosen == number)
        size = np.full((len(rows), 1), len(pattern), dtype=np.int64)
        drawn, _ = of_lengths(rng, size, len(pattern), base)
        drawn[..., [symbol == "0" for symbol in reversed(pattern)]] = 0
        digits[rows, :, : len(pattern)] = drawn
    return multiplied((digits, significant(digits)), many)


def multiplied(few: Drawn, many: Drawn) -> Drawn:
    """Combine multipliers and multiplicands: (N, 1, K) and (N, 1, W) -> (N, 2, W)."""
    width = max(few[0].shape[2], many[0].shape[2])
    wide = [
        np.pad(digits, ((0, 0), (0, 0), (0, width - digits.shape[2]))) for digits, _ in (few, many)
    ]
    return np.concatenate(wide, 1), np.concatenate([few[1], many[1]], 1)


def by_part(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    of: dict[str, Spec | Sampler],
) -> Drawn:
    """A sampler for each part of the task `several`. A part that is not named has no problems."""
    raise TenfoldError(
        f"a sampler by parts ({', '.join(of)}) is for the task `several`; this one has no parts"
    )


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
    """Shifted copies of problems of `inner`: the same random number of zeros is appended to all operands, up to `to` digits.

    12+345 -> 12+345, 120+3450, 1200+34500, ...: the answer is shifted too. For a product only the multiplicand is drawn,
    so the multiplier does not change. Numbers may have more than `length` digits, so the format's frame must hold `to`.
    0 stays 0.
    """
    digits, drawn = _drawn_by(inner, rng, n, length, terms, base)
    _check_drawn(digits, terms, inner)
    longest = max(length, int(drawn.max(initial=1)))
    if to < longest:
        raise TenfoldError(
            f"zeros appended to numbers of {longest} digits, up to {to}; at least {longest}"
        )
    return shifted(digits, drawn, rng.integers(0, to - drawn.max(1) + 1), to)


def shifted(digits: Digits, lengths: Ints, by: Ints, width: int) -> Drawn:
    """Append `by[i]` zeros to every operand of row i, in arrays of this width: 12 by 2 -> 1200."""
    n, terms, columns = digits.shape
    place = np.arange(width) - by[:, None, None]  # (N, 1, width): the source column of each digit
    inside = (place >= 0) & (place < columns)
    taken = np.take_along_axis(
        digits, np.broadcast_to(place.clip(0, columns - 1), (n, terms, width)), -1
    )
    moved = np.where(inside, taken, 0).astype(np.uint8)
    return moved, np.where(digits.any(-1), lengths + by[:, None], lengths)


def _drawn_by(
    inner: Spec, rng: np.random.Generator, n: int, length: int, terms: int, base: int
) -> Drawn:
    """What an inner sampler draws.

    Of one number a sampler of whole problems is refused: inside of another one it would not be handed the multiplier, which
    would be a new one every time.
    """
    sampler = SAMPLERS.bind(inner)
    if terms == 1 and draws_problems(sampler):
        raise TenfoldError(
            f'the sampler "{inner.name}" inside of another one would not fix a multiplier; '
            f"put it around the other one: {{name: {inner.name}, inner: ...}}"
        )
    return sampler(rng, n, length, terms, base)


def _check_drawn(digits: Digits, terms: int, sampler: Spec) -> None:
    """Raise an error for an inner sampler that also draws multipliers."""
    if digits.shape[1] != terms:
        raise TenfoldError(
            f'the sampler "{sampler.name}" draws multipliers too and serves no other; it has a share'
        )


def _check_two(terms: int) -> None:
    if terms != 2:
        raise TenfoldError(f"cascades are defined for 2 operands, not {terms}")


def nines(rng: np.random.Generator, n: int, length: int, terms: int, base: int) -> Drawn:
    """99...9 plus numbers of any length up to `length`, in random order: carries propagate through every zero.

    A single operand has exactly `length` digits and ends in a random number of nines, from none to all.
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
    """Samplers of sums whose longest cascade is 1, 2, 4, ... below their length, and the whole length."""
    sizes = powers(length)
    if base > 2 or length == 1:  # in base 2, two leading ones start a new cascade
        sizes["cascade-all"] = length
    return {name: functools.partial(cascade, cascade=size) for name, size in sizes.items()}


def lone_carries(length: int) -> dict[str, Sampler]:
    """Samplers of sums with 1, 2, 4, ... carries in a row, below their length, without propagation."""
    sizes = [2**i for i in range((length - 1).bit_length())]
    return {f"carries-{size}": functools.partial(carries, carries=size) for size in sizes}


def powers(length: int, label: str = "cascade") -> dict[str, int]:
    """The sizes 1, 2, 4, ... below a length, by label: `cascade-1`, `cascade-2`, `cascade-4`, ..."""
    return {f"{label}-{2**i}": 2**i for i in range((length - 1).bit_length())}


SAMPLERS: Registry[Drawn] = Registry(
    "sampler",
    "tenfold.samplers",
    of=(
        numbers,
        lengths,
        exact,
        longest,
        domain,
        finite,
        unequal,
        no_carry,
        cascade,
        carries,
        complexity,
        mixed,
        levels,
        patterns,
        by_part,
        nines,
        appended,
    ),
    takes=("rng", "n", "length", "terms", "base"),
)
