"""The look of curves: every encoding has one colour and one marker, in every figure and on every page.

`ASSIGNED` is a table of looks. Encodings of one family share a hue and differ in their marker. An encoding that is not in
the table, such as one of your own, gets a look that follows from its name alone, with a marker that the table does not
use. So a new encoding never changes the look of another.
Curves of one encoding in one figure (other options, another learning rate) differ in their dashes and in the filling of
their markers.

>>> encoding_style("alibi").marker, encoding_style("mine") == encoding_style("mine")
('^', True)
>>> first, second = encoding_styles({"narrow": "rotary", "wide": "rotary"}).values()
>>> first.color == second.color, first.dashes, second.dashes
(True, (), (5, 2))
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tenfold.drawing.palette import HUES, PALETTE

MARKERS, OWN_MARKERS = "osD^vPX*", "<>ph"  # of the table, and of all other encodings
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1, 1.5), (6, 2, 1, 2))

# By the name of a hue: encodings, each with its marker.
ASSIGNED = {
    "vermilion": {
        "rotary": "o", "rotary-linear": "s", "rotary-ntk": "D", "rotary-yarn": "^", "xpos": "v",
        "pope": "P", "grape-m": "X",
    },
    "blue": {"sinusoidal": "s", "fine-sinusoidal": "D", "sandwich": "P"},
    "green": {"alibi": "^", "hard-alibi": "v", "window": "P"},
    "plum": {"pairwise": "D", "scalar": "o", "t5": "s", "type-1": "^", "type-2": "v"},
    "ochre": {"inverse": "v", "inverse-log": "^", "power": "D", "gated-decay": "o", "grape-ap": "s", "path": "P"},
    "teal": {"kerple-log": "o", "kerple-power": "s", "fire": "^", "calibrated": "X", "bam": "D", "dape": "v"},
    "violet": {
        "learned": "o", "cope": "s", "fox": "D", "scalable-softmax": "^", "log-length": "v", "stick-breaking": "P",
        "entmax": "X", "selective": "*",
    },
    "ink": {"none": "X", "compose": "P", "per-head": "*", "per-layer": "o"},
}  # fmt: skip


@dataclass(frozen=True)
class Style:
    """The look of a curve: colour, marker, dashes, and whether its markers are hollow."""

    color: str
    marker: str
    dashes: tuple[float, ...] = ()
    hollow: bool = False

    def line(self) -> dict[str, Any]:
        """The arguments of matplotlib's `plot` that give this look."""
        return {
            "color": self.color,
            "marker": self.marker,
            "dashes": self.dashes or (None, None),
            "markerfacecolor": "white" if self.hollow else self.color,
        }


_KNOWN = {
    name: Style(hue.light, marker)
    for hue in HUES
    for name, marker in ASSIGNED[hue.name].items()
}  # fmt: skip
_OWN = [Style(color, marker) for marker in OWN_MARKERS for color in PALETTE]


def encoding_style(encoding: str) -> Style:
    """The look of an encoding by its registered name; of a name that is not in the table, a look by its hash."""
    if encoding in _KNOWN:
        return _KNOWN[encoding]
    digest = hashlib.blake2b(encoding.encode(), digest_size=8).digest()
    return _OWN[int.from_bytes(digest, "big") % len(_OWN)]


def encoding_styles(encodings: Mapping[str, str]) -> dict[str, Style]:
    """A look for each curve, given the encoding of each; curves of one encoding differ in dashes, then in filling.

    A curve without an encoding ("") has the look of its number.
    """
    styles: dict[str, Style] = {}
    seen: dict[Style, int] = {}
    for number, (name, encoding) in enumerate(encodings.items()):
        look = encoding_style(encoding) if encoding else style(number)
        styles[name] = variant(look, seen.get(look, 0))
        seen[look] = seen.get(look, 0) + 1
    return styles


def variant(look: Style, number: int) -> Style:
    """The same colour and marker for the 1st, 2nd, ... curve that shares them: eight differ, then they repeat."""
    hollow, dashes = divmod(number % (2 * len(DASHES)), len(DASHES))
    return replace(look, dashes=DASHES[dashes], hollow=bool(hollow))


def style(number: int) -> Style:
    """Looks by number, for curves that are not encodings: heads, data sets, seeds."""
    round_, place = divmod(number, len(PALETTE))
    marker = MARKERS[(place + 2 * round_) % len(MARKERS)]
    return Style(PALETTE[place], marker, DASHES[round_ % len(DASHES)])
