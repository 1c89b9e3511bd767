"""The page about encodings names all of them."""

import re
from pathlib import Path

import tenfold as library
from tenfold.encodings import ENCODINGS

PAGE = Path(library.__file__).parents[2] / "docs/encodings.md"
COMBINATORS = {"compose", "per-head", "per-layer"}


def test_the_first_table_has_every_encoding_and_nothing_else():
    text = PAGE.read_text()
    table = text.split("| name | in the papers | how it enters |")[1].split("\n\n")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    named = set(re.findall(r"`([^`]+)`", " ".join(first)))
    ours = {name for name in ENCODINGS.names() if ENCODINGS[name].__module__.startswith("tenfold.")}
    assert named == ours
    assert (
        f"tenfold has {len(ours - COMBINATORS)} positional encodings and three combinators" in text
    )
