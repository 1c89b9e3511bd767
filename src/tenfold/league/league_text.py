"""The table of the league as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tenfold.league.entries import entries_of
from tenfold.league.standing import Standing, read_league, standings
from tenfold.league.tracks import LEVELS, Track, track_at


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


def summary(track: Track, one: Standing) -> str:
    """A standing in words: `fits (99.8% at trained lengths), holds 99% to 10 digits`."""
    fit = f"{one.median_fit:.1%}" if track.metric == "exact" else f"{one.median_fit:.3f}"
    if not one.fits:
        return f"does not fit ({fit} at trained lengths)"
    if one.proved:
        return f"proved at every length ({fit} at trained lengths)"
    level = LEVELS[0]
    return f"fits ({fit}), holds {level:.0%} at {one.multiple(level):g} times the trained length"
