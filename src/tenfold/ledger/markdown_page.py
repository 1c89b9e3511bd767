"""Markdown as the body of a page: headings to go to, tables in boxes of their own, pictures where they are named.

>>> made = render("# One\\n\\n## Two *x*\\n\\n| a |\\n|---|\\n| <b> |\\n")
>>> made.title, made.contents
('One', [(2, 'two-x', 'Two x')])
>>> print(made.body)
<h1 id="one">One</h1>
<h2 id="two-x">Two <em>x</em></h2>
<div class="wide"><table class="facts">
<thead>
<tr>
<th>a</th>
</tr>
</thead>
<tbody>
<tr>
<td>&lt;b&gt;</td>
</tr>
</tbody>
</table></div>
<BLANKLINE>

HTML within Markdown is shown as text; but pictures (`<img src alt>`) are pictures, and comments go.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tenfold.ledger.statuses import STATUSES

Picture = Callable[[str, str, int], tuple[str, bool]]  # source, words, number -> HTML, is it broad
Link = Callable[[str], str | None]  # where a relative link leads from the page; None: nowhere
MARKS = {
    "reproduced": "✓",
    "partly": "◐",
    "against": "↓",
    "contradicted": "✗",
    "untested": "⊘",
    "open": "○",
}
FAR = {"http", "https", "mailto"}


@dataclass(frozen=True)
class Rendered:
    title: str  # the words of the first heading
    body: str
    contents: list[tuple[int, str, str]]  # below the title: level, id, words


def _no_picture(source: str, words: str, number: int) -> tuple[str, bool]:
    return escape(words), False


def _nowhere(target: str) -> None:
    return None


def render(text: str, picture: Picture = _no_picture, link: Link = _nowhere) -> Rendered:
    """`picture` gives the HTML of a picture, `link` the place of a relative link; without these their words stay.

    Pictures that stand by themselves (`<img>` on lines of their own) are figures, beside each other; others are
    within their paragraph.
    """
    parser = MarkdownIt("commonmark").enable("table")
    parser.add_render_rule("table_open", _open_table)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    tokens = parser.parse(text)
    headings = list(_headings(tokens))
    known = {place for _, place, _ in headings}
    numbers = iter(range(10**6))
    for token in tokens:
        if token.type == "html_block":
            token.content = _block(token.content, picture, numbers)
        if token.children:
            token.children = list(_inline(token.children, picture, link, known, numbers))
    for table in _tables(tokens):
        _mark_statuses(table)
    body = parser.renderer.render(tokens, parser.options, {})
    title = next((words for level, _, words in headings if level == 1), "")
    return Rendered(title, body, [each for each in headings if each[0] > 1])


def status(text: str) -> str:
    """A status as a claim's table has it, marked: by its word and a sign, not by colour alone.

    >>> status("open")
    '<span class="status open"><span aria-hidden="true">○</span> open</span>'
    """
    name_of_status = next((each for each in STATUSES if text.startswith(each)), None)
    if name_of_status is None:
        return escape(text)
    sign = f'<span aria-hidden="true">{MARKS[name_of_status]}</span>'
    name = name_of_status.replace(" ", "-")
    return f'<span class="status {name}">{sign} {name_of_status}</span>{escape(text[len(name_of_status) :])}'


def heading_id(words: str) -> str:
    """The id of a heading, to which `#ID` leads.

    >>> heading_id("Addition, by column (6 digits)")
    'addition-by-column-6-digits'
    """
    return "-".join(re.sub(r"[^\w\s-]", "", words.lower()).split()) or "part"


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[int, str, str]]:
    """Each gets an id that no other has."""
    seen: set[str] = set()
    for token, inside in itertools.pairwise(tokens):
        if token.type == "heading_open":
            words = _words(inside)
            plain = heading_id(words)
            free = (f"{plain}-{number}" for number in range(1, 10**6))
            place = plain if plain not in seen else next(one for one in free if one not in seen)
            seen.add(place)
            token.attrSet("id", place)
            yield int(token.tag[1]), place, words


def _words(inside: Token) -> str:
    return "".join(
        child.content or " " * (child.type == "softbreak") for child in inside.children or ()
    )


def _inline(
    children: Sequence[Token], picture: Picture, link: Link, known: set[str], numbers: Iterator[int]
) -> Iterator[Token]:
    open_links: list[bool] = []
    for token in children:
        if token.type == "link_open":
            target = _target(str(token.attrGet("href") or ""), link, known)
            open_links.append(target is not None)
            if target is None:
                continue
            token.attrSet("href", target)
        if token.type == "link_close" and not open_links.pop():
            continue
        if token.type == "image":
            words = _words(token)
            source = str(token.attrGet("src") or "")
            yield _raw(_within(*picture(source, words, next(numbers))))
        elif token.type == "html_inline":
            yield from (
                _raw(escape(text))
                if image is None
                else _raw(_within(*picture(image["src"], image["alt"], next(numbers))))
                for image, text in _parts(token.content)
            )
        else:
            yield token


def _target(href: str, link: Link, known: set[str]) -> str | None:
    if href.startswith("#"):
        return href if href[1:] in known else None
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        return href if parts.scheme in FAR else None
    return link(href)


def _within(drawn: str, broad: bool) -> str:
    return f'<span class="picture">{drawn}</span>'


def _raw(html: str) -> Token:
    return Token("html_inline", "", 0, content=html)


class _Reader(HTMLParser):
    """Pictures apart from everything else."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[tuple[dict[str, str] | None, str]] = []  # a picture, or text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        image = {"src": "", "alt": "", **given} if tag == "img" else None
        self.parts.append((image, self.get_starttag_text() or ""))

    def handle_endtag(self, tag: str) -> None:
        self.parts.append((None, f"</{tag}>"))

    def handle_data(self, data: str) -> None:
        self.parts.append((None, data))

    def handle_entityref(self, name: str) -> None:
        self.parts.append((None, f"&{name};"))

    def handle_charref(self, name: str) -> None:
        self.parts.append((None, f"&#{name};"))

    def handle_decl(self, decl: str) -> None:
        self.parts.append((None, f"<!{decl}>"))

    def unknown_decl(self, data: str) -> None:
        self.parts.append((None, f"<![{data}]>"))

    def handle_pi(self, data: str) -> None:
        self.parts.append((None, f"<?{data}>"))


def _parts(html: str) -> list[tuple[dict[str, str] | None, str]]:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.parts


def _block(html: str, picture: Picture, numbers: Iterator[int]) -> str:
    """Pictures beside each other, each over its words; the rest as text."""
    figures, text = [], ""
    for image, other in _parts(html):
        if image is None:
            text += other
            continue
        drawn, broad = picture(image["src"], image["alt"], next(numbers))
        kind, words = ' class="broad"' * broad, escape(image["alt"])
        figures.append(f"<figure{kind}>{drawn}<figcaption>{words}</figcaption></figure>\n")
    paragraph = f"<p>{escape(text.strip())}</p>\n" if text.strip() else ""
    return paragraph + (f'<div class="many maps">\n{"".join(figures)}</div>\n' if figures else "")


def _open_table(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    kind = "claims" if tokens[at].meta.get("claims") else "facts"
    return f'<div class="wide"><table class="{kind}">\n'


def _tables(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    begin = 0
    for at, token in enumerate(tokens):
        if token.type == "table_open":
            begin = at
        if token.type == "table_close":
            yield tokens[begin : at + 1]


def _mark_statuses(table: Sequence[Token]) -> None:
    """The last column, if it is headed `status`."""
    rows: list[list[Token]] = []
    for token in table:
        if token.type == "tr_open":
            rows.append([])
        if token.type == "inline":
            rows[-1].append(token)
    if not rows[0] or rows[0][-1].content != "status":
        return
    table[0].meta["claims"] = True
    for row in rows[1:]:
        row[-1].children = [_raw(status(row[-1].content))]
