"""A paper's page as HTML that holds all it shows: `papers/PAPER/README.md`, filled in, with its figures.

What stands between marks is taken from the results beside the page as they are now, so that no figure or status is
older than they are. A page without marks gets all claims of its paper at its end.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.files import write_atomically
from tenfold.drawing.html import document
from tenfold.drawing.inline_svg import inline
from tenfold.ledger.claims import CLAIMS, papers
from tenfold.ledger.markdown_page import Link, Picture, Rendered, render, status
from tenfold.ledger.paper_page import OPENING, PAGE, RESULTS, fill, table
from tenfold.ledger.statuses import STATUSES, Entry, ledger
from tenfold.results.committed import INSTALLED
from tenfold.runs.recipe_files import SHELVES

KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}
BROAD = 1.9  # a drawing this much wider than high has a line of its own
STYLE = """
:root { --reproduced: #00684a; --partly: #7d5200; --not-shown: #75308c; }
@media (prefers-color-scheme: dark) { :root { --reproduced: #4fd1a5; --partly: #f0b84a; --not-shown: #d9a6ea; } }
a { color: var(--blue); }
nav ul { columns: 19rem; padding-left: 1.2rem; font-size: .9rem; } nav li { break-inside: avoid; }
nav li.deeper { margin-left: 1rem; }
figure.broad { grid-column: 1 / -1; } figure.broad > svg { max-width: 54rem; }
span.picture svg { max-width: min(30rem, 100%); height: auto; fill: currentColor; } span.picture img { max-width: 100%; background: #fff; }
table.claims { margin: 1rem 0; } table.claims th, table.claims td { text-align: left; white-space: normal; vertical-align: top; }
table.claims th:nth-child(1) { min-width: 15rem; } table.claims th:nth-child(n + 2) { min-width: 9rem; }
table.facts th, table.facts td { min-width: 5rem; }
.status { font-weight: 600; white-space: nowrap; padding: 0 .3rem; border-left: 3px solid currentColor; }
.reproduced { color: var(--reproduced); } .partly { color: var(--partly); } .contradicted { color: var(--bad); }
.not-shown-at-this-scale { color: var(--not-shown); white-space: normal; } .open { color: var(--soft); }
.partly, .open { border-left-style: dashed; } .not-shown-at-this-scale { border-left-style: dotted; }
.contradicted { border-left-style: double; }
p.statuses { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
"""


def write_paper(
    paper: str, out: Path | str, shelves: Sequence[Path] = (), drawings: Path | None = None
) -> dict[str, Path]:
    """Write `PAPER.html` to a folder; say where it is. `shelves` are folders of papers, if not the usual ones.

    `drawings` is a folder of results that were drawn again, whose SVG files stand for the committed PNG files.
    """
    page, out = _find(paper, shelves or SHELVES), Path(out)
    installed = page.resolve().parents[2] == INSTALLED.parent
    results = INSTALLED if installed else page.parents[2] / "results"
    entries = ledger([paper], (results,), (page.parents[1],))
    text = fill(page, entries, results, drawings)
    if OPENING not in text:
        text += f"\n## Claims\n\n{table(entries)}\n"
    made = render(text, _pictures(page, drawings), _links(page, out))
    written = out / f"{paper}.html"
    try:
        out.mkdir(parents=True, exist_ok=True)
        whole = document(made.title or paper, _body(made, entries), STYLE)
        write_atomically(written, whole.encode())
    except OSError as error:
        raise TenfoldError(f"cannot write to {out}: {error.strerror or error}") from None
    return {paper: written}


def _find(paper: str, shelves: Sequence[Path]) -> Path:
    """The page beside the paper's claims."""
    place = next((s / paper for s in shelves if (s / paper / CLAIMS).is_file()), None)
    if place is None:
        raise unknown("paper", paper, papers(shelves))
    if not (place / PAGE).is_file():
        raise TenfoldError(f"{place} has no page: there is no {PAGE}")
    return place / PAGE


def _body(made: Rendered, entries: Sequence[Entry]) -> str:
    """The page's text, and below its title how many claims are how, and what there is to go to."""
    title, end, rest = made.body.partition("</h1>") if made.title else ("", "", made.body)
    statuses = [entry.status for entry in entries]
    counts = "".join(
        f"<span>{status(each)}: {statuses.count(each)}</span>"
        for each in STATUSES
        if each in statuses
    )
    items = "".join(
        f'<li{" class=deeper" * (level > 2)}><a href="#{escape(place)}">{escape(words)}</a></li>'
        for level, place, words in made.contents
    )
    nav = f'<nav aria-label="Contents"><ul>{items}</ul></nav>' if items else ""
    several = f"{len(statuses)} claim{'s' * (len(statuses) != 1)}"
    summary = f'<p class="statuses"><span>{several}</span>{counts}</p>'
    return f"{title}{end}\n{summary}\n{nav}\n{rest}"


def _pictures(page: Path, drawings: Path | None) -> Picture:
    """Pictures by their place from the page, taken in; the drawing (SVG) of one, if there is one, since it follows dark mode."""

    def picture(source: str, words: str, number: int) -> tuple[str, bool]:
        path = page.parent / unquote(source)
        if drawings is not None and RESULTS in source:
            drawn = drawings / unquote(source.partition(RESULTS)[2])
            path = drawn if drawn.is_file() else path
        drawing = path.with_suffix(".svg")
        try:
            if drawing.is_file():
                text = drawing.read_text()
                return inline(text, f"picture-{number}", words), _broad(text)
            if path.suffix not in KINDS:
                raise TenfoldError(f'{page}: a picture is a file (PNG, SVG, ...), not "{source}"')
            data = base64.b64encode(path.read_bytes()).decode()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is damaged"
            raise TenfoldError(f'{page}: the picture "{source}" cannot be read: {why}') from None
        kind = KINDS[path.suffix]
        return f'<img src="data:image/{kind};base64,{data}" alt="{escape(words)}">', False

    return picture


def _broad(drawing: str) -> bool:
    box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', drawing)
    return box is not None and float(box[1]) > BROAD * float(box[2])


def _links(page: Path, out: Path) -> Link:
    """Links to files beside the papers, if these are there and the HTML is written beside the papers too."""
    root, to = page.parents[2].resolve(), out.resolve()

    def link(href: str) -> str | None:
        parts = urlsplit(href)
        target = (page.parent / unquote(parts.path)).resolve()
        if not (to.is_relative_to(root) and target.is_relative_to(root) and target.exists()):
            return None
        place = quote(Path(os.path.relpath(target, to)).as_posix())
        return f"{place}#{parts.fragment}" if parts.fragment else place

    return link
