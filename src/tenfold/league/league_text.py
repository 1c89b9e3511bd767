"""The table of the league as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tenfold.league.entries import ENTRIES, LABELS, entries_of
from tenfold.league.standing import Standing, read_league, standings
from tenfold.league.tracks import LEVELS, TRACKS, LeagueTrack, track_at


def listing(track: str, scale: str, results: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """One line for each entry of a track, as text and as values; entries without rows say so."""
    chosen = track_at(track, scale)
    shelves = (results,) if (results / "league").is_dir() else ()
    made = {one.entry: one for one in standings(chosen, read_league(chosen, scale, shelves))}
    lines, values = [], []
    for entry in entries_of(chosen):
        one = made.get(entry.name)
        state = "no row yet" if one is None else summary(chosen, one)
        lines.append(f"{entry.name:<20} {entry.label:<13} {state}; {entry.words}")
        values.append(
            {"entry": entry.name, "label": entry.label, "words": entry.words, "state": state}
        )
    return lines, values


def entries_table() -> list[str]:
    """All entries as a table in Markdown, by label: what `docs/league.md` shows."""
    lines = ["| entry | label | what it is | paper | tracks |", "|---|---|---|---|---|"]
    for entry in sorted(ENTRIES.values(), key=lambda one: LABELS.index(one.label)):
        suits = [name for name, track in TRACKS.items() if entry.suits(track)]
        tracks = "all" if len(suits) == len(TRACKS) else ", ".join(suits)
        lines.append(
            f"| `{entry.name}` | {entry.label} | {entry.words} | {entry.paper} | {tracks} |"
        )
    return lines


def summary(track: LeagueTrack, one: Standing) -> str:
    """A standing in words: `fits (99.8% at trained lengths), holds 99% to 10 digits`."""
    fit = f"{one.median_fit:.1%}" if track.metric == "exact" else f"{one.median_fit:.3f}"
    if not one.fits:
        return f"does not fit ({fit} at trained lengths)"
    if one.proved:
        return f"proved at every length ({fit} at trained lengths)"
    level = LEVELS[0]
    return f"fits ({fit}), holds {level:.0%} at {one.multiple(level):g} times the trained length"


def table_lines(track: LeagueTrack, ranked: Sequence[Standing]) -> list[str]:
    """The table of a track; a row of one's own is marked with an arrow."""
    head = (
        "",
        "entry",
        "label",
        "at trained lengths",
        "holds 99%",
        "worst seed",
        "holds 90%",
        "seeds",
    )
    rows = [head, *(_cells(track, place, one) for place, one in enumerate(ranked, start=1))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _cells(track: LeagueTrack, place: int, one: Standing) -> tuple[str, ...]:
    mark = f"{'>' if one.own else ' '}{place}"
    if not one.fits:
        return (
            mark,
            one.entry,
            one.label,
            fit_text(track, one),
            "does not fit",
            "",
            "",
            str(len(one.seeds)),
        )
    held = [score_text(one, level) for level in LEVELS]
    best = "proved at every length" if one.proved else held[0]
    return (
        mark,
        one.entry,
        one.label,
        fit_text(track, one),
        best,
        f"{one.worst():g} x",
        held[1],
        str(len(one.seeds)),
    )


def fit_text(track: LeagueTrack, one: Standing) -> str:
    """`99.8% (99.5 to 99.9)`, the 95% interval over problems; of text, the perplexity."""
    if one.fit_interval is None:
        return f"{one.median_fit:.3f}"
    low, high = one.fit_interval
    return f"{one.median_fit:.1%} ({100 * low:.1f} to {100 * high:.1f})"


def score_text(one: Standing, level: float) -> str:
    """`1.2 x (1 to 1.5)`, the interval over seeds where there are several."""
    interval = one.interval(level)
    more = "" if interval is None else f" ({interval.low:g} to {interval.high:g})"
    return f"{one.multiple(level):g} x{more}"
