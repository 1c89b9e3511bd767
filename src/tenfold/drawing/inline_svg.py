"""Drawings within a page: no white slab, colours that follow the page's, names of their own."""

from __future__ import annotations

import re
from html import escape

from tenfold.drawing.palette import ON_PAGE


def inline(drawing: str, name: str, title: str) -> str:
    """An SVG file's text, to stand within a page: `name` is its id, `title` what is read aloud.

    >>> inline(
    ...     '<?xml ?><svg width="9pt" viewBox="0 0 9 9"><g id="a" style="fill: #000000"/></svg>',
    ...     "one",
    ...     "The first",
    ... )
    '<svg viewBox="0 0 9 9" id="one" role="img" aria-label="The first"><g id="one-a" style="fill: currentColor"/></svg>'
    """
    text = drawing[drawing.index("<svg") : drawing.rindex("</svg>") + len("</svg>")]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    head = re.sub(r'\s(width|height|version|id|xmlns(:xlink)?)="[^"]*"', "", head)
    rest = rest.replace("xlink:href=", "href=")  # the namespace is not declared, and need not be
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'(url\(|href=")#', rf"\1#{name}-", rest)
    for written, shown in ON_PAGE.items():
        rest = re.sub(written, shown, rest, flags=re.IGNORECASE)
    return f'{head} id="{name}" role="img" aria-label="{escape(title)}">{rest}'
