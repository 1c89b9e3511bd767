"""Exact distributions of the complexity of sums and products of uniform numbers, counted column by column.

Digits are independent, so a small state determines how a run of carries continues. For each bound, the number of
histories without a longer run is counted from the units on, in Python integers, without sampling or rounding.
`exact=False` counts in floats, for thousands of digits. Shares are then differences of floats, accurate to about 1e-13.

| what is counted (`symmetry` paper, section 4 and appendix C.4) | state besides the run |
|---|---|
| `cascades`: a column of base or more, then columns of base - 1 (Figure 13) | none |
| `carries`: columns in a row that carry | none |
| `levels`: of the parallel algorithm, one digit times a number (Figure 14) | the carry of the column before |

Numbers are uniform over those of at most `length` digits; with `full`, over those of exactly that many.

>>> [str(share) for share in cascades(2)], [str(share) for share in carries(2)]
(['121/400', '261/400', '9/200'], ['121/400', '9/20', '99/400'])
>>> f"{float(sum(cascades(50, most=4))):.5f}, {float(cascades(5)[4]):.3e}"
'0.99793, 8.550e-04'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, product

from tenfold.core.errors import TenfoldError, unknown

EXACT_LENGTH = 200  # digits up to which `distribution` counts in integers
BELOW, NINE, OVER = 0, 1, 2  # a column sums to less than base - 1, to base - 1, to base or more

Number = int | float
Share = Fraction | float
Moves = dict[int, dict[tuple[int, int], Number]]  # state -> (class, next state) -> number of ways
Columns = tuple[Moves, Moves]  # for all columns except the highest, and for the highest
Follow = Callable[[int, int], int]  # (class of a column, run before it) -> run after it


def cascades(
    length: int, base: int = 10, *, full: bool = False, most: int | None = None, exact: bool = True
) -> list[Share]:
    """P(longest cascade = 0), P(= 1), ... up to `most` (default: the length)."""
    return _sums(_cascading, length, base, full, most, exact)


def carries(
    length: int, base: int = 10, *, full: bool = False, most: int | None = None, exact: bool = True
) -> list[Share]:
    """P(longest run of carries = 0), P(= 1), ... up to `most` (default: the length)."""
    return _sums(_carrying, length, base, full, most, exact)


def levels(
    length: int, base: int = 10, *, full: bool = False, most: int | None = None, exact: bool = True
) -> list[Share]:
    """P(0 levels), P(1 level), ... for a multiplier uniform over 1 to base - 1.

    After the first level, column j holds the units of d * x_j plus the carry of d * x_(j-1): less than 2 * base - 2, as
    in a sum of two numbers. So the number of levels is 1 + the longest cascade, or 0 if no product carries.

    >>> f"{float(sum(levels(20, most=4))):.5f}, {levels(5)[4]}"
    '0.99840, 19/10000'
    """
    most, least = _checked(length, base, full, most)
    multipliers = range(1, base)
    small = [-(-base // d) for d in multipliers]  # digits 0, 1, ... whose product does not carry
    nothing = sum(
        _share(p - least, base - least, exact) * _share(p, base, exact) ** (length - 1)
        for p in small
    )
    at_most = [nothing / (base - 1)]
    columns = [(_product(d, base, 0), _product(d, base, least)) for d in multipliers]
    at_most += [_share_of(columns, length, run, _cascading, exact) for run in range(most)]
    return _differences(at_most)


def distribution(
    what: str, length: int, base: int = 10, *, full: bool = False, most: int | None = None
) -> list[Share]:
    """One of the three distributions by name; exact up to 200 digits, in floats above."""
    counts = {"cascades": cascades, "carries": carries, "levels": levels}
    if what not in counts:
        raise unknown("distribution", what, counts)
    return counts[what](length, base, full=full, most=most, exact=length <= EXACT_LENGTH)


def distribution_lines(shares: Sequence[Share]) -> list[str]:
    """A table for a terminal: the run, its share, and the share of all runs up to it.

    >>> print(*distribution_lines(cascades(2)), sep="\\n")
    run  share       at most
      0  0.3025      0.302500
      1  0.6525      0.955000
      2  0.045       1.000000
    """
    sums = accumulate(map(float, shares))
    rows = zip(shares, sums, strict=True)
    lines = [f"{n:>3}  {float(share):<10.4g}  {upto:.6f}" for n, (share, upto) in enumerate(rows)]
    return ["run  share       at most", *lines]


def _sums(
    follow: Follow, length: int, base: int, full: bool, most: int | None, exact: bool
) -> list[Share]:
    most, least = _checked(length, base, full, most)
    columns = [(_sum(base, 0), _sum(base, least))]
    return _differences([_share_of(columns, length, run, follow, exact) for run in range(most + 1)])


def _checked(length: int, base: int, full: bool, most: int | None) -> tuple[int, int]:
    """The longest requested run, and the smallest leading digit."""
    if length < 1:
        raise TenfoldError(f"a length of {length} digits is too short; the least is 1")
    if base < 2:
        raise TenfoldError(f"base {base}; the least is 2")
    if most is not None and most < 0:
        raise TenfoldError(f"runs of at most {most}; the least is 0")
    return length if most is None else min(most, length), int(full and length > 1)


def _share_of(
    kinds: Sequence[Columns], length: int, longest: int, follow: Follow, exact: bool
) -> Share:
    """The share of histories of `length` columns without a run above `longest`. All kinds are equally likely."""
    favourable: Number = 0
    for middle, top in kinds:
        ways: dict[tuple[int, int], Number] = {(0, 0): 1}  # (state, run): histories so far
        for column in range(length):
            moves = top if column == length - 1 else middle
            scale = 1 if exact else 1 / sum(moves[0].values())
            after: dict[tuple[int, int], Number] = {}
            for (memory, run), count in ways.items():
                for (kind, then), choices in moves[memory].items():
                    now = follow(kind, run)
                    if now <= longest:
                        state = then, now
                        after[state] = after.get(state, 0) + count * choices * scale
            ways = after
        favourable += sum(ways.values())
    middle, top = kinds[0]
    total = sum(middle[0].values()) ** (length - 1) * sum(top[0].values()) if exact else 1
    return _share(favourable, total * len(kinds), exact)


def _share(part: Number, of: Number, exact: bool) -> Share:
    return Fraction(part) / Fraction(of) if exact else part / of


def _differences(at_most: Sequence[Share]) -> list[Share]:
    return [at_most[0], *(b - a for a, b in pairwise(at_most))]


def _sum(base: int, least: int) -> Moves:
    """A column of a sum: pairs of digits from `least` on, by class. No further state is needed."""
    return {0: _counted((_class(x + y, base), 0) for x, y in product(range(least, base), repeat=2))}


def _product(multiplier: int, base: int, least: int) -> Moves:
    """A column of a product after the first level, by the carry from the column before."""
    products = [multiplier * x for x in range(least, base)]
    return {
        carry: _counted((_class(p % base + carry, base), p // base) for p in products)
        for carry in range(base)
    }


def _class(value: int, base: int) -> int:
    return OVER if value >= base else NINE if value == base - 1 else BELOW


def _cascading(kind: int, run: int) -> int:
    """A column of base or more starts a new cascade; a column of base - 1 continues an existing one."""
    return {BELOW: 0, NINE: run + (run > 0), OVER: 1}[kind]


def _carrying(kind: int, run: int) -> int:
    return {BELOW: 0, NINE: run + (run > 0), OVER: run + 1}[kind]


def _counted(moves: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Number]:
    return dict(Counter(moves))
