"""The colours of figures and pages: seven hues and ink, each for a light and for a dark page.

Files (PNG, SVG) are drawn with the light shades on white. Within a page every shade is a CSS variable, so that a drawing
follows the reader's light or dark mode. A line has a contrast of at least 3:1 with its page; text is written in ink, in
the soft ink or in the colour of errors, all of at least 4.5:1. The hues stay apart for every kind of colour vision:
`tests/drawing/test_encoding_style.py` measures both.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hue:
    """One colour of lines: its shade on white and on a dark page."""

    name: str
    light: str
    dark: str


HUES = (
    Hue("vermilion", "#C2410C", "#E48135"),
    Hue("blue", "#0B45A8", "#5470E4"),
    Hue("green", "#0CA387", "#24BF9E"),
    Hue("plum", "#7A1E55", "#B9527C"),
    Hue("ochre", "#C08A00", "#F9C24F"),
    Hue("teal", "#0F7590", "#3A97C5"),
    Hue("violet", "#9468F5", "#CFABF6"),
    Hue("ink", "#000000", "#E8E8E8"),
)
PALETTE = tuple(hue.light for hue in HUES)  # what figures are drawn with
SOFT, GREY, FAINT = "#555555", "#B0B0B0", "#F2F2F2"  # notes, lines behind the others, panels

# The page's own colours: on a light page, on a dark page.
THEME = {
    "ink": ("#1b1b1b", "#e8e8e8"),
    "soft": ("#5c5c5c", "#a8a8a8"),
    "line": ("#d0d0d0", "#4a4a4a"),
    "grey": ("#a8a8a8", "#707070"),  # curves behind the one that is highlighted
    "paper": ("#ffffff", "#161616"),
    "panel": ("#f2f2f2", "#262626"),
    "bad": ("#b3261e", "#ff8a7a"),
    "blue": ("#0b5cad", "#6fa8ff"),  # of links
}
TEXTS = ("ink", "soft", "bad", "blue")  # what text is written in

# What a drawing is written with, in lower case, and what stands for it on a page.
ON_PAGE = {
    "#ffffff": "var(--paper)",
    SOFT.lower(): "var(--soft)",
    GREY.lower(): "var(--grey)",
    FAINT.lower(): "var(--panel)",
    **{hue.light.lower(): f"var(--hue-{hue.name})" for hue in HUES},
    "#000000": "currentColor",
}


def css() -> str:
    """The variables of a page, for its light and its dark mode."""
    light = {name: shades[0] for name, shades in THEME.items()}
    dark = {name: shades[1] for name, shades in THEME.items()}
    light |= {f"hue-{hue.name}": hue.light for hue in HUES}
    dark |= {f"hue-{hue.name}": hue.dark for hue in HUES}
    return (
        f":root {{ color-scheme: light dark; {_variables(light)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(dark)} }} }}\n"
    )


def _variables(shades: dict[str, str]) -> str:
    return " ".join(f"--{name}: {shade};" for name, shade in shades.items())


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG defines it, from 1 to 21.

    >>> round(contrast("#000000", "#ffffff"), 1), round(contrast("#777777", "#ffffff"), 2)
    (21.0, 4.48)
    """
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return sum(v * weight for v, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
