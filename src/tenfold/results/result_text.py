"""Tables of results as text: for people (`table`, `md`, `latex`) in per cent, for programs (`csv`, `json`) as they are."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tenfold.evals.metrics import is_share
from tenfold.results.latex import tabular
from tenfold.results.row_schema import Row

OVER_SEEDS = "over seeds (coverage)"  # an interval for the median
Table = tuple[list[str], list[tuple[Any, ...]]]  # columns, rows


def table_of(lines: Sequence[Row]) -> Table:
    """Lines that all have the same columns."""
    return list(lines[0]), [tuple(line.values()) for line in lines]


def readable_cells(lines: Sequence[Row], metric: str = "exact") -> list[Row]:
    """Cells as a person reads them: shares in per cent, an interval in one column, `one seed` where there is none.

    The metric is that of the line, if it has such a column.
    """
    lines_shown = []
    for line in lines:
        number = partial(number_text, metric=line.get("metric", metric))
        shown = _without_bounds(line)
        for column in ("median", "worst", "best"):
            shown[column] = number(line[column])
        shown["success"] = "" if line["success"] is None else _percent(line["success"])
        shown[OVER_SEEDS] = _covering(line, "seeds", number)
        shown["95% over samples"] = _interval(line, "samples", number)
        lines_shown.append(shown)
    return lines_shown


def readable_pairs(lines: Sequence[Row], metric: str = "exact") -> list[Row]:
    """The same of compared encodings; differences, first minus second, are in points with their sign."""
    return [_readable_pair(line, line.get("metric", metric)) for line in lines]


def _readable_pair(line: Row, metric: str) -> Row:
    number, difference = (partial(show, metric=metric) for show in (number_text, difference_text))
    own = ("median_first", "median_second", "mean", "median", "wins", "ties", "losses", "p")
    return {
        **{key: value for key, value in _without_bounds(line).items() if key not in own},
        "median first": number(line["median_first"]),
        "median second": number(line["median_second"]),
        "mean difference": difference(line["mean"]),
        "median difference": difference(line["median"]),
        OVER_SEEDS: _covering(line, "median", difference),
        "wins-ties-losses": f"{line['wins']}-{line['ties']}-{line['losses']}",
        "p": f"{line['p']:.3g}",
    }


def _without_bounds(line: Row) -> dict[str, Any]:
    ends = ("_low", "_high", "_coverage")
    return {key: value for key, value in line.items() if not key.endswith(ends)}


def _covering(line: Row, of: str, shown: Callable[[float], str]) -> str:
    """`80.0 to 100.0 (75%)`: an interval for a median over seeds, and how often such an interval contains it."""
    text = _interval(line, of, shown)
    return f"{text} ({coverage_text(line[f'{of}_coverage'])})" if text else "one seed"


def coverage_text(coverage: float) -> str:
    """In per cent, rounded down, so that it never promises more than it keeps.

    >>> coverage_text(0.75), coverage_text(0.9375), coverage_text(0.96875)
    ('75%', '93%', '96%')
    """
    return f"{math.floor(100 * coverage)}%"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def number_text(value: float, metric: str) -> str:
    """A value of a metric: a share in per cent, anything else with four digits.

    >>> number_text(0.5, "exact"), number_text(5.4321, "perplexity")
    ('50.0', '5.432')
    """
    return _percent(value) if is_share(metric) else f"{value:.4g}"


def difference_text(value: float, metric: str) -> str:
    """A difference of two values, with its sign: of shares in points. There is no -0.0.

    >>> difference_text(-0.0, "exact"), difference_text(-0.25, "perplexity")
    ('+0.0', '-0.25')
    """
    return f"{100 * value:+z.1f}" if is_share(metric) else f"{value:+z.4g}"


def _interval(line: Row, over: str, shown: Callable[[float], str]) -> str:
    low, high = line[f"{over}_low"], line[f"{over}_high"]
    return "" if low is None else f"{shown(low)} to {shown(high)}"


def as_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Aligned columns, numbers to the right; nothing is cut."""
    texts, right = _cells(columns, rows)
    widths = [max(map(len, cells)) for cells in zip(columns, *texts, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = zip(cells, widths, right, strict=True)
        return "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in padded).rstrip()

    return "\n".join([line(columns), line(["-" * w for w in widths]), *map(line, texts)]) + "\n"


def as_markdown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [list(columns), ["---"] * len(columns), *([_text(v) for v in row] for row in rows)]
    return "".join("| " + " | ".join(map(markdown_text, line)) + " |\n" for line in lines)


def markdown_text(text: str) -> str:
    """A text that Markdown shows as it is, on one line: no HTML, no link, no picture, no further column.

    >>> print(markdown_text("<img src=x> [a](b) | `c`"))
    &lt;img src=x> \\[a\\](b) \\| \\`c\\`
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    plain = re.sub(r"&(?=#|\w)", "&amp;", plain).replace("<", "&lt;")
    return re.sub(r"([|`\[\]])", r"\\\1", plain)


def as_latex(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A `tabular` with the rules of booktabs, numbers to the right."""
    texts, right = _cells(columns, rows)
    return tabular(columns, texts, right)


def _cells(
    columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> tuple[list[list[str]], list[bool]]:
    """Values as text, and which columns hold nothing but numbers."""
    texts = [[_text(value) for value in row] for row in rows]
    right = [all(_numeric(text) for text in cells) for cells in zip(*texts, strict=True)]
    return texts, right or [False] * len(columns)


def as_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def as_json(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A list of objects; what JSON has no word for is null (not a number) or text (a date)."""
    lines = [
        {column: _finite(value) for column, value in zip(columns, row, strict=True)} for row in rows
    ]
    return json.dumps(lines, indent=1, default=str) + "\n"


WRITERS: dict[str, Callable[[Sequence[str], Sequence[Sequence[Any]]], str]] = {
    "table": as_table,
    "csv": as_csv,
    "json": as_json,
    "md": as_markdown,
    "latex": as_latex,
}
FOR_PEOPLE = ("table", "md", "latex")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return " ".join((f"{value:.6g}" if isinstance(value, float) else str(value)).split())


def _numeric(text: str) -> bool:
    try:
        float("0" if text in ("", "-") else text)
    except ValueError:
        return False
    return True
