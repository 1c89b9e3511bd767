"""Evaluate a function of two integers on all pairs of a length: do the last digits determine its value?

The function is called with arrays of 64-bit integers. Some of its values are compared with those for Python integers, which
do not overflow. If the two differ (such as `a**b`), or if it accepts no arrays, it is called for one pair at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import Task, significant
from tenfold.data.tasks.wrappers.truncated import Truncated

Numbers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Function = Callable[[Any, Any], Any]  # of two integers, and possibly of two arrays of integers
Right = Callable[[Numbers, Numbers], Bools]  # for each pair, whether truncation changes nothing

PAIRS = 10**8  # the largest number of pairs to evaluate
BLOCK = 2**18
LARGEST = 8  # pairs compared with Python integers at the end of a block, where numbers are largest
OTHERS = 8  # further compared pairs, spread over the block


def by_values(function: Function, limit: int) -> Right:
    """For a function of two integers: whether f(a, b) equals f(a mod limit, b mod limit).

    >>> by_values(np.gcd, 10)(np.array([12, 20]), np.array([6, 30])).tolist()
    [False, False]
    """

    def right(a: Numbers, b: Numbers) -> Bools:
        whole, short = _values(function, a, b), _values(function, a % limit, b % limit)
        return np.asarray(whole == short, dtype=np.bool_)

    return right


def _values(function: Function, a: Numbers, b: Numbers) -> NDArray[Any]:
    """The value of each pair, computed for all pairs at once if spot checks agree with single pairs."""
    some = np.r_[0 : len(a) : -(-len(a) // OTHERS), max(0, len(a) - LARGEST) : len(a)]
    alone = _one_by_one(function, a[some], b[some])
    try:
        with np.errstate(all="raise"):
            values = np.broadcast_to(np.asarray(function(a, b)), a.shape)
        alike = bool(np.all(values[some] == alone))
    except Exception:  # the function accepts no arrays: a condition, a table, a division by 0
        alike = False
    return values if alike else _one_by_one(function, a, b)


def _one_by_one(function: Function, a: Numbers, b: Numbers) -> NDArray[Any]:
    """Evaluate one pair at a time, with Python integers."""
    values = np.empty(len(a), dtype=object)
    for row, pair in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        try:
            values[row] = function(*pair)
        except Exception as error:
            raise TenfoldError(
                f"the function fails for {pair[0]} and {pair[1]}: {type(error).__name__}: {error}"
            ) from error
    return values


def by_task(task: Task, digits: int) -> Right:
    """For a task: whether its answer, as a number, equals the answer for the last digits of its numbers.

    Pairs become problems in the same way as sampled operands: in a difference, the larger number is first. If the last
    digits do not form a problem (210-15 with one digit is 0-5), no answer is correct.
    """
    if task.terms != 2:
        raise TenfoldError(
            f'the task "{task.name}" has {task.terms} number(s); predictions are of two'
        )
    if len(task.operator) > 1:
        raise TenfoldError(
            f'the task "{task.name}" has several operations, {" and ".join(task.operator)}; predictions are of one'
        )
    cut, rng = Truncated.to(digits, task), np.random.default_rng(0)

    def right(a: Numbers, b: Numbers) -> Bools:
        both = np.stack([a, b], 1)  # (N, 2)
        places = np.arange(len(np.base_repr(int(both.max(initial=1)), task.base)))
        operands = (both[..., None] // task.base**places % task.base).astype(np.uint8)
        operands, lengths = task.fit(rng, operands, significant(operands))
        able = task.answerable(cut.cut(operands, lengths)[0])
        whole, short = (each.solve(operands[able], lengths[able]) for each in (task, cut))
        alike = np.zeros(len(able), dtype=np.bool_)
        alike[able] = (whole.answer == short.answer).all(1)
        return alike

    return right


def can_try(length: int, base: int, every: bool) -> bool:
    """Whether there are few enough pairs of this length to evaluate all of them."""
    few = length <= PAIRS.bit_length()
    return few and (base**length - _first(length, base, every)) ** 2 <= PAIRS


def _first(length: int, base: int, every: bool) -> int:
    """The smallest number in a pair: the smallest of this length if `every`, otherwise 0."""
    return base ** (length - 1) if every and length > 1 else 0


def tried(right: Right, length: int, base: int, every: bool) -> tuple[int, int]:
    """Count the correct pairs and all pairs. Both numbers have this length; without `every`, the longer one has it."""
    if not can_try(length, base, every):
        raise TenfoldError(
            f"pairs of {length:,} digits are too many to try, {PAIRS:,} at the most; "
            "sums and products, whole or modulo a number, are counted at any length"
        )
    least, first = _first(length, base, True), _first(length, base, every)
    numbers = base**length - first
    values = np.arange(first, base**length, dtype=np.int64)
    size = max(1, BLOCK // numbers)
    count = of = 0
    for start in range(0, numbers, size):
        rows = values[start : start + size]
        a, b = rows.repeat(numbers), np.tile(values, len(rows))
        if not every:
            long = np.maximum(a, b) >= least
            a, b = a[long], b[long]
        if len(a):
            count, of = count + int(right(a, b).sum()), of + len(a)
    return count, of
