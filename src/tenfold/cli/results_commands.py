"""The command that asks what runs came to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tenfold.cli.app import app, print_notes, print_written
from tenfold.core.errors import TenfoldError

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
    metric: Annotated[
        str | None,
        Parameter(help="Default: exact or perplexity, as the runs have; all if in --by."),
    ] = None,
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

    The interval over seeds is for the median over all possible seeds, with the probability that it covers it: the
    range below 6 seeds (3 seeds: 75%), else 95% or more. The one over samples is Wilson's, over the problems of all
    seeds pooled: how finely these very models were measured.

    `tenfold results --by pe,length`, `tenfold results --compare alibi rotary --by length`

    `tenfold results results/symmetry/addition --by recipe,length`

    `tenfold results runs --sql "select encoding, max(length) from results where value > 0.9 group by all"`
    """
    from tenfold.results.collect import collect, query, write
    from tenfold.results.result_text import WRITERS
    from tenfold.results.summarise import check_columns, require_rows, summarise

    if sql is not None and (by or compare or slice or metric or checkpoint):
        raise TenfoldError("--sql chooses and groups by itself; leave the other choices out")
    columns = by.split(",") if by is not None else None
    check_columns(columns, compare)
    collected = collect(places or [Path("runs")])
    if collected.rows or len(collected.problems) > 1:
        print_notes("left out", collected.problems)
    require_rows(collected)
    if out is not None:
        written = write(collected, out)
        if sql is None and by is None and compare is None:
            return print_written(written, format == "json")
    if sql is not None:
        return print(WRITERS[format](*query(collected, sql)), end="")
    summary = summarise(
        collected, columns, slice=slice, metric=metric, checkpoint=checkpoint, compare=compare
    )
    print_notes("note", summary.notes)
    return print(summary.text(format), end="")
