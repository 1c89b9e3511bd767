"""The command that asks what runs came to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from tenfold.cli.app import app, print_written
from tenfold.core.errors import TenfoldError

if TYPE_CHECKING:
    from tenfold.results.collect import Collected

Format = Literal["table", "csv", "json", "md"]


@app.command
def results(
    *places: Annotated[
        Path,
        Parameter(
            help="Runs, folders of runs (default runs), results written by --out, or committed ones: results/symmetry."
        ),
    ],
    sql: Annotated[
        str | None, Parameter(help="A query over the tables results, runs and samples.")
    ] = None,
    by: Annotated[
        str | None,
        Parameter(help="Columns that make a cell, such as pe,length; default recipe,pe,length."),
    ] = None,
    slice: Annotated[str | None, Parameter(help="Default: uniform, or all if in --by.")] = None,
    metric: Annotated[str | None, Parameter(help="Default: exact, or all if in --by.")] = None,
    checkpoint: Annotated[
        Literal["best", "final"] | None, Parameter(help="Default: best, or both if in --by.")
    ] = None,
    compare: Annotated[
        tuple[str, str] | None,
        Parameter(negative=(), help="Two encodings, seed by seed: --compare alibi rotary."),
    ] = None,
    format: Annotated[Format, Parameter(help="How to print: table, csv, json or md.")] = "table",
    out: Annotated[
        Path | None, Parameter(help="A folder for rows.parquet and runs.parquet.")
    ] = None,
) -> None:
    """What runs came to, over their seeds: median, worst, best, success rate (seeds at 99% or more), intervals.

    The interval over seeds is a bootstrap of the median: what other seeds would give. The one over samples is
    Wilson's, over the problems of all seeds pooled: how finely these very models were measured.

    `tenfold results --by pe,length`, `tenfold results --compare alibi rotary --by length`

    `tenfold results results/symmetry/addition --by recipe,length`

    `tenfold results runs --sql "select encoding, max(length) from results where value > 0.9 group by all"`
    """
    from tenfold.evals.statistics import SHARES
    from tenfold.results.collect import query, write
    from tenfold.results.paired import SHARED
    from tenfold.results.paired import compare as compared
    from tenfold.results.result_text import (
        FOR_PEOPLE,
        WRITERS,
        readable_cells,
        readable_pairs,
        table_of,
    )
    from tenfold.results.summary import cells, choose, columns_of, mixed

    if sql is not None and (by or compare or slice or metric or checkpoint):
        raise TenfoldError("--sql chooses and groups by itself; leave the other choices out")
    wanted = (
        by.split(",") if by is not None else ["length"] if compare else ["recipe", "pe", "length"]
    )
    columns = columns_of(wanted, SHARED) if compare else columns_of(wanted)
    found = _collected(places)
    if out is not None:
        written = write(found, out)
        if sql is None and by is None and compare is None:
            return print_written(written, format == "json")
    if sql is not None:
        print(WRITERS[format](*query(found, sql)), end="")
        return None
    rows = choose(found.rows, columns, slice=slice, metric=metric, checkpoint=checkpoint)
    shares = all(row["metric"] in SHARES for row in rows)
    if compare is not None:
        lines, notes = compared(found, rows, *compare, columns)
        shown = readable_pairs(lines, shares) if format in FOR_PEOPLE else lines
    else:
        lines, notes = cells(rows, columns), mixed(found, rows, columns)
        shown = readable_cells(lines, shares) if format in FOR_PEOPLE else lines
    _tell(f"note: {note}" for note in notes)
    print(WRITERS[format](*table_of(shown)), end="")
    return None


def _collected(places: tuple[Path, ...]) -> Collected:
    """The runs that can be read; the others are told of."""
    from tenfold.results.collect import collect

    found = collect(places or [Path("runs")])
    if not found.rows and len(found.problems) == 1:
        raise TenfoldError(f"there are no results: {found.problems[0]}")
    _tell(f"left out: {problem}" for problem in found.problems)
    if not found.rows:
        raise TenfoldError("there are no results: every run was left out")
    return found


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)
