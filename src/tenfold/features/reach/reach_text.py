"""The theoretical reach of an encoding as JSON, as lines for a terminal, and as a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot

from tenfold.core.errors import TenfoldError
from tenfold.drawing.encoding_style import encoding_styles
from tenfold.drawing.figures import save_files
from tenfold.features.reach.advice import of_all
from tenfold.features.reach.partial_sums import partial
from tenfold.features.reach.receptive_field import Fields, Reach, over_heads, reaches
from tenfold.features.reach.series_by_name import NamedSeries
from tenfold.features.reach.stacked_reach import Deep, deep

WORDS = {True: "converges", False: "diverges", None: "undecided"}
LEARNED = "learned numbers as first drawn (seed 0)"


def trf_as_json(
    about: NamedSeries,
    shares: Sequence[float],
    within: int | None = None,
    layers: int | None = None,
) -> dict[str, Any]:
    """Heads with `converges`, `why`, `trf` (null: none, or too large to compute), its bounds, and the model's summary.

    These values are for the first share; `shares` has the values for all.
    """
    series = about.series
    if series is None:
        raise TenfoldError(f'"{about.name}" has no reach before training: {about.why_not}')
    within = series.decay.ends if within is None else within  # for a table, its length
    verdicts, all_fields = series.verdicts, reaches(series, shares, within)
    result: list[dict[str, Any]] = []
    for eps, fields in zip(shares, all_fields, strict=True):
        stacks = deep(series, layers, eps, within) if layers is not None else [None] * series.heads
        heads = [
            {"head": head, "converges": verdict.converges, "why": verdict.why, **_field(field)}
            | ({"layers": _deep(stack)} if layers is not None else {})
            for head, (verdict, field, stack) in enumerate(
                zip(verdicts, fields, stacks, strict=True), 1
            )
        ]
        result.append({"eps": eps, "heads": heads, "model": three(fields)})
    return {
        "name": about.name,
        "log_b": series.decay.text,
        "within": within,
        "layers": layers,
        "assumes": series.decay.assumes,
        "learned": about.learned,
        **result[0],
        "shares": result,
    }


def number_of(field: Reach | None) -> int | None:
    """The field, or the midpoint of its bounds."""
    return None if field is None or field.high is None else (field.low + field.high) // 2


def _field(field: Reach | None) -> dict[str, Any]:
    return {"trf": number_of(field), "bounds": None if field is None else [field.low, field.high]}


def _deep(stack: Deep | None) -> dict[str, Any] | None:
    if stack is None:
        return None
    plain = {"at_least": stack.at_least, "at_most": stack.at_most, "layers_times": stack.thumb}
    return {**_field(stack.field), **plain}


def trf_lines(result: dict[str, Any]) -> list[str]:
    """Lines of a table. Heads with the same verdict share one line with the reason."""
    shares = result["shares"]
    heads = shares[0]["heads"]
    layers = result["layers"]
    columns = [f"eps {each['eps']:g}" for each in shares]
    columns += [f"{layers} layers, eps {each['eps']:g}" for each in shares if layers is not None]
    rows = []
    for number, head in enumerate(heads):
        cells = [_text(each["heads"][number]) for each in shares]
        if layers is not None:
            cells += [_text(each["heads"][number]["layers"]) for each in shares]
        rows.append([str(head["head"]), WORDS[head["converges"]], *cells])
    lines = (
        [f"{result['name']}: log b(n) = {result['log_b']}"]
        if result["name"] != result["log_b"]
        else []
    )
    lines += aligned(["head", "series", *columns], rows)
    for each in shares:
        least, middle, most = three_texts(each["model"])
        lines.append(f"eps {each['eps']:g}: min {least}, median {middle}, max {most} over heads")
    lines += dict.fromkeys(head["why"] for head in heads)
    notes = [result["assumes"], LEARNED if result["learned"] else ""]
    notes += [f"within {result['within']:,} tokens" if result["within"] is not None else ""]
    if layers is not None:
        notes.append(
            "over layers: weights by distance alone, layers independent, residuals left out"
        )
    return [*lines, *(note for note in notes if note)]


def _text(field: dict[str, Any] | None) -> str:
    if field is None or field["bounds"] is None:
        return "none"
    return str(Reach(*field["bounds"]))


def number_text(number: int | None) -> str:
    return "none" if number is None else f"{number:,}"


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 2) -> list[str]:
    """A table with aligned columns, the first `left` of them flush left.

    >>> aligned(["a", "n"], [["x", "10"], ["yy", "9"]], left=1)
    ['a    n', 'x   10', 'yy   9']
    """
    table = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def compared(
    compared_series: Sequence[NamedSeries], eps: float, within: int
) -> list[dict[str, Any]]:
    """For each series: the verdict, the reach over heads, and the reach within `within` tokens."""
    result: list[dict[str, Any]] = []
    for about in compared_series:
        if about.series is None:
            result.append(
                {
                    "name": about.name,
                    "converges": None,
                    "verdict": "no series",
                    "why": about.why_not,
                    "trf": None,
                    "within": None,
                }
            )
            continue
        verdicts = about.series.verdicts
        converges, verdict = of_all(verdicts)
        ends = about.series.decay.ends
        inside = within if ends is None else min(ends, within)
        result.append(
            {
                "name": about.name,
                "converges": converges,
                "verdict": verdict,
                "why": "; ".join(dict.fromkeys(verdict.why for verdict in verdicts)),
                "trf": three(reaches(about.series, [eps], ends)[0]),
                "within": three(reaches(about.series, [eps], inside)[0]),
            }
        )  # fmt: skip
    return result


def three(fields: Fields) -> dict[str, Any]:
    """The smallest, the median and the largest field of a model's heads, with the `bounds` of each."""
    all_fields = dict(zip(("min", "median", "max"), map(_field, over_heads(fields)), strict=True))
    numbers = {name: field["trf"] for name, field in all_fields.items()}
    return {**numbers, "bounds": {name: field["bounds"] for name, field in all_fields.items()}}


def three_texts(result: dict[str, Any]) -> list[str]:
    """
    >>> three_texts(three([Reach(3, 5), Reach(10**9, 2 * 10**9), Reach(10**18, None)]))
    ['3-5', '1e+09-2e+09', '> 1.0e+18']
    """
    return [_text({"bounds": bounds}) for bounds in result["bounds"].values()]


def compared_lines(result: Sequence[dict[str, Any]], eps: float, within: int) -> list[str]:
    rows = [
        [
            each["name"],
            each["verdict"],
            *(
                "-" if each[key] is None else " / ".join(three_texts(each[key]))
                for key in ("trf", "within")
            ),
            each["why"],
        ]
        for each in result
    ]
    lines = aligned(["", "series", "min / median / max", f"within {within:,} tokens"],
                    [row[:4] for row in rows])  # fmt: skip
    return [f"eps {eps:g}", *lines, *(f"{row[0]}: {row[4]}" for row in rows)]


def draw_compared(
    compared_series: Sequence[NamedSeries], within: int, path: Path
) -> tuple[Path, Path]:
    """Draw the share of the weight within each distance, out of `within` tokens, for the median head of each series."""
    figure, axes = pyplot.subplots(figsize=(5.4, 3.8), layout="constrained")
    points = sorted({round(within ** (i / 200)) for i in range(201)})
    looks = encoding_styles({about.name: about.name for about in compared_series})
    for about in compared_series:
        if about.series is None:
            continue
        ends = about.series.decay.ends
        inside = within if ends is None else min(ends, within)
        sums = partial(about.series, inside)
        heads = [
            math.inf if field is None else field.low
            for field in reaches(about.series, [0.05], inside)[0]
        ]
        middle = sorted(range(len(heads)), key=heads.__getitem__)[(len(heads) - 1) // 2]
        shown = [point for point in points if point <= inside]
        share = [
            100 * float(sums.low[middle, int((sums.knots <= x).sum()) - 1] / sums.low[middle, -1])
            for x in shown
        ]
        axes.plot(
            shown, share, lw=1.7, ms=4.5, markevery=0.12, label=about.name, **looks[about.name].line()
        )  # fmt: skip
    axes.set(
        xscale="log",
        xlabel="nearest tokens",
        ylabel=f"share of the weight within {within:,} tokens, %",
    )
    axes.grid(alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    return save_files(figure, path.with_suffix(""))
