"""What runs came to, over their seeds: a cell for every value of some columns, or two encodings seed by seed.

summary = summarise(collect("runs"), ["pe", "length"])
print(summary.text("md"))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenfold.core.errors import TenfoldError
from tenfold.evals.statistics import SHARES
from tenfold.results.paired import SHARED
from tenfold.results.paired import compare as compare_encodings
from tenfold.results.result_text import (
    FOR_PEOPLE,
    WRITERS,
    readable_cells,
    readable_pairs,
    table_of,
)
from tenfold.results.row_schema import Row
from tenfold.results.summary import cells, choose, columns_of, mixed
from tenfold.results.tables import Collected

Pair = tuple[str, str]


@dataclass(frozen=True)
class Summary:
    """Lines of a table: a cell each, or with `paired` a comparison each; `notes` say what a reader must know."""

    lines: list[Row]
    notes: list[str]
    shares: bool  # whether all values lie between 0 and 1
    paired: bool = False

    def text(self, format: str = "table") -> str:
        """The table as text: `table` and `md` in per cent for people, `csv` and `json` with the plain values."""
        readable = readable_pairs if self.paired else readable_cells
        lines = readable(self.lines, self.shares) if format in FOR_PEOPLE else self.lines
        return WRITERS[format](*table_of(lines))


def require_rows(collected: Collected) -> None:
    """Raise if there are no results; where a single run was left out, with the reason."""
    problems = collected.problems
    if not collected.rows:
        reason = problems[0] if len(problems) == 1 else "every run was left out"
        raise TenfoldError(f"there are no results: {reason}")


def check_columns(by: Sequence[str] | None, compare: Pair | None = None) -> list[str]:
    """The columns that make a cell, by default the usual ones; an error for one that does not exist."""
    if compare is not None:
        return columns_of(by or ["length"], SHARED)
    return columns_of(by or ["recipe", "pe", "length"])


def summarise(
    collected: Collected,
    by: Sequence[str] | None = None,
    *,
    slice: str | None = None,
    metric: str | None = None,
    checkpoint: str | None = None,
    compare: Pair | None = None,
) -> Summary:
    """Sum up results over seeds by some columns; with `compare`, compare two encodings seed by seed.

    By default the slice is `uniform`, the metric `exact` and the checkpoint `best`, unless `by` names the column.
    """
    columns = check_columns(by, compare)
    rows = choose(collected.rows, columns, slice=slice, metric=metric, checkpoint=checkpoint)
    shares = all(row["metric"] in SHARES for row in rows)
    if compare is not None:
        lines, notes = compare_encodings(collected, rows, *compare, columns)
        return Summary(lines, notes, shares, paired=True)
    return Summary(cells(rows, columns), mixed(collected, rows, columns), shares)
