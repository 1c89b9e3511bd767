"""A ranking as text: for people with a caption that says what was tested, for programs as plain lines."""

from __future__ import annotations

from collections.abc import Sequence

from tenfold.core.errors import TenfoldError
from tenfold.evals.metrics import direction, is_share
from tenfold.evals.statistics import median_interval
from tenfold.results.latex import captioned
from tenfold.results.rank_table import RankedMethod, RankedPair, RankTable
from tenfold.results.result_text import (
    FOR_PEOPLE,
    WRITERS,
    difference_text,
    number_text,
    table_of,
)
from tenfold.results.row_schema import Row
from tenfold.results.summary import bounds

NAMES = {"pe": "encoding", "schemes": "schemes"}  # the head of the column of methods
IN_PAPER = ("p", "seeds", "core-seconds")  # columns that a table of a paper leaves out


def ranking_lines(tables: Sequence[RankTable]) -> list[Row]:
    """One line per method, with plain values."""
    return [
        {**_about(table), **_line(table, method)} for table in tables for method in table.methods
    ]


def ranking_pairs(tables: Sequence[RankTable]) -> list[Row]:
    """One line per tested pair, with plain values; differences are first minus second."""
    return [{**_about(table), **_pair(pair)} for table in tables for pair in table.pairs]


def _about(table: RankTable) -> Row:
    return {
        "table": table.title,
        "task": table.task,
        "format": table.format,
        "trained": table.trained,
        "label": table.label,
        "metric": table.metric,
        "slice": table.slice,
        "checkpoint": table.checkpoint,
        "lengths": " ".join(map(str, table.lengths)),
    }


def _line(table: RankTable, method: RankedMethod) -> Row:
    scores = list(method.scores.values())
    ends = sorted(scores, reverse=direction(table.metric) < 0)
    pair = table.against_reference(method.name)
    test = pair.test if pair else None
    return {
        "rank": method.rank,
        "method": method.name,
        "encoding": method.recipe.pe.name,
        "own_label": method.recipe.label,
        "seeds": len(scores),
        "median": method.median,
        "worst": ends[0],
        "best": ends[-1],
        **bounds("seeds", median_interval(scores)),
        "at_trained": method.median_fit,
        "fits": method.fits,
        "against": table.reference if pair else None,
        "pairs": test and test.seeds,
        "mean_difference": test and test.mean,
        "p": test and test.p,
        "p_holm": pair and pair.p,
        "comparisons": len(table.pairs),
        "differs": pair and pair.differs,
        "parameters": method.cost.parameters,
        "flops": method.cost.flops,
        "core_seconds": method.cost.core_seconds,
    }


def _pair(pair: RankedPair) -> Row:
    test = pair.test
    return {
        "first": pair.first,
        "second": pair.second,
        "seeds": test.seeds if test else 0,
        "mean_difference": test and test.mean,
        "wins": test and test.wins,
        "ties": test and test.ties,
        "losses": test and test.losses,
        "p": test and test.p,
        "p_holm": pair.p,
        "differs": pair.differs,
    }


def ranking_text(
    tables: Sequence[RankTable], of: str, format: str = "table", *, pairs: bool = False
) -> str:
    """The tables in a format; with `pairs`, every tested pair instead of the ranked methods."""
    write = WRITERS[format]
    if pairs and not any(table.pairs for table in tables):
        raise TenfoldError("no pair was tested: fewer than two methods fit their trained lengths")
    if format not in FOR_PEOPLE:
        lines = ranking_pairs(tables) if pairs else ranking_lines(tables)
        return write(*table_of(lines))
    parts = []
    for table in tables:
        if pairs and not table.pairs:
            continue
        if pairs:
            readable = [_readable_pair(table, pair) for pair in table.pairs]
        else:
            readable = [_readable(table, method, of) for method in table.methods]
        caption = _caption(table, of)
        if format == "latex":
            kept = [{k: v for k, v in line.items() if k not in IN_PAPER} for line in readable]
            parts.append(captioned(write(*table_of(kept)), caption, f"rank {table.title}"))
        else:
            parts.append(f"{caption}\n\n{write(*table_of(readable))}")
    return "\n".join(parts)


def _readable(table: RankTable, method: RankedMethod, of: str) -> Row:
    """A line as a person reads it; a dash is what is not known or has no meaning."""
    line, metric = _line(table, method), table.metric
    several = {"label": method.recipe.label} if not table.label else {}
    reference = method.name == table.reference
    named = "reference" if table.planned else "best"
    return {
        "rank": _dash(line["rank"]),
        NAMES.get(of, of): method.name,
        **several,
        "seeds": line["seeds"],
        "median": number_text(line["median"], metric),
        "worst to best": f"{number_text(line['worst'], metric)} to {number_text(line['best'], metric)}",
        "at trained": _dash(line["at_trained"] and number_text(line["at_trained"], metric)),
        f"minus {named}": _dash(
            line["mean_difference"] is not None and difference_text(line["mean_difference"], metric)
        ),
        "p": _p(line["p"]),
        "p (Holm)": _p(line["p_holm"]),
        f"differs from {named}": named if reference else _verdict(line["differs"]),
        "parameters": _dash(line["parameters"]),
        "FLOPs": "-" if line["flops"] is None else f"{line['flops']:.2e}".replace("e+", "e"),
        "core-seconds": "-" if line["core_seconds"] is None else f"{line['core_seconds']:.0f}",
    }


def _readable_pair(table: RankTable, pair: RankedPair) -> Row:
    line = _pair(pair)
    tested = pair.test is not None
    return {
        "first": pair.first,
        "second": pair.second,
        "seeds": line["seeds"],
        "mean difference": difference_text(line["mean_difference"], table.metric)
        if tested
        else "-",
        "wins-ties-losses": f"{line['wins']}-{line['ties']}-{line['losses']}" if tested else "-",
        "p": _p(line["p"]),
        "p (Holm)": _p(line["p_holm"]),
        "differ": _verdict(line["differs"]),
    }


def _dash(value: object) -> object:
    return "-" if value is None or value is False else value


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _verdict(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "not shown"


def _caption(table: RankTable, of: str) -> str:
    """What was ranked, over which seeds, and how it was tested."""
    share = is_share(table.metric)
    metric = f"{table.metric}, %" if share else table.metric
    least, most = table.seeds
    seeds = f"{most} seeds" if least == most else f"{least} to {most} seeds"
    which = "length" if len(table.lengths) == 1 else "lengths"
    lengths = ", ".join(map(str, table.lengths))
    mean = "" if len(table.lengths) == 1 else "mean over "
    better = "higher" if direction(table.metric) > 0 else "lower"
    sentences = [
        f"{table.title}.",
        f"Median over {seeds if most > 1 else 'one seed'} of {metric} ({mean}{which} {lengths}; slice "
        f"{table.slice}, checkpoint {table.checkpoint}); {better} is better.",
    ]
    if table.pairs:
        compared = table.reference if table.planned else f"the best, {table.reference}"
        count = "one comparison" if len(table.pairs) == 1 else f"{len(table.pairs)} comparisons"
        over = count if table.planned else f"all {count}" if len(table.pairs) > 1 else count
        sentences.append(
            f"p: two-sided sign-flip test over seeds, paired with {compared}; Holm's correction over {over}."
        )
    if any(method.fits is False for method in table.methods):
        sentences.append(
            f"Without a rank: less than {100 * table.bar:g}% right at trained lengths."
        )
    return " ".join(sentences)
