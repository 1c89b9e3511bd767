"""An encoding of one's own in the league. This page is the whole path of `tenfold league enter`:

enter
  own_encoding     the one encoding class of a file                              runs/own_components.py
  _check_fit       whether the track has room for it                              runs/build.py
  check_laws       the laws, before anything is trained                          league/law_checks.py
  _check_counted   whether its operations can be counted                         league/budget.py
  expected         the time, said first                                          league/run_league.py
  train_starts     rates, training, ladder                                       league/run_league.py
  standings        the new row among the committed ones                          league/standing.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tenfold.core.errors import Misfit, TenfoldError
from tenfold.core.registry import described
from tenfold.encodings import ENCODINGS, PositionalEncoding
from tenfold.encodings.encoding import WAYS
from tenfold.league.budget import flops_per_step
from tenfold.league.entries import ENTRIES, LeagueEntry
from tenfold.league.law_checks import check_laws
from tenfold.league.run_details import read_details
from tenfold.league.run_league import (
    LeagueOutcome,
    LeaguePlace,
    Say,
    expected,
    starts_of,
    tell,
    train_starts,
)
from tenfold.league.standing import Standing, read_league, shelf_folder, standings
from tenfold.league.tracks import DEFAULT_SCALE, LeagueTrack, track_at
from tenfold.results.tables import Collected
from tenfold.runs.build import build_alone
from tenfold.runs.changed_recipe import given
from tenfold.runs.own_components import REFERENCE, include, resolve
from tenfold.runs.recipe import Recipe

HERE = LeaguePlace(workers=1)  # this process


@dataclass(frozen=True)
class Entered:
    """The table with the new row in it, which is not committed."""

    track: LeagueTrack
    own: Standing
    ranked: list[Standing]  # all entries, the new one among them

    @property
    def place(self) -> int:
        return self.ranked.index(self.own) + 1


def enter(
    file: str | Path,
    track: str = "addition",
    *,
    scale: str = DEFAULT_SCALE,
    seeds: Sequence[int] = (0,),
    place: LeaguePlace = HERE,
    say: Say = tell,
) -> Entered:
    """Train an encoding of one's own under the rules of a track, and rank it among the committed rows.

    Arguments:
        file: a Python file with one encoding class, or FILE.py:NAME.
        track: addition, multiplication, parity, copying or text.
        place: where the runs are written; the committed table is read, never changed.
    """
    rules = track_at(track, scale)
    name = own_encoding(str(file))
    first = rules.recipe(name, {"pe": name})
    _check_fit(rules, first)
    label = given(first)
    entry = LeagueEntry(
        name, f"{name} of {Path(str(file).partition(':')[0]).name}", name, label=label
    )
    (start, *others) = starts_of(rules, [entry], seeds)
    laws = check_laws(law_recipe(rules, start.recipe))
    _check_counted(name, start.recipe)
    say(f"{name}: label {label}; {len(laws)} laws hold")
    outcome = LeagueOutcome()
    try:
        time = expected(rules, [start, *others], place.workers)
        say(f"{len(seeds)} to train, {rules.budget:.1g} operations each, {time}")
        made = train_starts(rules, [start, *others], place, outcome)
    except TenfoldError:
        raise
    except Exception as error:  # of the file's code
        outcome.failed[name] = described(error, ENCODINGS[name])
    if outcome.failed:
        (reason, *_) = outcome.failed.values()
        raise TenfoldError(f"{name} was not entered: {reason}; the table is as it was")
    rows = [row for _, collected, _ in made for row in collected.rows]
    runs = [run for _, collected, _ in made for run in collected.runs]
    return _among(rules, scale, name, Collected(rows, runs), place)


def own_encoding(file: str) -> str:
    """The registered name of the one encoding in a file, or of the one that `FILE.py:NAME` means."""
    if REFERENCE.fullmatch(file):
        name = resolve(file)
        if name not in ENCODINGS.names():
            raise TenfoldError(
                f'"{name}" of {file} is no encoding; a PositionalEncoding would be one'
            )
    else:
        found = [each for each in include(file) if each in ENCODINGS.names()]
        if not found:
            raise TenfoldError(
                f"{file} has no encoding class; a subclass of tenfold.PositionalEncoding with a name would be one"
            )
        if len(found) > 1:
            raise TenfoldError(
                f"{file} has {len(found)} encodings ({', '.join(found)}); name one, as in {file}:{found[0]}"
            )
        (name,) = found
    if name in ENTRIES:
        raise TenfoldError(f'the league has an entry "{name}" already; give the class another name')
    if not any(
        getattr(ENCODINGS[name], way) is not getattr(PositionalEncoding, way) for way in WAYS
    ):
        raise TenfoldError(
            f'encoding "{name}" of {file} has none of the methods {", ".join(WAYS)}; with one of them it does something'
        )
    return name


def _check_fit(track: LeagueTrack, recipe: Recipe) -> None:
    """Raise where the track has no room for an encoding, such as one for attention in both directions."""
    try:
        build_alone(recipe)
    except Misfit as misfit:
        raise TenfoldError(f'{misfit}; the track "{track.name}" has decoders alone') from None


def _check_counted(name: str, recipe: Recipe) -> None:
    """Raise where operations cannot be counted, which is done on tensors without numbers (PyTorch's device meta)."""
    try:
        flops_per_step(recipe)
    except TenfoldError:
        raise
    except Exception as error:  # of the file's code
        raise TenfoldError(
            f'the operations of encoding "{name}" cannot be counted: {described(error, ENCODINGS[name])}; tensors made '
            "on the device of their inputs, and no branch on their numbers, would be right"
        ) from error


def law_recipe(track: LeagueTrack, recipe: Recipe) -> Recipe:
    """A recipe that laws are checked with: text has no problems, so its encodings are tried on sums."""
    if track.metric == "exact":
        return recipe
    return track_at("addition").recipe(recipe.pe.name, {"pe": recipe.pe})


def _among(
    track: LeagueTrack, scale: str, name: str, own: Collected, place: LeaguePlace
) -> Entered:
    shelves = (place.results,) if (place.results / "league").is_dir() else ()
    there = read_league(track, scale, shelves)
    details = read_details(shelf_folder(track, scale, shelves))
    both = Collected(there.rows + own.rows, there.runs + own.runs)
    ranked = [replace(one, own=one.entry == name) for one in standings(track, both, details)]
    (mine,) = [one for one in ranked if one.own]
    return Entered(track, mine, ranked)
