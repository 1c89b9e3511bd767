"""Which operands to draw: functions (rng, n, length, terms, base) -> digits (N, M, W), lengths (N, M).

A task draws the operands that are read by columns: one for the successor, two for a sum. What it then makes
of them is decided by `Task.fit`.

Every sampler is vectorised over examples, and draws numbers without leading zeros (0 itself is `0`).
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
from tenfold.data.tasks.domains import domain
from tenfold.data.tasks.finite import finite
from tenfold.data.tasks.task import Digits, Ints, Sampler, significant

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
    """Longest cascade uniform over 0..length, then uniform over the sums with it, of up to `length` digits each.

    With `shorter`, sums of up to as many digits as are drawn, uniformly, from the cascade's length to `length`: uniform
    numbers nearly all have `length` digits, so that where they end would hardly ever change. With `most`, no cascade is
    longer than that.
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
    """Each example by the sampler `hard` with this probability, else by `easy`: cascades among uniform numbers."""
    chosen = rng.random(n) < share
    digits, drawn = SAMPLERS.bind(easy)(rng, n, length, terms, base)
    others, their_lengths = SAMPLERS.bind(hard)(rng, int(chosen.sum()), length, terms, base)
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
    multiplier: Annotated[int, pydantic.Field(ge=1, le=3)] = 1,
    largest: pydantic.PositiveInt | None = None,
    least: pydantic.NonNegativeInt = 0,
    most: pydantic.NonNegativeInt | None = None,
    share: Annotated[float, pydantic.Field(ge=0, le=1)] = 1.0,
    inner: Spec = Spec(name="numbers"),  # noqa: B008 (frozen)
) -> Drawn:
    """Levels of the parallel algorithm (`tenfold.data.tasks.carry_levels`) uniform over `least` to `most`, of what `inner` draws.

    Numbers are a sum. One number is what a multiplier of up to `multiplier` digits (`largest` at the most) multiplies; it
    is drawn too, for levels depend on it. Without `most`: over those that one problem in a thousand has. With a
    `share` below 1, each problem so with this probability, else as it comes.
    """
    draw, measure = _problems(rng, inner, length, terms, base, multiplier, largest)
    if most is None:
        counts = _common(inner.model_dump_json(), length, terms, base, multiplier, largest)
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
) -> tuple[Draw, Measure]:
    """How to draw so many of them, and to count their levels."""

    def draw(n: int) -> Drawn:
        drawn = SAMPLERS.bind(inner)(rng, n, length, terms, base)
        if terms > 1:
            return drawn
        return multiplied(multipliers(rng, n, multiplier, base, largest), drawn)

    return draw, functools.partial(counted, base=base, product=terms == 1)


@functools.lru_cache(1024)
def _common(inner: str, *options: Any) -> list[int]:
    spec = Spec.model_validate_json(inner)
    return common(*_problems(np.random.default_rng(0), spec, *options))


def level_by_level(
    length: int, terms: int, base: int, multiplier: int = 1, largest: int | None = None
) -> dict[str, Sampler]:
    """Samplers of problems of this length by their levels, `levels-0`, `levels-1`, ...: those that are not rare."""
    inner = Spec(name="longest")
    counts = _common(inner.model_dump_json(), length, terms, base, multiplier, largest)
    more: Any = {"multiplier": multiplier, "largest": largest, "inner": inner}
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
    """Multipliers (N, 1, digits): their length uniform, then their digits; or uniform over least..largest."""
    if largest is None:
        return lengths(rng, n, digits, 1, base)
    value = rng.integers(least, largest + 1, (n, 1, 1))
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
) -> Drawn:
    """Products whose multiplier has exactly so many digits, uniform over those; the other number exactly `length`."""
    highest = base**digits - 1 if largest is None else min(base**digits - 1, largest)
    least = base ** (digits - 1) if digits > 1 else 0
    few = multipliers(rng, n, digits, base, highest, least)
    return multiplied(few, longest(rng, n, length, 1, base))


def multiplied(few: Drawn, many: Drawn) -> Drawn:
    """Multipliers and what they multiply, side by side: (N, 1, K) and (N, 1, W) -> (N, 2, W)."""
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
    """For the task `several`: what each of its parts draws from; a part that is not named has no problems."""
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
    """Shifted copies: what `inner` draws, with as many zeros at the end of every operand, any number up to `to` digits.

    12+345 -> 12+345, 120+3450, 1200+34500, ...: an answer is shifted as they are. Of a product only the
    multiplicand is drawn, so the multiplier stays. Numbers may thus have more than `length` digits, and the format's
    frame must hold `to`. 0 stays 0.
    """
    digits, drawn = SAMPLERS.bind(inner)(rng, n, length, terms, base)
    _check_drawn(digits, terms, inner)
    longest = max(length, int(drawn.max(initial=1)))
    if to < longest:
        raise TenfoldError(
            f"zeros appended to numbers of {longest} digits, up to {to}; at least {longest}"
        )
    return shifted(digits, drawn, rng.integers(0, to - drawn.max(1) + 1), to)


def shifted(digits: Digits, lengths: Ints, by: Ints, width: int) -> Drawn:
    """Every operand of row i with `by[i]` zeros at its end, in arrays of this width: 12 by 2 -> 1200."""
    n, terms, columns = digits.shape
    place = np.arange(width) - by[:, None, None]  # (N, 1, width): where each digit comes from
    inside = (place >= 0) & (place < columns)
    taken = np.take_along_axis(
        digits, np.broadcast_to(place.clip(0, columns - 1), (n, terms, width)), -1
    )
    moved = np.where(inside, taken, 0).astype(np.uint8)
    return moved, np.where(digits.any(-1), lengths + by[:, None], lengths)


def _check_drawn(digits: Digits, terms: int, sampler: Spec) -> None:
    """What other samplers draw from draws no multiplier."""
    if digits.shape[1] != terms:
        raise TenfoldError(
            f'the sampler "{sampler.name}" draws multipliers too and serves no other; it has a share'
        )


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
        by_part,
        nines,
        appended,
    ),
)
