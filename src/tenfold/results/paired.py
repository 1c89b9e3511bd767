"""Two encodings compared seed by seed: runs are paired that differ in the encoding alone."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence

from tenfold.core.errors import TenfoldError, unknown
from tenfold.evals.statistics import paired
from tenfold.results.row_schema import Row
from tenfold.results.summary import bounds, by_run, deciding, grouped, metric_of, mixed_rows
from tenfold.results.tables import Collected

SHARED = (
    "task",
    "format",
    "trained",
    "length",
    "slice",
    "metric",
    "checkpoint",
    "evaluated_pe",
)  # by partners
OWN = (
    "pe",
    "schemes",
    "label",
    "include",
)  # what partners may differ in, with the recipe's name and words


def compare(
    collected: Collected, rows: Sequence[Row], first: str, second: str, by: Sequence[str]
) -> tuple[list[Row], list[str]]:
    """Two encodings seed by seed, a line a value of `by`; and notes on mixed cells and runs without a partner.

    Runs are paired whose recipes agree but for the encoding, its schemes, its label and the recipe's words.
    """
    if not collected.runs:
        raise TenfoldError("the recipes are not at hand; name run folders, or a folder of results")
    rows = [row for row in rows if row["fingerprint"]]  # what is of no run has no partner
    known = {row["encoding"] for row in rows}
    for name in (first, second):
        if name not in known:
            raise unknown("encoding of these runs", name, known)
    if first == second:
        raise TenfoldError(f'"{first}" is compared with itself; name two encodings')
    ours, theirs = (_variants(collected, rows, name) for name in (first, second))
    matches = [
        (ours[a], theirs[b])
        for a in ours
        for b in theirs
        if a[0] == b[0] and ours[a].keys() & theirs[b].keys()
    ]
    if not matches:
        raise TenfoldError(
            f"no run of {first} has a partner of {second}: the same recipe and seed but for the "
            "encoding, its schemes and its label"
        )
    lines: list[Row] = []
    notes: list[str] = []
    alone = {row["fingerprint"] for row in rows if row["encoding"] in (first, second)}
    for a, b in matches:
        pairs = {seed: (a[seed], b[seed]) for seed in sorted(a.keys() & b.keys())}
        runs = {run for pair in pairs.values() for run in pair}
        alone -= runs
        own = [row for row in rows if row["fingerprint"] in runs]
        notes += mixed_rows(own, by)
        several = len(matches) > 1
        names = (_name(collected, a), _name(collected, b)) if several else (first, second)
        compared, apart = _compared(own, pairs, names, by)
        lines += compared
        notes += apart
    notes += [f"{len(alone)} runs of {first} or {second} have no partner"] if alone else []
    return lines, list(dict.fromkeys(notes))


def _variants(
    collected: Collected, rows: Sequence[Row], encoding: str
) -> dict[tuple[str, str], dict[int, str]]:
    """The runs of an encoding by (what partners share, what is its own), then by seed."""
    wanted = {row["fingerprint"] for row in rows if row["encoding"] == encoding}
    variants: dict[tuple[str, str], dict[int, str]] = {}
    for run in collected.runs:
        if run["fingerprint"] in wanted:
            recipe = deciding(run)
            seed = recipe.pop("seed")
            own = {key: recipe.pop(key) for key in OWN}
            key = json.dumps(recipe, sort_keys=True), json.dumps(own, sort_keys=True)
            variants.setdefault(key, {})[seed] = run["fingerprint"]
    return variants


def _name(collected: Collected, runs: dict[int, str]) -> str:
    """Of several runs that differ in the seed alone: the name of the first."""
    least = runs[min(runs)]
    return next(str(run["run"]) for run in collected.runs if run["fingerprint"] == least)


def _compared(
    rows: Sequence[Row],
    pairs: dict[int, tuple[str, str]],
    names: tuple[str, str],
    by: Sequence[str],
) -> tuple[list[Row], list[str]]:
    """A line for each cell, and a note on each cell in which no pair has both values."""
    lines: list[Row] = []
    notes: list[str] = []
    for key, group in grouped(rows, by).items():
        values = by_run(group)
        seeds = [seed for seed, (a, b) in pairs.items() if a in values and b in values]
        if not seeds:
            cell = ", ".join(f"{column} {value}" for column, value in zip(by, key, strict=True))
            notes.append(f"{cell} is left out: no pair of runs has both measurements")
            continue
        first, second = ({seed: values[pairs[seed][side]] for seed in seeds} for side in (0, 1))
        pairing = paired(first, second, metric_of(group))
        lines.append(
            {
                **dict(zip(by, key, strict=True)),
                "first": names[0],
                "second": names[1],
                "seeds": pairing.seeds,
                "median_first": statistics.median(first.values()),
                "median_second": statistics.median(second.values()),
                "mean": pairing.mean,
                "median": pairing.median,
                **bounds("median", pairing.interval),
                "wins": pairing.wins,
                "ties": pairing.ties,
                "losses": pairing.losses,
                "p": pairing.p,
            }
        )
    return lines, notes
