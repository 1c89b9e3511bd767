"""Standings: the score of every entry of a track, from committed rows."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenfold.evals.metrics import direction
from tenfold.evals.statistics import MedianInterval, median_interval, wilson
from tenfold.league.entries import ENTRIES
from tenfold.league.tracks import ABOVE_MEDIAN, FIT, LEVELS, LeagueTrack
from tenfold.results.committed import ROWS, SHELVES, read_committed
from tenfold.results.row_schema import Row
from tenfold.results.tables import Collected
from tenfold.runs.recipe import Recipe

PROVED = ("certified", "certified-exactly")  # reasons for which training ended with a proof
Curve = Mapping[int, Mapping[int, float]]  # value by seed, by length


@dataclass(frozen=True)
class Standing:
    """An entry of a track, scored. Numbers by seed are keyed by it."""

    entry: str
    words: str
    label: str
    layers: int
    fit: Mapping[int, float]  # at trained lengths: share of right answers, or perplexity
    fit_interval: tuple[float, float] | None  # 95%, over all problems of trained lengths
    fits: bool
    held: Mapping[float, Mapping[int, int]]  # by level: the longest length, 0 if none is held
    curve: Curve  # of the slice that decides
    slices: Mapping[str, Curve]  # of the others
    trained: int
    proved: bool  # at every length, with every seed
    parameters: int
    steps: int
    rate: float
    seconds: float
    commits: tuple[str, ...]
    fingerprints: tuple[str, ...]
    ended: str = ""
    own: bool = False  # of the user, and not committed
    notes: tuple[str, ...] = field(default=())

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted(self.fit))

    def multiple(self, level: float = LEVELS[0]) -> float:
        """The median over seeds of the longest length that is held, as a multiple of the trained length."""
        return statistics.median(self.held[level].values()) / self.trained

    def worst(self, level: float = LEVELS[0]) -> float:
        return min(self.held[level].values()) / self.trained

    def interval(self, level: float = LEVELS[0]) -> MedianInterval | None:
        """An interval for the median multiple over all seeds; None with one seed."""
        values = [length / self.trained for length in self.held[level].values()]
        return median_interval(values)

    @property
    def median_fit(self) -> float:
        return statistics.median(self.fit.values())


def shelf_folder(track: LeagueTrack, scale: str, shelves: Sequence[Path] = ()) -> Path:
    """The folder of a track's committed rows: the first that exists, here or in the installed package."""
    places = [shelf / "league" / track.name / scale for shelf in shelves or SHELVES]
    return next((folder for folder in places if (folder / ROWS).is_file()), places[0])


def read_league(track: LeagueTrack, scale: str, shelves: Sequence[Path] = ()) -> Collected:
    """The committed rows of a track; none where nothing is committed."""
    folder = shelf_folder(track, scale, shelves)
    return read_committed(folder) if (folder / ROWS).is_file() else Collected()


def standings(
    track: LeagueTrack, collected: Collected, details: Mapping[str, Any] | None = None
) -> list[Standing]:
    """Score all entries, the best first; those that do not fit come last, whatever they score."""
    by_name: dict[str, list[tuple[Row, Recipe]]] = {}
    for run in collected.runs:
        recipe = Recipe.of(json.loads(run["recipe"]))
        by_name.setdefault(recipe.name, []).append((run, recipe))
    rows: dict[str, list[Row]] = {}
    for row in collected.rows:
        rows.setdefault(row["fingerprint"], []).append(row)
    made = [_standing(track, runs, rows, details or {}) for runs in by_name.values()]
    bar = _bar(track, made)
    judged = [_judged(track, one, bar) for one in made]
    return sorted(judged, key=lambda one: _rank(track, one), reverse=True)


def _rank(track: LeagueTrack, one: Standing) -> tuple[Any, ...]:
    """Entries that fit first, then by what they hold, then by their fit."""
    by_level = [value for level in LEVELS for value in (one.multiple(level), one.worst(level))]
    return (one.fits, one.proved, *by_level, direction(track.metric) * one.median_fit)


def _standing(
    track: LeagueTrack,
    runs: Sequence[tuple[Row, Recipe]],
    rows: Mapping[str, Sequence[Row]],
    details: Mapping[str, Any],
) -> Standing:
    recipe = runs[0][1]
    slices: dict[str, dict[int, dict[int, float]]] = {}
    right = asked = 0
    for run, _ in runs:
        for row in rows.get(run["fingerprint"], ()):
            if row["metric"] != track.metric or row["evaluated_pe"]:
                continue
            at = slices.setdefault(row["slice"], {}).setdefault(row["length"], {})
            at[run["seed"]] = row["value"]
            if row["slice"] == track.slices[0] and row["length"] <= track.trained:
                right, asked = right + round(row["value"] * row["n"]), asked + row["n"]
    curve = dict(sorted(slices.pop(track.slices[0], {}).items()))
    seeds = [run["seed"] for run, _ in runs]
    fit = {seed: _fit(track, curve, seed) for seed in seeds}
    held = {level: {seed: _held(track, curve, seed, level) for seed in seeds} for level in LEVELS}
    environments = [json.loads(run["environment"]) for run, _ in runs]
    entry = entry_of(recipe.name)
    return Standing(
        entry=entry,
        words=recipe.about or (ENTRIES[entry].words if entry in ENTRIES else ""),
        label=recipe.label,
        layers=recipe.model.layers,
        fit=fit,
        fit_interval=wilson(right, asked) if track.metric == "exact" else None,
        fits=False,
        held=held,
        curve=curve,
        slices={name: dict(sorted(each.items())) for name, each in slices.items()},
        trained=track.trained,
        proved=all(run["reason"] in PROVED for run, _ in runs),
        parameters=runs[0][0]["parameters"],
        steps=max(_of_stages(run, "steps", run["steps"], details) for run, _ in runs),
        rate=recipe.train.lr,
        seconds=statistics.median(
            _of_stages(run, "seconds", run["train_seconds"], details) for run, _ in runs
        ),
        commits=tuple(sorted({str(each.get("commit")) for each in environments})),
        fingerprints=tuple(run["fingerprint"] for run, _ in runs),
        ended=str(details.get(runs[0][0]["fingerprint"], {}).get("ended", "")),
    )


def _of_stages(run: Row, what: str, last: float, details: Mapping[str, Any]) -> Any:
    """The sum over the stages of a run, of which `last` is that of the last one."""
    stages = details.get(run["fingerprint"], {}).get("stages", ())
    return sum(stage[what] for stage in stages) if stages else last


def values_at(track: LeagueTrack, one: Standing, length: int) -> Mapping[int, float]:
    """The value of every seed at a measured length.

    A seed whose ladder ended before has no right answer there: it counts as 0, for the median of the others alone would
    rise where the weak seeds end.
    """
    by = one.curve[length]
    if direction(track.metric) < 0:
        return by
    return {seed: by.get(seed, 0.0) for seed in one.seeds}


def entry_of(name: str) -> str:
    """
    >>> entry_of("league/addition/rotary"), entry_of("league/addition/rotary-1-layer")
    ('rotary', 'rotary-1-layer')
    """
    return name.rpartition("/")[2]


def _fit(track: LeagueTrack, curve: Curve, seed: int) -> float:
    """The mean over the measured trained lengths."""
    values = [by[seed] for length, by in curve.items() if length <= track.trained and seed in by]
    return statistics.fmean(values) if values else 0.0


def _held(track: LeagueTrack, curve: Curve, seed: int, level: float) -> int:
    """The longest length up to which every measured length is held; 0 if the first is not."""
    held = 0
    for length, by in curve.items():
        if seed not in by or not _holds(track, by[seed], _reference(track, curve, seed), level):
            return held
        held = length
    return held


def _reference(track: LeagueTrack, curve: Curve, seed: int) -> float:
    return curve.get(track.trained, {}).get(seed, 0.0)


def _holds(track: LeagueTrack, value: float, reference: float, level: float) -> bool:
    """A share of right answers holds at the level; a perplexity, while that at the trained length is this share of it."""
    if direction(track.metric) > 0:
        return value >= level
    return value * level <= reference


def _bar(track: LeagueTrack, made: Sequence[Standing]) -> float:
    """What an entry needs at trained lengths: a share of right answers, or a perplexity near the median of all."""
    if direction(track.metric) > 0 or not made:
        return FIT
    return ABOVE_MEDIAN * statistics.median(one.median_fit for one in made)


def _judged(track: LeagueTrack, one: Standing, bar: float) -> Standing:
    sign = direction(track.metric)
    fits = sign * one.median_fit >= sign * bar
    return Standing(**{**vars(one), "fits": fits})
