"""One self-contained page for the league: a sortable table for each track, its curves, and a filter by label."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from tenfold import __version__
from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.drawing.html import document
from tenfold.evals.metrics import is_share
from tenfold.league.entries import LABELS
from tenfold.league.entry_papers import OURS, PAPERS
from tenfold.league.league_chart import MOST, chart, hue
from tenfold.league.league_page_code import SCRIPT, STYLE
from tenfold.league.run_details import read_details
from tenfold.league.standing import Standing, read_league, shelf_folder, standings
from tenfold.league.tracks import (
    ABOVE_MEDIAN,
    DEFAULT_SCALE,
    FIT,
    LEVELS,
    TRACKS,
    TRIED,
    LeagueTrack,
    track_at,
)

Table = dict[str, tuple[LeagueTrack, list[Standing]]]
HEADINGS = (
    "entry", "label", "at trained lengths", "holds 99%", "worst seed", "holds 90%", "seeds",
    "parameters", "steps", "rate",
)  # fmt: skip
TEXTS = {"entry", "label"}
GIVEN = {
    "generic": "nothing",
    "significance": "which digits align",
    "window": "a window placed by hand",
    "calibrated": "lines found in a trained model",
    "scratchpad": "steps between question and answer",
    "loops": "layers that repeat",
}


def tables(
    names: Sequence[str] = (), scale: str = DEFAULT_SCALE, results: Path | None = None
) -> Table:
    """The standings of all tracks that have committed rows, or of those named."""
    shelves = () if results is None else (results,)
    made: Table = {}
    for name in names or TRACKS:
        track = track_at(name, scale)
        details = read_details(shelf_folder(track, scale, shelves))
        ranked = standings(track, read_league(track, scale, shelves), details)
        if ranked:
            made[name] = track, ranked
    if not made:
        raise TenfoldError(
            f"no row of the league is committed at the scale {scale}; run `tenfold league run` first"
        )
    return made


def write_page(
    out: Path,
    names: Sequence[str] = (),
    scale: str = DEFAULT_SCALE,
    results: Path | None = None,
) -> dict[str, Path]:
    """Write the page, and the same numbers as CSV and JSON, into a folder."""
    made = tables(names, scale, results)
    contents = {
        "page": ("league.html", page(made, scale)),
        "csv": ("league.csv", as_csv(made)),
        "json": ("league.json", json.dumps(as_json(made), indent=1) + "\n"),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, text in contents.values():
        write_atomically(out / name, text.encode())
    return {kind: out / name for kind, (name, _) in contents.items()}


def page(made: Table, scale: str) -> str:
    """The page as HTML."""
    count = sum(len(ranked) for _, ranked in made.values())
    body = [
        "<h1>The league: train short, test long, under one set of rules</h1>",
        f"<p>{_counted(count, 'entry', 'entries')} on {_counted(len(made), 'track', 'tracks')}, scale {escape(scale)}, "
        f"tenfold {__version__}. "
        "Within a track every entry has the same data, the same model size unless its method is another model, and the same "
        f"budget of operations, so a costlier method has fewer steps. Learning rates are tried with {TRIED:.0%} of the "
        "budget each, on problems of trained lengths. Compare entries of one label. Point at a row or a curve, or tap it, to "
        "see both.</p>",
        f'<ul class="soft">{"".join(f"<li>{each}</li>" for each in _legend(made))}</ul>',
    ]
    body += [_section(track, ranked) for track, ranked in made.values()]
    return document("The league", "\n".join([*body, SCRIPT]), STYLE)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _legend(made: Table) -> list[str]:
    """What the columns of the tables mean."""
    best, second = LEVELS
    labels = {one.label for _, ranked in made.values() for one in ranked}
    given = ", ".join(f"{label} ({GIVEN[label]})" for label in LABELS if label in labels)
    return [
        f"<b>holds {best:.0%}</b>: the longest length up to which at least {best:.0%} of the problems of every measured length "
        f"are right (on text: up to which perplexity is at most 1/{best:g} of that at the trained length). It is a multiple of "
        "the longest trained length, so 2 x is twice as long. The median over seeds; small numbers are an interval for that "
        f"median, with its coverage. <b>holds {second:.0%}</b> likewise.",
        "<b>at trained lengths</b>: the share of right answers there, with its 95% interval over problems (on text: "
        "perplexity).",
        f"<b>does not fit</b>: right on fewer than {FIT:.0%} of problems of trained lengths (on text: perplexity more than "
        f"{ABOVE_MEDIAN - 1:.0%} above the median of all entries). Such entries stand below the others, without a score. They are "
        "no rivals that were beaten.",
        f"<b>label</b>: what a method is given beyond the text: {given}.",
    ]


def _section(track: LeagueTrack, ranked: Sequence[Standing]) -> str:
    labels = [label for label in LABELS if any(one.label == label for one in ranked)]
    labels += sorted({one.label for one in ranked} - set(labels))
    buttons = "".join(
        f'<button type="button" data-label="{escape(label)}" aria-pressed="false">'
        f'<span class="dot" style="--own: {hue(label)}"></span>{escape(label)}</button>'
        for label in labels
    )
    heads = "".join(
        f'<th scope="col" aria-sort="none" data-kind="{"text" if name in TEXTS else "number"}">'
        f'<button type="button">{name}</button></th>'
        for name in HEADINGS
    )
    fitting, others = (
        "".join(_row(track, one) for one in ranked if one.fits is wanted)
        for wanted in (True, False)
    )
    if others:
        title = f'<tr><th colspan="{len(HEADINGS)}" scope="rowgroup">Does not fit its trained lengths: no rival</th></tr>'
        others = f'<tbody class="unfit">{title}{others}</tbody>'
    return (
        f'<section class="track" id="{escape(track.name)}"><h2>{escape(track.name)}</h2>'
        f"<p>{escape(track.about[:1].upper() + track.about[1:])}. Trained on lengths up to {track.trained:,} "
        f"{track.counts}; a score is a multiple of that.</p>"
        f'<div class="filters" role="group" aria-label="labels">{buttons}</div>'
        f'<div class="stays">{chart(track, ranked)}<p class="shown soft" aria-live="polite">{_way(track)}</p></div>'
        f'<div class="wide"><table class="league"><thead><tr>{heads}</tr></thead><tbody>{fitting}</tbody>{others}</table></div></section>'
    )


def _row(track: LeagueTrack, one: Standing) -> str:
    cells = [
        (one.entry, f'{escape(one.entry)}<small>{escape(one.words)}</small><span class="given">{escape(one.label)}</span>'),
        (one.label, f'<span class="dot" style="--own: {hue(one.label)}"></span>{escape(one.label)}'),
        (one.median_fit, fit_words(track, one)),
        (score_value(one), score_words(one, LEVELS[0])),
        (one.worst() if one.fits else -1, f"{one.worst():g} x" if one.fits else ""),
        (one.multiple(LEVELS[1]) if one.fits else -1, score_words(one, LEVELS[1]) if one.fits else ""),
        (len(one.seeds), str(len(one.seeds))),
        (one.parameters, f"{one.parameters:,}"),
        (one.steps, f"{one.steps:,}"),
        (one.rate, f"{one.rate:g}"),
    ]  # fmt: skip
    data = "".join(f'<td data-value="{escape(str(value))}">{text}</td>' for value, text in cells)
    return (
        f'<tr tabindex="0" data-entry="{escape(one.entry)}" data-label="{escape(one.label)}" '
        f'data-told="{escape(told(track, one))}">{data}</tr>'
    )


def _way(track: LeagueTrack) -> str:
    """What the curves show, until one is pointed at."""
    if is_share(track.metric):
        return "Share of right answers; colours are labels, dotted curves do not fit."
    return (
        f"Perplexity as a multiple of that at the trained length, {MOST:g} times and more on the upper edge; "
        "colours are labels, dotted curves do not fit."
    )


def fit_words(track: LeagueTrack, one: Standing) -> str:
    """What it reaches at trained lengths, with the 95% interval over problems where it is a share."""
    if not is_share(track.metric):
        return f"{one.median_fit:.3f}"
    low, high = one.fit_interval or (0.0, 1.0)
    return f"{one.median_fit:.1%}<small>{low:.1%} to {high:.1%}</small>"


def score_value(one: Standing) -> float:
    if not one.fits:
        return -1.0
    return 1e9 if one.proved else one.multiple()


def score_words(one: Standing, level: float) -> str:
    if not one.fits:
        return "does not fit"
    if one.proved and level == LEVELS[0]:
        return f"proved at every length<small>measured to {one.multiple(level):g} x</small>"
    interval = one.interval(level)
    more = "<small>one seed</small>" if interval is None else (
        f"<small>{interval.low:g} to {interval.high:g} ({interval.coverage:.0%})</small>"
    )  # fmt: skip
    return f"{one.multiple(level):g} x{more}"


def told(track: LeagueTrack, one: Standing) -> str:
    """A row in a sentence, beside its curve."""
    words = [f"{one.entry} ({one.label}; {paper_of(one)}): {one.words}."]
    if is_share(track.metric):
        words.append(f"Right on {one.median_fit:.1%} at trained lengths.")
    else:
        words.append(f"{track.metric.capitalize()} {one.median_fit:.3f} at the trained length.")
    if one.fits and not one.proved:
        words.append(f"Holds {LEVELS[0]:.0%} to {one.multiple() * one.trained:g} {track.counts}.")
    if one.proved:
        words.append("Proved at every length.")
    if not one.fits:
        words.append("Does not fit its trained lengths.")
    if one.ended:
        words.append(f"Ladder: {one.ended}.")
    return " ".join(words)


def paper_of(one: Standing) -> str:
    return PAPERS.get(one.entry.removesuffix(f"-{one.layers}-layer"), OURS)


def as_json(made: Table) -> dict[str, Any]:
    """All numbers of the page."""
    return {
        name: {
            "about": track.about, "trained": track.trained, "metric": track.metric, "budget": track.budget,
            "rates": track.rates, "entries": [_values(track, one) for one in ranked],
        }
        for name, (track, ranked) in made.items()
    }  # fmt: skip


def _values(track: LeagueTrack, one: Standing) -> dict[str, Any]:
    return {
        "entry": one.entry, "label": one.label, "words": one.words, "paper": paper_of(one), "layers": one.layers, "fits": one.fits,
        "fit": one.fit, "fit_median": one.median_fit, "fit_interval": one.fit_interval, "proved": one.proved,
        "held": {f"{level:g}": by for level, by in one.held.items()},
        "multiple": {f"{level:g}": one.multiple(level) for level in LEVELS},
        "worst": {f"{level:g}": one.worst(level) for level in LEVELS},
        "interval": {f"{level:g}": one.interval(level) for level in LEVELS},
        "curve": one.curve, "slices": one.slices, "parameters": one.parameters, "steps": one.steps, "rate": one.rate,
        "seconds": one.seconds, "ended": one.ended, "commits": one.commits, "fingerprints": one.fingerprints,
    }  # fmt: skip


def as_csv(made: Table) -> str:
    """One line for each entry, with the trained-length accuracy beside the score."""
    text = io.StringIO()
    writer: Any = None
    for name, (track, ranked) in made.items():
        for place, one in enumerate(ranked, start=1):
            row = {"track": name, "rank": place, **_flat(track, one)}
            if writer is None:
                writer = csv.DictWriter(text, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
    return text.getvalue()


def _held(one: Standing, level: float) -> Iterator[tuple[str, Any]]:
    """What is held, the worst seed, and the interval for the median, which is empty with one seed."""
    interval = one.interval(level)
    yield "median", one.multiple(level)
    yield "worst", one.worst(level)
    yield "low", None if interval is None else interval.low
    yield "high", None if interval is None else interval.high
    yield "coverage", None if interval is None else interval.coverage


def _flat(track: LeagueTrack, one: Standing) -> Mapping[str, Any]:
    fit_low, fit_high = one.fit_interval or (None, None)
    return {
        "entry": one.entry, "label": one.label, "paper": paper_of(one), "layers": one.layers, "seeds": len(one.seeds),
        "metric": track.metric, "at_trained_lengths": one.median_fit, "at_trained_low": fit_low, "at_trained_high": fit_high,
        "fits": one.fits, "proved": one.proved,
        **{f"holds_{level:g}_{kind}": value for level in LEVELS for kind, value in _held(one, level)},
        "parameters": one.parameters, "steps": one.steps, "rate": one.rate, "seconds": round(one.seconds, 1),
        "fingerprints": " ".join(one.fingerprints),
    }  # fmt: skip
