"""What runs came to, over their seeds: a cell for every value of some columns, or two encodings seed by seed.

summary = summarise(collect("runs"), ["pe", "length"])
print(summary.text("md"))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenfold.core.errors import TenfoldError
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
from tenfold.results.selection import select
from tenfold.results.summary import cells, columns_of, metric_of, mixed
from tenfold.results.tables import Collected

Pair = tuple[str, str]


@dataclass(frozen=True)
class Summary:
    """Lines of a table: a cell each, or with `paired` a comparison each; `notes` say what a reader must know."""

    lines: list[Row]
    notes: list[str]
    metric: str  # of all lines; "" if lines differ in it, which then have a column `metric`
    paired: bool = False

    def text(self, format: str = "table") -> str:
        """The table as text: `table` and `md` in per cent for people, `csv` and `json` with the plain values."""
        readable = readable_pairs if self.paired else readable_cells
        lines = readable(self.lines, self.metric) if format in FOR_PEOPLE else self.lines
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

    By default the slice is `uniform` and the checkpoint `best`, and each run is shown by its main metric: `exact`, or
    `perplexity`. Different metrics are shown apart. What is left out is named in `notes`.
    """
    columns = check_columns(by, compare)
    chosen = select(collected.rows, columns, slice=slice, metric=metric, checkpoint=checkpoint)
    of_all = metric_of(chosen.rows)
    if compare is not None:
        lines, notes = compare_encodings(collected, chosen.rows, *compare, chosen.by)
        return Summary(lines, [*chosen.notes, *notes], of_all, paired=True)
    notes = [*chosen.notes, *mixed(collected, chosen.rows, chosen.by)]
    return Summary(cells(chosen.rows, chosen.by), notes, of_all)
