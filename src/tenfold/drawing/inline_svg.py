"""Drawings within a page: no white slab, colours that follow the page's, names of their own.

A drawing may come from a file that somebody else wrote. It is read as XML and written again from what it contains:
shapes, text and their looks. A script, a handler, a link or anything that would be fetched is an error.
"""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

from tenfold.core.errors import TenfoldError
from tenfold.drawing.palette import ON_PAGE

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
LARGEST, DEEP = 2**26, 100  # characters, levels
SHAPES = frozenset(
    [
        "svg",
        "g",
        "defs",
        "symbol",
        "use",
        "clipPath",
        "mask",
        "marker",
        "pattern",
        "linearGradient",
        "radialGradient",
        "stop",
        "title",
        "desc",
        "style",
        "path",
        "rect",
        "circle",
        "ellipse",
        "line",
        "polyline",
        "polygon",
        "text",
        "tspan",
        "image",
    ]
)
LOOKS = re.compile(  # attributes: of shapes, of text, of gradients
    r"id|class|style|type|transform|d|points|x|y|x1|y1|x2|y2|cx|cy|r|rx|ry|dx|dy|width|height|viewBox|offset|"
    r"preserveAspectRatio|gradient(Units|Transform)|pattern(Units|Transform)|clipPathUnits|marker[A-Za-z]*|"
    r"refX|refY|orient|fill(-[a-z]+)*|stroke(-[a-z]+)*|stop-[a-z]+|opacity|font-[a-z]+|text-[a-z]+|"
    r"clip-(path|rule)|color|role|aria-[a-z]+|version|overflow|display|visibility|dominant-baseline"
)
WITHIN = re.compile(
    r"#[\w.:-]+|data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]*"
)  # what a link may lead to
FETCHED = re.compile(
    r"url\s*\(\s*(?!['\"]?#)|@|\\|expression|javascript|/\*", re.IGNORECASE
)  # in styles


def inline(drawing: str, name: str, title: str) -> str:
    """An SVG file's text, to stand within a page: `name` is its id, `title` what is read aloud.

    >>> inline(
    ...     '<?xml ?><svg width="9pt" viewBox="0 0 9 9"><g id="a" style="fill: #000000"/></svg>',
    ...     "one",
    ...     "The first",
    ... )
    '<svg viewBox="0 0 9 9" id="one" role="img" aria-label="The first"><g id="one-a" style="fill: currentColor"/></svg>'
    >>> inline("<svg><script>alert(1)</script></svg>", "one", "The first")
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: the drawing "The first" has a <script>, which is no part of a drawing
    """
    root = _parsed(drawing, title)
    for key in ("width", "height", "version", "id", "role", "aria-label"):
        root.attrib.pop(key, None)
    text = _written(root, title)
    head, rest = text.split(">", 1)
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'(url\(|href=")#', rf"\1#{name}-", rest)
    for written, shown in ON_PAGE.items():
        rest = re.sub(written, shown, rest, flags=re.IGNORECASE)
    return f'{head} id="{escape(name)}" role="img" aria-label="{escape(title)}">{rest}'


def _parsed(drawing: str, title: str) -> ElementTree.Element:
    """The element `svg` of a file. What stands before it, such as declarations of entities, is left out."""
    start, end = drawing.find("<svg"), drawing.rfind("</svg>")
    if start < 0 or end < start or end > LARGEST:
        raise TenfoldError(f'the drawing "{title}" is no SVG')
    text = drawing[start : end + len("</svg>")]
    if "xmlns:xlink" not in text:
        text = text.replace("<svg", '<svg xmlns:xlink="http://www.w3.org/1999/xlink"', 1)
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise TenfoldError(f'the drawing "{title}" is no SVG: {error}') from None


def _written(element: ElementTree.Element, title: str, level: int = 0) -> str:
    """An element and what it contains as text. Tags, attributes and links that are not known are errors."""
    tag = element.tag.removeprefix(SVG)
    if tag not in SHAPES:
        raise _no_part(title, f"<{tag}>")
    if level > DEEP:
        raise TenfoldError(f'the drawing "{title}" is nested too deep')
    parts = [f"<{tag}"]
    for name, value in element.attrib.items():
        key = "href" if name in (LINK, "href") else name
        if name.startswith("{") and name != LINK:  # xml:space, and what editors leave
            continue
        allowed = WITHIN.fullmatch(value) if key == "href" else LOOKS.fullmatch(key)
        if not allowed or (key != "href" and FETCHED.search(value)):
            raise _no_part(title, f'{key}="{value[:40]}"')
        parts.append(f' {key}="{escape(value)}"')
    if tag == "style" and FETCHED.search(element.text or ""):
        raise _no_part(title, "<style> that fetches something")
    inner = "".join(
        _written(each, title, level + 1) + escape(each.tail or "", quote=False)
        for each in element
        if each.tag != f"{SVG}metadata"
    )
    text = escape(element.text or "", quote=False)
    return "".join(parts) + (f">{text}{inner}</{tag}>" if text or inner else "/>")


def _no_part(title: str, what: str) -> TenfoldError:
    return TenfoldError(f'the drawing "{title}" has a {what}, which is no part of a drawing')
