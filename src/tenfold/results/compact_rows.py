"""Rows of many runs in little memory: each run keeps its columns, and a row is a view of them.

A table of two million rows, as ten thousand runs have, takes a tenth of the memory of as many dicts.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tenfold.results.row_schema import RESULTS, Row

Column = Sequence[Any]


class CompactRow(Mapping[str, Any]):
    """A row of a run. It reads as a dict does, and cannot be changed."""

    __slots__ = ("_at", "_columns", "_shared")

    def __init__(self, shared: Row, columns: Mapping[str, Column], at: int) -> None:
        self._shared, self._columns, self._at = shared, columns, at

    def __getitem__(self, name: str) -> Any:
        column = self._columns.get(name)
        if column is None:
            return self._shared[name]
        value = column[self._at]
        return None if value != value else value  # no stored number is NaN, which stands for none

    def __iter__(self) -> Iterator[str]:
        return iter(RESULTS)

    def __len__(self) -> int:
        return len(RESULTS)

    def __repr__(self) -> str:
        return repr(dict(self))


def compact(rows: Sequence[Row]) -> list[Row]:
    """The rows of a run, in little memory.

    >>> first, second = ({name: None for name in RESULTS} | {"value": v} for v in (0.5, 1.0))
    >>> rows = compact([first, second])
    >>> rows[1]["value"], rows[1]["low"], rows == [first, second]
    (1.0, None, True)
    """
    shared: dict[str, Any] = {}
    columns: dict[str, Column] = {}
    for name in RESULTS:
        values = [row[name] for row in rows]
        if all(value == values[0] and type(value) is type(values[0]) for value in values):
            shared[name] = _one(values[0])
        else:
            columns[name] = _column(values)
    return [CompactRow(shared, columns, at) for at in range(len(rows))]


def _column(values: list[Any]) -> Column:
    kinds = {type(value) for value in values}
    if kinds <= {float, type(None)}:
        return array("d", (float("nan") if value is None else value for value in values))
    return array("q", values) if kinds == {int} else tuple(map(_one, values))


def _one(value: Any) -> Any:
    """The value; of equal words, of which a million rows have few, always the same one."""
    return sys.intern(value) if isinstance(value, str) else value
