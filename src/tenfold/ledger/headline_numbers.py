"""The numbers of a claim in brief, for the table of headlines: `successor 97.2/0/0%, addition 0/0/0% at 4/8/12 digits`.

Numbers are grouped by series, which is what a rule compares, such as recipes, and within a series by length or slice. A claim of
many numbers is shown by the one that is least favourable to it: the furthest from what its rule asks, or the nearest to its bound.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tenfold.ledger.rules import PLACES, Number, RuleCell, Verdict
from tenfold.ledger.statuses import Entry

MOST_SERIES, MOST_PLACES = 4, 5  # of more than these one number is shown, the least favourable
UNLABELLED = (*PLACES, "slice", "checkpoint", "trained")  # columns that do not name a series
Place = tuple[str, int]  # slice, length; -1 where rows have none


class Brief(NamedTuple):
    """Our numbers in brief, and those of the worst seed; empty where these are the same, or where nothing was measured."""

    ours: str
    worst: str


class HeadlineValue(NamedTuple):
    """One number: the series and the place where it stands."""

    series: str
    place: Place
    text: str
    percent: bool


def brief(entry: Entry) -> Brief:
    """Our numbers of a claim in brief.

    `97.2/0/0% at 4/8/12 digits`; of many numbers `power 0.5 1.062 (least favourable of 11)`.
    """
    measured = [verdict for verdict in entry.shown if verdict.holds is not None]
    if not measured:
        return Brief("", "")
    names = _names(entry)
    points = [
        _point(entry, number, names, number.value)
        for verdict in measured
        for number in (verdict.ours, verdict.against)
        if number is not None
    ]
    worst = [
        _point(entry, verdict.ours, names, value)
        for verdict in measured
        if (value := verdict.worst()) is not None
    ]
    series = _by_series(points)
    if len(series) > MOST_SERIES or max(map(len, series.values())) > MOST_PLACES:
        return _of_the_weakest(entry, measured, names)
    numbers = _metric(entry) + _written(points, entry.unit)
    if set(worst) <= set(points):
        return Brief(numbers, "")
    elsewhere = any(each.keys() != series[name].keys() for name, each in _by_series(worst).items())
    return Brief(numbers, _written(worst, entry.unit, places=elsewhere))


def weakest(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict that is least favourable to its claim; of equal ones the last."""
    return min(reversed(verdicts), key=lambda verdict: verdict.slack)


def _of_the_weakest(entry: Entry, measured: Sequence[Verdict], names: Mapping[str, str]) -> Brief:
    """One number, and what it is compared with."""
    verdict = weakest(measured)
    point = _point(entry, verdict.ours, names, verdict.ours.value)
    ours = _metric(entry) + _written([point], entry.unit)
    if verdict.against is not None:
        other = _point(entry, verdict.against, names, verdict.against.value)
        same = other.place == point.place
        text = f"{other.series} {_values([other])}".strip()
        ours += f", against {text}" if same else f", against {_written([other], entry.unit)}"
    value = verdict.worst()
    worst = point if value is None else _point(entry, verdict.ours, names, value)
    shown = "" if worst == point else _written([worst], entry.unit, places=False)
    return Brief(f"{ours} (least favourable of {len(measured)})", shown)


def _point(
    entry: Entry, number: Number, names: Mapping[str, str], value: float | None
) -> HeadlineValue:
    cell = number.cell
    lengths = {row["length"] for row in cell.rows(entry.rows)}
    length = lengths.pop() if len(lengths) == 1 else None
    place = (str(cell.slice or ""), -1 if length is None else int(length))
    text = "" if value is None else _number(cell, value)
    return HeadlineValue(names[_series(cell)], place, text, cell.share)


def _number(cell: RuleCell, value: float) -> str:
    """`97.2`, `100` for a share in percent; other numbers as they are."""
    return f"{100 * value:.1f}".removesuffix(".0") if cell.share else f"{value:.4g}"


def _series(cell: RuleCell) -> str:
    """What identifies a series: its columns but for those that say where it stands."""
    return repr({k: v for k, v in cell.stated().items() if k not in UNLABELLED})


def _names(entry: Entry) -> dict[str, str]:
    """The name of each series: as the claim has it, else the part of the recipe's name that is its own; and which seed is taken."""
    numbers = [n for verdict in entry.shown for n in (verdict.ours, verdict.against) if n]
    cells = {_series(number.cell): number.cell for number in numbers}
    recipes = list(dict.fromkeys(str(cell.recipe) for cell in cells.values() if cell.recipe))
    own = dict(zip(recipes, _own_parts(recipes), strict=True)) | dict(entry.claim.names)
    several = len({cell.metric for cell in cells.values()}) > 1
    named = {}
    for key, cell in cells.items():
        metric = _words(str(cell.metric or "exact")) if several else ""
        seed = f"({cell.take} seed)" if cell.take in ("lowest", "highest") else ""
        named[key] = " ".join(filter(None, [own.get(str(cell.recipe), ""), metric, seed]))
    return named


def _metric(entry: Entry) -> str:
    """The metric of all numbers, if it is one and no share: `largest rise: `."""
    cells = [verdict.ours.cell for verdict in entry.shown]
    metrics = {str(cell.metric) for cell in cells}
    return "" if len(metrics) > 1 or cells[0].share else f"{_words(metrics.pop())}: "


def _words(metric: str) -> str:
    return metric.replace("-", " ")


def _own_parts(recipes: Sequence[str]) -> list[str]:
    """What tells recipes apart: `p/successor-coded`, `p/addition-coded` are `successor`, `addition`; one alone has no name.

    >>> (
    ...     _own_parts(["p/far-alibi", "p/far-power-2"]),
    ...     _own_parts(["p/sums", "p/sums-long"]),
    ...     _own_parts(["p/sums"]),
    ... )
    (['alibi', 'power-2'], ['sums', 'sums-long'], [''])
    """
    if len(recipes) == 1:
        return [""]
    parts = [each.rpartition("/")[2].split("-") for each in recipes]
    start = _alike(parts)
    end = _alike([each[start:][::-1] for each in parts])
    own = ["-".join(each[start : len(each) - end]) for each in parts]
    return own if all(own) else ["-".join(each) for each in parts]


def _alike(lists: Sequence[Sequence[str]]) -> int:
    """How many words all lists begin with."""
    columns = zip(*lists, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda words: len(set(words)) == 1, columns))


def _by_series(points: Iterable[HeadlineValue]) -> dict[str, dict[Place, HeadlineValue]]:
    series: dict[str, dict[Place, HeadlineValue]] = defaultdict(dict)
    for point in points:
        series[point.series][point.place] = point
    return series


def _written(points: Sequence[HeadlineValue], unit: str, places: bool = True) -> str:
    """`a 100/99.5% at 4/5 digits, b 0% at 4 digits`; the places once, behind, where all series have the same, or not at all."""
    series = _by_series(points)
    if not places:
        return ", ".join(_named(name, each, "") for name, each in series.items())
    slices = {place[0] for each in series.values() for place in each}
    lengths = {place[1] for each in series.values() for place in each}
    where = {
        name: _places(sorted(each), unit, len(slices) > 1, len(lengths) > 1 or len(slices) == 1)
        for name, each in series.items()
    }
    once = len(set(where.values())) == 1
    parts = [_named(name, each, "" if once else where[name]) for name, each in series.items()]
    last = where[points[0].series] if once else ""
    return " ".join(filter(None, [", ".join(parts), last]))


def _named(name: str, points: Mapping[Place, HeadlineValue], where: str) -> str:
    values = _values([points[place] for place in sorted(points)])
    return " ".join(filter(None, [name, values, where]))


def _values(points: Sequence[HeadlineValue]) -> str:
    return "/".join(point.text for point in points) + "%" * points[0].percent


def _places(places: Sequence[Place], unit: str, slices: bool, lengths: bool) -> str:
    """`at 4/8 digits`, `at cascade-1/4/8`."""
    words = []
    if slices:
        labels = list(dict.fromkeys(each[0] or "uniform" for each in places))
        words.append("at " + _joined(labels))
    numbers = list(dict.fromkeys(str(each[1]) for each in places if each[1] >= 0))
    if lengths and numbers:
        words.append(f"at {'/'.join(numbers)} {unit if numbers != ['1'] else unit.removesuffix('s')}")  # fmt: skip
    return " ".join(words)


def _joined(labels: Sequence[str]) -> str:
    """
    >>> _joined(["cascade-1", "cascade-8"]), _joined(["pads-0"]), _joined(["sum", "product"])
    ('cascade-1/8', 'pads-0', 'sum/product')
    """
    kinds = {label.rpartition("-")[0] for label in labels}
    if len(labels) == 1 or len(kinds) > 1 or "" in kinds:
        return "/".join(labels)
    numbers = sorted((label.rpartition("-")[2] for label in labels), key=lambda n: (len(n), n))
    return f"{kinds.pop()}-{'/'.join(numbers)}"
