"""A paper's page, `papers/PAPER/README.md`: text by people, and between marks text by the ledger.

    ## Figure 2
    With relative positions sums stay right far past the training length.
    <!-- ours: addition/accuracy long-addition/figure-2b | fig2-* -->
    ... figures and a table of claims, filled in ...
    <!-- end -->

Before the bar stand figures of experiments (`results/PAPER/addition/SCALE/accuracy.png`, the largest scale that is
committed), behind it claims, each by its id or by a pattern. The page says what was not run. Every claim of the
paper must have its place on the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.core.files import replace_text
from tenfold.ledger.claim_text import status_of
from tenfold.ledger.statuses import Entry, ledger, ours
from tenfold.results.committed import ROWS, SCALES

MARK = re.compile(r"(<!-- ours: ([^|>]*)\|([^>]*)-->\n)(.*?)(<!-- end -->)", re.DOTALL)
OPENING = "<!-- ours:"
PAGE = "README.md"
RESULTS = "../../results/"  # from a paper's page
WIDTH = 400  # pixels: two figures beside each other


def fill_page(path: Path, paper: str, shelves: Sequence[Path]) -> None:
    """Write the marked parts of a paper's own page anew; a page without marks stays as it is."""
    shelf = next((place for place in shelves if place.is_dir()), shelves[0])
    replace_text(path, fill(path, ledger([paper], shelves), shelf))


def fill(page: Path, entries: Sequence[Entry], results: Path, drawings: Path | None = None) -> str:
    """The page's text with every marked part written anew; `entries` are the paper's claims.

    Figures are in `results`, or in `drawings`, a folder of the same shape.
    """
    places = [results] if drawings is None else [results, drawings]
    try:
        text = page.read_text()
    except OSError as error:
        raise TenfoldError(f"{page} cannot be read: {error.strerror or error}") from None
    if text.count(OPENING) != len(MARK.findall(text)):
        raise TenfoldError(
            f'{page}: a part is "<!-- ours: FIGURES | CLAIMS -->" up to "<!-- end -->"'
        )
    placed: set[str] = set()

    def part(mark: re.Match[str]) -> str:
        opening, figures, patterns, _, closing = mark.groups()
        chosen = [
            entry for pattern in patterns.split() for entry in _matching(pattern, entries, page)
        ]
        placed.update(entry.id for entry in chosen)
        shown = [_figure(name, entries, page, places) for name in figures.split()]
        shown.sort(
            key=lambda line: not line.startswith("<img")
        )  # images first, then what is missing
        return "\n".join([opening.rstrip("\n"), *shown, "", table(chosen), closing])

    filled = MARK.sub(part, text)
    if placed and (left := [entry.claim.id for entry in entries if entry.id not in placed]):
        raise TenfoldError(f"{page} has no place for the claim {left[0]} ({len(left)} in all)")
    return filled


def _matching(pattern: str, entries: Sequence[Entry], page: Path) -> list[Entry]:
    matching = [entry for entry in entries if fnmatchcase(entry.claim.id, pattern)]
    if not matching:
        raise TenfoldError(f'{page}: no claim of the paper is "{pattern}"')
    return matching


def _figure(name: str, entries: Sequence[Entry], page: Path, places: Sequence[Path]) -> str:
    """An image, as the page links to it, or a line that says that it is not there."""
    paper = entries[0].paper
    experiment, _, figure = name.partition("/")
    if not figure:
        raise TenfoldError(f'{page}: a figure is EXPERIMENT/NAME, not "{name}"')
    for scale in SCALES:
        path = Path(paper, experiment, scale, f"{figure}.png")
        if any((place / path).is_file() for place in places):
            what = f"{experiment}, {figure.replace('/', ', ')}, {scale} scale"
            return f'<img src="{RESULTS}{path}" alt="{what}" width="{WIDTH}">'
    if any((places[0] / paper / experiment / scale / ROWS).is_file() for scale in SCALES):
        return f"\n*{name}: not drawn here (`tenfold redraw {paper}/{experiment} --out drawn`).*"
    return f"\n*{name}: not run yet (`tenfold reproduce {paper}/{experiment}`).*"


def table(entries: Sequence[Entry]) -> str:
    """Claims in Markdown: what the paper says and published, ours, and the status."""
    lines = ["| the paper says | theirs | ours | status |", "|---|---|---|---|"]
    for entry in {each.id: each for each in entries}.values():
        claim = entry.claim
        number = ours(entry) or (entry.missing[0] if entry.scale else "not run yet")
        cells = (
            f"{claim.says} ({claim.place}; `{claim.id}`)",
            claim.theirs,
            number,
            status_of(entry),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)
