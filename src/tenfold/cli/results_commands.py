"""The command that asks what runs came to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from tenfold.cli.app import app, parse_lengths, print_notes, print_written
from tenfold.core.errors import TenfoldError

if TYPE_CHECKING:
    from tenfold.results.tables import Collected

Format = Literal["table", "csv", "json", "md", "latex"]


@dataclass(frozen=True)
class RankingChoices:
    """What `--rank` can be told."""

    at: Annotated[
        str | None,
        Parameter(help="With --rank: lengths, such as 10,20; default: all beyond training."),
    ] = None
    of: Annotated[
        str | None,
        Parameter(
            help="With --rank: what methods may differ in, such as pe,train.lr; default pe,schemes. "
            "recipe ranks whole recipes."
        ),
    ] = None
    across_labels: Annotated[
        bool, Parameter(negative=(), help="With --rank: one table for methods of all labels.")
    ] = False
    against: Annotated[
        str | None,
        Parameter(help="With --rank: the method to compare with, chosen before looking."),
    ] = None
    fit: Annotated[
        float | None,
        Parameter(
            help="With --rank: the share right at trained lengths that makes a rival (0.99)."
        ),
    ] = None
    pairs: Annotated[
        bool, Parameter(negative=(), help="With --rank: print every pair that was tested.")
    ] = False
    figure: Annotated[
        Path | None, Parameter(help="With --rank: a PDF, SVG or PNG file; a second shows lengths.")
    ] = None

    def given(self) -> dict[str, Any]:
        """The choices that differ from the default."""
        return {key: value for key, value in vars(self).items() if value not in (None, False)}


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
    format: Annotated[
        Format, Parameter(help="How to print: table, csv, json, md or latex.")
    ] = "table",
    out: Annotated[
        Path | None, Parameter(help="The folder to write rows.parquet and runs.parquet to.")
    ] = None,
    rank: Annotated[
        bool,
        Parameter(negative=(), help="Rank any number of encodings, with paired tests over seeds."),
    ] = False,
    ranking: Annotated[RankingChoices | None, Parameter(name="*")] = None,
) -> None:
    """What runs came to, over their seeds: median, worst, best, success rate (seeds at 99% or more), intervals.

    The interval over seeds is for the median over all possible seeds, with the probability that it covers it: the
    range below 6 seeds (3 seeds: 75%), else 95% or more. The one over samples is Wilson's, over the problems of the
    median seed: how finely such a model was measured.

    `tenfold results --by pe,length`, `tenfold results --compare alibi rotary --by length`

    `tenfold results results/symmetry/addition --by recipe,length`

    `tenfold results results/bias/baselines --rank --format latex --figure rank.pdf`

    `tenfold results runs --sql "select encoding, max(length) from results where value > 0.9 group by all"`
    """
    from tenfold.drawing.figure_files import figure_kind
    from tenfold.results.collect import collect, query, write
    from tenfold.results.result_text import WRITERS
    from tenfold.results.summarise import check_columns, require_rows, summarise

    if sql is not None and (by or compare or slice or metric or checkpoint or rank):
        raise TenfoldError("--sql chooses and groups by itself; leave the other choices out")
    columns = by.split(",") if by is not None else None
    choices = ranking or RankingChoices()
    if rank and compare is not None:
        raise TenfoldError("--compare is of two encodings, --rank of all; choose one of them")
    if not rank and (given := next(iter(choices.given()), None)):
        raise TenfoldError(f"--{given.replace('_', '-')} belongs to a ranking; add --rank")
    if not rank:
        check_columns(columns, compare)
    if choices.figure is not None:
        figure_kind(choices.figure)
    collected = collect(places or [Path("runs")])
    if collected.rows or len(collected.problems) > 1:
        print_notes("left out", collected.problems)
    require_rows(collected)
    if out is not None:
        written = write(collected, out)
        if sql is None and by is None and compare is None and not rank:
            return print_written(written, format == "json")
    if sql is not None:
        return print(WRITERS[format](*query(collected, sql)), end="")
    if rank:
        chosen = {"slice": slice, "metric": metric, "checkpoint": checkpoint}
        return _print_ranking(collected, columns or [], chosen, choices, format)
    summary = summarise(
        collected, columns, slice=slice, metric=metric, checkpoint=checkpoint, compare=compare
    )
    print_notes("note", summary.notes)
    return print(summary.text(format), end="")


def _print_ranking(
    collected: Collected,
    by: list[str],
    chosen: dict[str, Any],
    choices: RankingChoices,
    format: str,
) -> None:
    """Print the ranked tables, after writing their figures."""
    from tenfold.results.ranking import OF, rank

    if choices.fit is not None:
        chosen = {**chosen, "fit": choices.fit}
    ranked = rank(
        collected,
        by,
        **chosen,
        of=OF if choices.of is None else choices.of.split(","),
        at=None if choices.at is None else parse_lengths(choices.at),
        across_labels=choices.across_labels,
        against=choices.against,
    )
    print_notes("note", ranked.notes)
    if choices.figure is not None:
        from tenfold.drawing.ranking_figure import draw_ranking

        print_notes("figure", map(str, draw_ranking(ranked, choices.figure)))
    print(ranked.text(format, pairs=choices.pairs), end="")
