"""A paper's page as HTML that holds all it shows: `papers/PAPER/README.md`, filled in, with its figures.

It opens with the verdict and the figure of the first headline. Recipes and commands, which stand before the first section
of the Markdown file, close it.

What stands between marks is taken from the results beside the page as they are now, so that no figure or status is
older than they are. A page without marks gets all claims of its paper at its end.
"""

from __future__ import annotations

import ast
import base64
import os
import re
from collections.abc import Sequence
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.files import write_atomically
from tenfold.drawing.html import document
from tenfold.drawing.inline_svg import inline
from tenfold.ledger import paper_opening as opening
from tenfold.ledger.claims import CLAIMS, papers
from tenfold.ledger.markdown_page import Link, Picture, Rendered, render, status
from tenfold.ledger.paper_page import OPENING, PAGE, RESULTS, fill, table
from tenfold.ledger.runs_beside_paper import HEADING, PLACE, runs_beside
from tenfold.ledger.statuses import STATUSES, Entry, ledger
from tenfold.results.committed import INSTALLED
from tenfold.runs.recipe_files import SHELVES

KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}
HEADLINE = 10**6  # the number of its picture, above those on the page
BROAD = 1.9  # a drawing this much wider than high has a line of its own
STYLE = """
:root { --reproduced: #00684a; --partly: #7d5200; --against: #75308c; --untested: #2f5597; }
@media (prefers-color-scheme: dark) { :root { --reproduced: #4fd1a5; --partly: #f0b84a; --against: #d9a6ea; --untested: #9dbcf5; } }
a { color: var(--blue); }
nav ul { columns: 19rem; padding-left: 1.2rem; font-size: .9rem; } nav li { break-inside: avoid; }
nav li.deeper { margin-left: 1rem; }
figure.broad { grid-column: 1 / -1; } figure.broad > svg { max-width: 54rem; }
span.picture svg { max-width: min(30rem, 100%); height: auto; fill: currentColor; } span.picture img { max-width: 100%; background: #fff; }
table.claims { margin: 1rem 0; width: 100%; } table.claims th, table.claims td { text-align: left; white-space: normal; vertical-align: top; }
table.claims th:nth-child(1) { min-width: 15rem; } table.claims th:nth-child(n + 2) { min-width: 9rem; }
table.facts th, table.facts td { min-width: 5rem; }
.status { font-weight: 600; white-space: nowrap; padding: 0 .3rem; border-left: 3px solid currentColor; }
.reproduced { color: var(--reproduced); } .partly { color: var(--partly); } .contradicted { color: var(--bad); }
.against { color: var(--against); } .untested { color: var(--untested); } .open { color: var(--soft); }
.partly, .open { border-left-style: dashed; } .against, .untested { border-left-style: dotted; }
.contradicted { border-left-style: double; }
p.statuses { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
"""


def write_paper(
    paper: str,
    out: Path | str,
    shelves: Sequence[Path] = (),
    drawings: Path | None = None,
    runs: Sequence[Path | str] = (),
) -> dict[str, Path]:
    """Write `PAPER.html` to a folder; say where it is. `shelves` are folders of papers, if not the usual ones.

    `drawings` is a folder of results that were drawn again, whose SVG files stand for the committed PNG files. `runs` are
    your own runs, whose curves the page shows before the committed ones.
    """
    page, out = _find(paper, shelves or SHELVES), Path(out)
    installed = page.resolve().parents[2] == INSTALLED.parent
    results = INSTALLED if installed else page.parents[2] / "results"
    entries = ledger([paper], (results,), (page.parents[1],))
    text = fill(page, entries, results, drawings)
    if OPENING not in text:
        text += f"\n## Claims\n\n{table(entries)}\n"
    text = _captioned(text, page)
    picture = _pictures(page, drawings)
    made = render(text, picture, _links(page, out))
    written = out / f"{paper}.html"
    try:
        out.mkdir(parents=True, exist_ok=True)
        own = runs_beside(paper, runs, results, out) if runs else ""
        body = _body(made, entries, _headline(text, entries, picture), own)
        whole = document(made.title or paper, body, STYLE + opening.STYLE)
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


def _captioned(text: str, page: Path) -> str:
    """The Markdown with captions in words: what the figure is called, its scale, and what the experiment asks."""

    def caption(mark: re.Match[str]) -> str:
        experiment, scale, figure = mark[2].split("/", 2)
        words = f"{figure.replace('-', ' ').replace('/', ', ').capitalize()}, {scale} scale"
        asked = _question(page.parent / "experiments" / f"{experiment.replace('-', '_')}.py")
        return f'{mark[1]}{mark[2]}{mark[3]} alt="{escape(f"{words}. {asked}".strip())}"'

    paper = re.escape(f"{RESULTS}{page.parent.name}/")
    return re.sub(
        rf'(<img src="{paper})(\w[^".]*/[^".]*/[^".]*)(\.\w+") alt="[^"]*, \w+ scale"',
        caption,
        text,
    )


def _question(module: Path) -> str:
    """The first line of an experiment's docstring, without importing it; empty if there is none."""
    try:
        words = ast.get_docstring(ast.parse(module.read_text())) or ""
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return words.partition("\n")[0]


def _headline(text: str, entries: Sequence[Entry], picture: Picture) -> str:
    """The first figure of the first headline's experiment; the page's first if it has none; else nothing."""
    figures = re.findall(r'<img src="([^"]+)" alt="([^"]*)"', text)
    wanted = [f"/{e.paper}/{e.claim.experiment}/" for e in entries if e.claim.headline]
    chosen = [one for place in wanted for one in figures if place in one[0]] or figures
    if not chosen:
        return ""
    source, words = chosen[0][0], unescape(chosen[0][1])
    drawn, _ = picture(source, words, HEADLINE)
    return f'<figure class="headline">{drawn}<figcaption>{escape(words)}</figcaption></figure>'


def _body(made: Rendered, entries: Sequence[Entry], headline: str, own: str) -> str:
    """Title, authors, verdict, the headline's figure, contents, own runs, filter; the sections; recipes and commands."""
    title, end, rest = made.body.partition("</h1>") if made.title else ("", "", made.body)
    before, mark, sections = rest.partition("<h2 ")
    about, paragraph, recipes = before.partition("</p>")
    if not paragraph:
        about, recipes = "", before
    contents = [(2, PLACE, HEADING)] if own else []
    contents += made.contents
    contents += [(2, "recipes-and-commands", "Recipes and commands")] if recipes.strip() else []
    items = "".join(
        f'<li{" class=deeper" * (level > 2)}><a href="#{escape(place)}">{escape(words)}</a></li>'
        for level, place, words in contents
    )
    parts = [
        f"{title}{end}",
        opening.byline(entries[0].about),
        f'<p class="verdict">{escape(" ".join(opening.verdict(entries)))}</p>',
        headline,
        f"{about}{paragraph}",
        _counts(entries),
        f'<nav aria-label="Contents"><ul>{items}</ul></nav>' if items else "",
        own,
        opening.status_filter(entries),
        f"{mark}{sections}",
        f'<h2 id="recipes-and-commands">Recipes and commands</h2>\n{recipes}' if recipes.strip() else "",
        opening.SCRIPT,
    ]  # fmt: skip
    return "\n".join(filter(None, parts))


def _counts(entries: Sequence[Entry]) -> str:
    """How many claims have which status."""
    statuses = [entry.status for entry in entries]
    counts = "".join(
        f"<span>{status(each)}: {statuses.count(each)}</span>"
        for each in STATUSES
        if each in statuses
    )
    several = f"{len(statuses)} claim{'s' * (len(statuses) != 1)}"
    if own := sum(entry.claim.kind == "own" for entry in entries):
        several += f", {own} of them our own"
    return f'<p class="statuses"><span>{several}</span>{counts}</p>'


def _pictures(page: Path, drawings: Path | None) -> Picture:
    """Pictures by their place from the page, taken in; the drawing (SVG) of one, if there is one, since it follows dark mode."""

    root = page.parents[2].resolve()  # with the folders of papers and results in it
    allowed = [root] if drawings is None else [root, drawings.resolve()]

    def picture(source: str, words: str, number: int) -> tuple[str, bool]:
        path = page.parent / unquote(source)
        if drawings is not None and RESULTS in source:
            drawn = drawings / unquote(source.partition(RESULTS)[2])
            path = drawn if drawn.is_file() else path
        if not any(path.resolve().is_relative_to(place) for place in allowed):
            raise TenfoldError(f'{page}: the picture "{source}" is not beside the papers')
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
