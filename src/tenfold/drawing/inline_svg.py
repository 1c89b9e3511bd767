"""Drawings within a page: no white slab, colours that follow the page's, names of their own."""

from __future__ import annotations

import re
from html import escape

# What a drawing is written with, and what stands for it on a page (`tenfold.drawing.html`).
COLOURS = {
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#555555": "var(--soft)",
    "#b0b0b0": "var(--line)",
    "#f2f2f2": "var(--panel)",
    "#0072b2": "var(--blue)",  # too dark to be read on black
}


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
    for written, shown in COLOURS.items():
        rest = re.sub(written, shown, rest, flags=re.IGNORECASE)
    return f'{head} id="{name}" role="img" aria-label="{escape(title)}">{rest}'


def inline_all(html: str, name: str, title: str) -> str:
    """The same for every drawing in a piece of a page."""
    parts = re.split(r"(<svg.*?</svg>)", html, flags=re.DOTALL)
    return "".join(
        inline(part, f"{name}-{number // 2}", title) if number % 2 else part
        for number, part in enumerate(parts)
    )
