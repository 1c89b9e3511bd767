"""Any function of two whole numbers, tried on all pairs of a length: is it the same of the numbers' last digits alone?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.errors import TenfoldError
from tenfold.tasks.base import Task, significant
from tenfold.tasks.truncated import Truncated

Numbers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Function = Callable[[Any, Any], Any]  # of two arrays of integers
Right = Callable[[Numbers, Numbers], Bools]  # whether truncation changes nothing, pair by pair

PAIRS = 10**8  # that are tried at the most
BLOCK = 2**18


def by_values(function: Function, limit: int) -> Right:
    """Of a function of arrays: whether f(a, b) is f(a mod limit, b mod limit).

    >>> by_values(np.gcd, 10)(np.array([12, 20]), np.array([6, 30])).tolist()
    [False, False]
    """

    def right(a: Numbers, b: Numbers) -> Bools:
        return np.asarray(function(a, b) == function(a % limit, b % limit))

    return right


def by_task(task: Task, digits: int) -> Right:
    """Of a task: whether its answer, as a number, is that of the last digits of its numbers."""
    if task.terms != 2:
        raise TenfoldError(
            f'the task "{task.name}" has {task.terms} number(s); predictions are of two'
        )
    if len(task.operator) > 1:
        raise TenfoldError(
            f'the task "{task.name}" has several operations, {" and ".join(task.operator)}; predictions are of one'
        )
    cut = Truncated.to(digits, task)

    def right(a: Numbers, b: Numbers) -> Bools:
        both = np.stack([a, b], 1)  # (N, 2)
        places = np.arange(len(np.base_repr(int(both.max(initial=1)), task.base)))
        operands = (both[..., None] // task.base**places % task.base).astype(np.uint8)
        lengths = significant(operands)
        whole, short = task.solve(operands, lengths), cut.solve(operands, lengths)
        return (whole.answer == short.answer).all(1)

    return right


def tried(right: Right, length: int, base: int, every: bool) -> tuple[int, int]:
    """How many pairs are right, and of how many: both numbers of this length, or (not `every`) the longer one of it."""
    least = base ** (length - 1) if length > 1 else 0
    first = least if every else 0
    numbers = base**length - first
    if numbers**2 > PAIRS:
        raise TenfoldError(
            f"{numbers**2:,} pairs of {length} digits are too many to try, {PAIRS:,} at the most; "
            "sums and products, whole or modulo a number, are counted at any length"
        )
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
