"""A page of all encodings: profile over distances 0..256, receptive field, requirements, and source file of each."""

from __future__ import annotations

import inspect
import math
import os
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import torch
import yaml
from rich.console import Console
from rich.progress import track

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.drawing.figures import curves_by_head
from tenfold.drawing.html import document
from tenfold.encodings import ENCODINGS, SIZES, PositionalEncoding
from tenfold.features.reach.distance_profile import profile
from tenfold.features.reach.receptive_field import Reach, reach
from tenfold.features.reach.stated_series import stated_series
from tenfold.runs.listing import about

FURTHEST = 256
HEADS, HEAD_SIZE = 8, 64
EPS = 0.05
WITHIN = 2048
WAYS = {  # how places enter the model, by the encoding's method
    "embed": "added to the input",
    "rotate": "queries and keys turned",
    "scores": "vectors on the keys",
    "bias": "a bias on the logits",
    "state": "a bias from the layer's input",
    "visible": "a mask",
    "normalise": "in place of the softmax",
    "values": "vectors on the values",
}


@dataclass(frozen=True)
class Card:
    """The information that the page shows about one encoding."""

    name: str
    about: str
    formula: str  # the first line of its docstring
    known_as: list[str]
    options: dict[str, Any]  # options used on the page, where they differ from the defaults
    enters: list[str]
    axes: list[str]
    layouts: list[str]
    limit: int | None
    parameters: int  # learned parameters in one layer of 8 heads of size 64
    shift_invariant: list[str]
    exports: bool
    series: str  # whether its sum converges
    why: str
    field: str  # over heads
    field_within: str
    file: str

    @property
    def picture(self) -> str:
        return f"{self.name}.png"


def write_gallery(out: Path) -> dict[str, Path]:
    """Write the page, a figure for each encoding, and the table in Markdown. Returns their paths."""
    cards = []
    quiet = not sys.stderr.isatty()
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in track(
            ENCODINGS.names(), "drawing", console=Console(stderr=True), disable=quiet
        ):
            pe, options = shown(name)
            cards.append(card(name, pe, options, out))
            logits = profile(pe, heads=HEADS, head_size=HEAD_SIZE, furthest=FURTHEST)
            curves_by_head(logits, out / cards[-1].picture)
        written = {"page": out / "gallery.html", "table": out / "encodings.md"}
        written["page"].write_text(_page(cards))
        written["table"].write_text(as_markdown(cards))
    except OSError as error:
        raise TenfoldError(f"cannot write to {out}: {error.strerror or error}") from None
    return written


def shown(name: str) -> tuple[PositionalEncoding, dict[str, Any]]:
    """The encoding with default options if these reach far enough, otherwise with options that do."""
    kind: Any = ENCODINGS[name]
    tries: list[dict[str, Any]] = [{}, kind.examples(FURTHEST + 1)[0]]
    for options in tries:
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                make = ENCODINGS.factory(Spec(name=name, options=options), SIZES)
                pe = make(width=HEADS * HEAD_SIZE, heads=HEADS, head_size=HEAD_SIZE)
        except TenfoldError:  # it requires options
            continue
        if pe.limit is None or pe.limit > FURTHEST:
            return pe, options
    raise TenfoldError(f'the examples of encoding "{name}" have no room for {FURTHEST + 1} places')


def card(name: str, pe: PositionalEncoding, options: dict[str, Any], out: Path) -> Card:
    kind = type(pe)
    series = stated_series(pe)
    verdict, why, field, within = "none stated", "", "", ""
    if series is not None:
        verdict, why = _verdict(series.converges), series.decay.why
        field, within = _over_heads(reach(series, EPS)), _over_heads(reach(series, EPS, WITHIN))
    return Card(
        name=name,
        about=about(sys.modules[kind.__module__]),
        formula=about(kind),
        known_as=list(pe.known_as),
        options=options,
        enters=[text for way, text in WAYS.items() if way in pe.ways],
        axes=sorted(pe.axes),
        layouts=sorted(pe.layouts),
        limit=pe.limit,
        parameters=sum(p.numel() for p in pe.parameters()),
        shift_invariant=sorted(pe.invariant),
        exports=not pe.not_exported,
        series=verdict,
        why=why,
        field=field,
        field_within=within,
        file=_file(kind, out),
    )


def _verdict(converges: list[bool]) -> str:
    """
    >>> _verdict([True, False])
    'converges in 1 of 2 heads'
    """
    if all(converges):
        return "converges"
    if not any(converges):
        return "diverges"
    return f"converges in {sum(converges)} of {len(converges)} heads"


def _over_heads(fields: list[Reach | None]) -> str:
    """The smallest, the median and the largest field over heads.

    >>> _over_heads([Reach(12, 12), None, Reach(6, 6)])
    '6 / 12 / unbounded'
    """
    ordered = sorted(fields, key=lambda field: math.inf if field is None else field.low)
    text = [str(field) if field else "unbounded" for field in ordered]
    middle = (len(text) - 1) // 2
    return text[0] if len(set(text)) == 1 else f"{text[0]} / {text[middle]} / {text[-1]}"


def _file(kind: type, out: Path) -> str:
    """The path of the source file, relative to the page."""
    return Path(os.path.relpath(inspect.getfile(kind), out)).as_posix()


def _page(cards: list[Card]) -> str:
    rows = "".join(
        f'<tr><td><a href="#{escape(c.name)}">{escape(c.name)}</a></td>'
        f"<td>{escape(', '.join(c.enters) or 'nothing')}</td><td>{escape(c.series)}</td>"
        f"<td>{escape(c.field)}</td><td>{escape(c.field_within)}</td></tr>"
        for c in cards
    )
    parts = [
        "<h1>Positional encodings</h1>",
        f'<p class="soft">{len(cards)} encodings, shown with {HEADS} heads of {HEAD_SIZE}. The '
        f"receptive field is how many of the nearest keys hold {1 - EPS:.0%} of the weight that the "
        "encoding alone gives, over all distances and within "
        f"{WITHIN:,} tokens behind the query: least / middle / greatest over heads. A picture shows "
        f"the logit of a key 0 to {FURTHEST} places behind a query at place {FURTHEST}, less that of "
        "the query itself, or the weight where keys are hidden; a line a head. All tokens are the "
        "same vector; for what is added at the input, position meets position. What is learned is "
        "shown as it starts.</p>",
        '<div class="wide"><table class="facts"><tr><th>name</th><th>enters as</th><th>its series</th>'
        f"<th>receptive field</th><th>within {WITHIN:,}</th></tr>{rows}</table></div>",
        *map(_section, cards),
    ]
    return document("Positional encodings", "\n".join(parts))


def _section(card: Card) -> str:
    facts = {
        "in the papers": ", ".join(card.known_as),
        "enters as": ", ".join(card.enters) or "nothing",
        "reads the axes": ", ".join(card.axes) or "none",
        "unchanged if moved along": ", ".join(card.shift_invariant),
        "layouts": ", ".join(card.layouts),
        "greatest place or difference": "no limit" if card.limit is None else f"{card.limit - 1:,}",
        "learned": f"{card.parameters:,} parameters a layer" if card.parameters else "nothing",
        "torch.export": "yes" if card.exports else "no",
        "its series": card.why or card.series,
        "receptive field": card.field,
        f"within {WITHIN:,} tokens": card.field_within,
        "shown with": yaml.safe_dump(card.options, default_flow_style=True, width=1000).strip()
        if card.options
        else "",
    }
    rows = "".join(
        f"<tr><td>{escape(what)}</td><td>{escape(text)}</td></tr>"
        for what, text in facts.items()
        if text
    )
    return (
        f'<section id="{escape(card.name)}"><h2>{escape(card.name)}</h2>'
        f"<p>{escape(card.about)}</p><p>{escape(card.formula)}</p>"
        f'<figure><img src="{escape(card.picture)}" alt="{escape(card.name)} by distance" '
        'loading="lazy"></figure>'
        f'<table class="facts">{rows}</table>'
        f'<p class="soft"><a href="{escape(card.file)}">{escape(Path(card.file).name)}</a></p></section>'
    )


def as_markdown(cards: list[Card]) -> str:
    """A line for each encoding."""
    head = ["name", "in the papers", "enters as", "axes", "layouts", "limit", "series", "reach"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for c in cards:
        cells = [
            f"`{c.name}`", ", ".join(c.known_as), ", ".join(c.enters) or "nothing",
            ", ".join(c.axes), ", ".join(c.layouts), "" if c.limit is None else str(c.limit),
            c.series, c.field,
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
