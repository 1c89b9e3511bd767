"""Every encoding has one colour and one marker; colours can be told apart and read on both kinds of page."""

import itertools
import re

import numpy as np
import pytest
from matplotlib.colors import to_hex

from tenfold.drawing.encoding_style import (
    ASSIGNED,
    DASHES,
    MARKERS,
    OWN_MARKERS,
    encoding_style,
    encoding_styles,
    style,
)
from tenfold.drawing.figures import head_colors
from tenfold.drawing.html import MARKS, STYLE
from tenfold.drawing.palette import HUES, ON_PAGE, PALETTE, TEXTS, THEME, contrast, css
from tenfold.encodings import ENCODINGS

LIGHT, DARK = THEME["paper"]


def test_all_encodings_differ_in_colour_or_marker():
    looks = [encoding_style(name) for name in ENCODINGS.names()]
    assert len({(look.color, look.marker) for look in looks}) == len(looks) >= 30
    assert {name for each in ASSIGNED.values() for name in each} <= set(ENCODINGS.names())


def test_a_look_does_not_depend_on_what_else_is_drawn():
    names = ENCODINGS.names()
    together = encoding_styles({name: name for name in [*names, "mine", "yours"]})
    for name in [*names, "mine"]:
        assert encoding_styles({"alone": name})["alone"] == encoding_style(name) == together[name]


def test_an_own_encoding_has_the_same_look_every_time_and_that_of_no_other():
    known = {encoding_style(name) for each in ASSIGNED.values() for name in each}
    for number in range(50):
        look = encoding_style(f"own-{number}")
        assert look == encoding_style(f"own-{number}")
        assert look not in known
    assert len({encoding_style(f"own-{number}") for number in range(50)}) > 10
    written = {"own-1": ("#7A1E55", "h"), "own-2": ("#0CA387", ">")}  # as in earlier versions
    for name, (color, marker) in written.items():
        assert (encoding_style(name).color, encoding_style(name).marker) == (color, marker)


def test_curves_of_one_encoding_share_colour_and_marker_and_differ_in_their_lines():
    looks = list(encoding_styles({f"{n}": "power" for n in range(2 * len(DASHES))}).values())
    assert {(look.color, look.marker) for look in looks} == {
        (encoding_style("power").color, encoding_style("power").marker)
    }
    assert len(set(looks)) == len(looks)
    assert looks[0] == encoding_style("power")


def test_curves_of_no_encoding_have_looks_by_number():
    assert list(encoding_styles({"a": "", "b": ""}).values()) == [style(0), style(1)]
    looks = [style(number) for number in range(len(PALETTE) * len(DASHES))]
    assert len({(one.color, one.dashes) for one in looks}) == len(looks)


def test_every_marker_can_stand_in_a_legend():
    assert set(MARKS) == set(MARKERS) | set(OWN_MARKERS)
    assert all(color.lower() in ON_PAGE for color in PALETTE)


@pytest.mark.parametrize("hue", HUES, ids=lambda hue: hue.name)
def test_lines_can_be_seen_on_both_pages(hue):
    assert contrast(hue.light, LIGHT) >= 3
    assert contrast(hue.dark, DARK) >= 3


def test_heads_can_be_seen_on_both_pages():
    """A dark page inverts pictures, as its style says, and turns hues, which keeps how light they are."""
    inverted = float(re.search(r"figure img { filter: invert\(([.\d]+)\)", STYLE)[1])
    for color in head_colors(8)[:, :3]:
        assert contrast(to_hex(color), LIGHT) >= 3
        assert contrast(to_hex(inverted - (2 * inverted - 1) * color), DARK) >= 3


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("ground", ["paper", "panel"])
def test_text_can_be_read_on_both_pages(name, ground):
    for mode in (0, 1):
        assert contrast(THEME[name][mode], THEME[ground][mode]) >= 4.5


def test_the_variables_of_a_page_are_those_of_the_palette():
    light, dark = css().split("@media (prefers-color-scheme: dark)")
    for hue in HUES:
        assert f"--hue-{hue.name}: {hue.light};" in light
        assert f"--hue-{hue.name}: {hue.dark};" in dark


# How colours look without one kind of cone: Machado, Oliveira and Fernandes (2009), in linear RGB.
VISIONS = {
    "all cones": np.eye(3),
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "no blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
CONES = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
OKLAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099], [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip
LEAST = 0.07  # the least distance of two colours of Okabe and Ito is 0.076, measured so


def seen(colour, vision):
    """A colour in the space Oklab, where distances are as large as they look."""
    rgb = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return OKLAB @ np.cbrt(CONES @ np.clip(VISIONS[vision] @ linear, 0, 1))


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_hues_stay_apart_for_every_kind_of_colour_vision(vision, mode):
    shades = [getattr(hue, mode) for hue in HUES]
    for one, other in itertools.combinations(shades, 2):
        assert np.linalg.norm(seen(one, vision) - seen(other, vision)) > LEAST, (one, other)
