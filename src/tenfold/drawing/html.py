"""A page in our style, and its parts: tables that scroll in their own box, a legend in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from tenfold.drawing.encoding_style import Style
from tenfold.drawing.palette import ON_PAGE, css
from tenfold.drawing.run_groups import Group

WIDEST, LEAST, LARGEST = (
    52,
    34,
    1.7,
)  # of a figure with panels: rem, rem, and pixels a point of its drawing
STYLE = (
    f"""
{css()}"""
    + """* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 74rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; } h4 { font-size: .9rem; margin: 1rem 0 .25rem; }
p, li, figcaption { max-width: 54rem; }
p.soft, figcaption, small, summary small { color: var(--soft); font-size: .9rem; }
figure { margin: 1rem 0; } figure > svg, figure > div.wide > svg { display: block; width: 100%; max-width: 30rem; height: auto; fill: currentColor; }
figure img { max-width: 100%; border-radius: 6px; background: #fff; }
@media (prefers-color-scheme: dark) { /* white paper becomes dark, colours keep their hue */
  figure img { filter: invert(.914) hue-rotate(180deg); } }
div.many { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 0 1.5rem; }
div.maps { grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); }
div.many figcaption { color: var(--ink); }
div.wide { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; overflow-wrap: break-word; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
table.by th:first-child { position: sticky; left: 0; background: var(--paper); white-space: normal; min-width: 8rem;
  max-width: 16rem; font-weight: 400; vertical-align: top; }
table.by tr.label th { font-weight: 600; border-bottom: 0; padding-top: .8rem; }
td small { display: block; font-size: .75rem; line-height: 1.2; }
code, .digits { font-family: ui-monospace, monospace; }
.wrong { color: var(--bad); font-weight: 700; text-decoration: underline; }
table.worked td { text-align: left; } table.worked th { text-align: left; }
table.facts th, table.facts td { text-align: left; white-space: normal; vertical-align: top; }
table.facts td:first-child { min-width: 6rem; } table.facts td:last-child { min-width: 11rem; }
ul.legend { list-style: none; padding: 0; margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .9rem; }
ul.legend li { display: flex; align-items: baseline; }
ul.legend li.label { flex-basis: 100%; max-width: none; color: var(--soft); }
ul.legend svg { flex: none; width: 2.4rem; height: .8rem; margin-right: .4rem; position: relative; top: .05rem; }
ul.signs { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .8rem; } ul.signs li { display: contents; }
ul.signs svg, ul.signs code { justify-self: center; }
div.left-out { border-left: 4px solid var(--bad); background: var(--panel); padding: .25rem 1rem; font-size: .9rem; }
details { margin: .5rem 0; } details details { margin-left: 1rem; }
pre { overflow-x: auto; font-size: .8rem; overflow-wrap: normal; background: var(--panel); padding: .5rem .75rem; }
"""
)

MARKS = {  # the markers of figures, around the middle of a swatch of 38 x 12
    "o": '<circle cx="19" cy="6" r="3.6"/>',
    "s": '<path d="M15.8 2.8h6.4v6.4h-6.4z"/>',
    "D": '<path d="M19 1.5l4.5 4.5-4.5 4.5-4.5-4.5z"/>',
    "^": '<path d="M19 2l4 7.5h-8z"/>',
    "v": '<path d="M19 10l4-7.5h-8z"/>',
    "P": '<path d="M17.5 2h3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5v-3h2.5z"/>',
    "X": '<path d="M15 4l2-2 2 2 2-2 2 2-2 2 2 2-2 2-2-2-2 2-2-2 2-2z"/>',
    "*": '<path d="M19 .8l1.3 3.6 3.9.1-3.1 2.3 1.1 3.7-3.2-2.2-3.2 2.2 1.1-3.7-3.1-2.3 3.9-.1z"/>',
    "<": '<path d="M15 6l7.5-4v8z"/>',
    ">": '<path d="M23 6l-7.5-4v8z"/>',
    "p": '<path d="M19 1.6l4.2 3-1.6 5h-5.2l-1.6-5z"/>',
    "h": '<path d="M19 1.6l3.8 2.2v4.4l-3.8 2.2-3.8-2.2v-4.4z"/>',
}


def document(title: str, body: str, style: str = "") -> str:
    """A page in our style, with more of its own."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head><body>\n{body}\n</body></html>\n"
    )


def legend(groups: Sequence[Group], styles: Mapping[str, Style]) -> str:
    """Which curve is whose; those of one label beside each other, after its name where there are several."""
    several = len({group.label for group in groups}) > 1
    items, label = [], None
    for group in groups:
        if several and group.label != label:
            label = group.label
            items.append(f'<li class="label">{escape(label)}</li>')
        items.append(f"<li>{_swatch(styles[group.name])}{escape(group.name)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def line_legend(styles: Mapping[str, Style]) -> str:
    """Which line is whose, by name."""
    items = (f"<li>{_swatch(style)}{escape(name)}</li>" for name, style in styles.items())
    return f'<ul class="legend">{"".join(items)}</ul>'


def _swatch(style: Style) -> str:
    color = ON_PAGE[style.color.lower()]
    fill = "var(--paper)" if style.hollow else color
    dashes = " ".join(f"{2 * length:g}" for length in style.dashes) or "none"
    return (
        f'<svg viewBox="0 0 38 12" aria-hidden="true" style="fill: {fill}; stroke: {color}">'
        f'<path d="M0 6h38" stroke-width="2" stroke-dasharray="{dashes}"/>{MARKS[style.marker]}</svg>'
    )


def table(
    rows: Mapping[str, Mapping[int, str]],
    labels: Mapping[str, str] | None = None,
    unit: str = "digits",
) -> str:
    """Cells (HTML) by the name of their row and by length in `unit`; rows under the heading of their label, if given."""
    columns = sorted({length for cells in rows.values() for length in cells})
    head = "".join(f"<th>{length:,}</th>" for length in columns)
    lines, label = [], None
    for name, cells in rows.items():
        if labels and len(set(labels.values())) > 1 and labels[name] != label:
            label = labels[name]
            lines.append(
                f'<tr class="label"><th>{escape(label)}</th><th colspan="{len(columns)}"></th></tr>'
            )
        data = "".join(f"<td>{cells.get(column, '')}</td>" for column in columns)
        lines.append(f"<tr><th>{escape(name)}</th>{data}</tr>")
    return (
        f'<div class="wide"><table class="by"><tr><th>{escape(unit)}</th>{head}</tr>'
        f"{''.join(lines)}</table></div>"
    )


def panels_in_full(svg: str) -> str:
    """A figure with panels side by side, in a box that scrolls; words of a narrow drawing are not enlarged beyond the page's.

    >>> panels_in_full('<svg viewBox="0 0 200 90"></svg>')
    '<div class="wide"><figure><svg style="max-width: min(52rem, 340px); min-width: min(34rem, 340px)" viewBox="0 0 200 90"></svg></figure></div>'
    """
    box = re.search(r'viewBox="\S+ \S+ ([\d.]+)', svg)
    most = f"{LARGEST * float(box[1]):.0f}px" if box else f"{WIDEST}rem"
    style = f"max-width: min({WIDEST}rem, {most}); min-width: min({LEAST}rem, {most})"
    sized = svg.replace("<svg", f'<svg style="{style}"', 1)
    return f'<div class="wide"><figure>{sized}</figure></div>'


def details(title: str, body: str, note: str = "") -> str:
    """A part of a page that is folded until opened; `note` is HTML."""
    small = f" <small>{note}</small>" if note else ""
    return f"<details><summary>{escape(title)}{small}</summary>{body}</details>"
