"""The gallery, through the command line."""

import json
import re
import subprocess
import sys

import pytest

from tenfold.encodings import ENCODINGS
from tenfold.features.reach.encoding_gallery import card, shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gallery")
    asked = [sys.executable, "-m", "tenfold", "gallery", "--out", str(folder), "--json"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert json.loads(told.stdout)["page"] == str(folder / "gallery.html")
    return folder


def test_every_encoding_has_a_picture_a_section_and_a_row(folder):
    page, table = (folder / "gallery.html").read_text(), (folder / "encodings.md").read_text()
    for name in ENCODINGS.names():
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f'<section id="{name}">' in page
        assert f'src="{name}.png"' in page
        assert f"| `{name}` |" in table


def test_links_lead_to_the_files(folder):
    links = re.findall(r'<a href="([^"#]+\.py)"', (folder / "gallery.html").read_text())
    assert len(links) == len(ENCODINGS.names())
    assert all((folder / link).exists() for link in links)


def test_what_is_told(tmp_path):
    told = {name: card(name, *shown(name), tmp_path) for name in ENCODINGS.names()}
    assert told["alibi"].field == "6 / 48 / 767"
    assert told["alibi"].series == "converges"
    assert told["inverse"].series == "diverges"
    assert told["inverse"].field == "unbounded"
    assert told["hard-alibi"].series == "converges in 4 of 8 heads"
    assert told["fire"].series == "none stated"
    assert told["cope"].layouts == told["fox"].layouts == ["causal"]
    assert told["fox"].enters == ["a bias from the layer's input"]
    assert told["scalable-softmax"].enters == ["in place of the softmax"]
    assert told["learned"].limit == 512
    assert told["learned"].enters == ["added to the input"]
    assert told["pairwise"].options == {"relation": {"name": "relative", "reach": 257}}


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    asked = [sys.executable, "-m", "tenfold", "gallery", "--out", str(tmp_path / "file")]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert re.fullmatch(r"error: cannot write to .*\n", told.stderr)
