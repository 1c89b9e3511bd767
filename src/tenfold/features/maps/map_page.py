"""The page of `tenfold maps`: what the positional encodings of a run learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tenfold.drawing.feature_page import (
    FeaturePage,
    captioned,
    cells,
    figure_folder,
    files_of,
    page_folder,
    write_data,
    write_page,
)
from tenfold.features.maps.map_figures import MOST, alike, draw_maps
from tenfold.features.maps.map_section import as_json
from tenfold.features.maps.positional_maps import Layer, measures
from tenfold.features.maps.run_maps import PROBLEMS
from tenfold.runs.run import Run, Which

QUESTION = "Which pairs of positions do the encodings of this model tell apart, and how strongly?"
VECTORS = (
    "One panel for each layer and table. A row is an offset (the query's position minus the key's), a position or a digit; "
    "a column is one element of its vector, or one head. Orange is positive, blue is negative, white is zero. Empty rows "
    "occur in no training problem. The dashed lines enclose offset 0. An arrow at the right points at the offset of "
    "the next lower digit of the same number, where a carry comes from."
)
LENGTHS = (
    "One panel for each layer, and one row for each table, such as the pairs of one role that asks another. A column is "
    "an offset (the query's position minus the key's), or an entry without offset. The colour is the length of the "
    "vector: yellow is long, dark is short. Empty cells occur in no training problem. The dashed lines enclose offset 0."
)


def write_maps(
    run: Run,
    layers: Sequence[Layer],
    out: Path | None = None,
    figures: Path | None = None,
    which: Which = "best",
) -> tuple[dict[str, Path], list[str]]:
    """Write `maps.html` and `maps.json`; return their paths, and those of figures in the folder `figures`."""
    folder = page_folder(run, out, "maps")
    with figure_folder(figures) as place:
        drawn = draw_maps(layers, place, run.recipe.name)
    page = FeaturePage(
        title=f"Positional maps of {run.recipe.name}",
        question=QUESTION,
        answer=answer(layers),
        parts=[*map(captioned, drawn, map(_caption, alike(layers))), _strongest(layers)],
    )
    settings = {"problems": f"{PROBLEMS}, drawn as in training"}
    written = {
        "page": write_page(page, folder / "maps.html", run, which, settings),
        "data": write_data(folder / "maps.json", as_json(layers)),
    }
    return written, files_of(drawn, figures)


def answer(layers: Sequence[Layer]) -> list[str]:
    """What the maps show, in sentences."""
    sentences, known = [], measures(layers)
    tables = [table for layer in layers if (table := layer.columns_back()) is not None]
    if known:
        led = round(known["layers-led-by-previous"] * len(tables))
        where = f"In {led} of {len(tables)} layers the" if len(tables) > 1 else "The"
        no = " not" if (led, len(tables)) == (0, 1) else ""
        sentences += [
            f"{where} longest vector is{no} that of the column just below, where a carry comes from.",
            f"The squared lengths of a layer have an entropy of {known['dispersion']:.2f} nats over offsets. It would be "
            f"0 if a single offset had a vector, and {math.log(max(map(len, tables))):.2f} if all were equally long.",
        ]
    for layer in layers:
        if layer.nothing:
            sentences.append(f"{layer.name.capitalize()}: {layer.nothing}.")
    shown = [(layer, each) for layer in layers for each in layer.maps]
    if shown and not known:
        layer, each = max(shown, key=lambda pair: float(pair[1].occurring.strengths.max()))
        (name, size), what = each.strongest(1)[0], _what(each.across)
        sentences.append(
            f"The {what} is {size:.3g}, in {layer.name}, {each.title}, row {name} ({each.along})."
        )
    return sentences


def _caption(some: Sequence[Layer]) -> str:
    return LENGTHS if len(some[0].maps) > MOST else VECTORS


def _what(across: str) -> str:
    return "longest vector" if across == "element" else "highest bias of a head"


def _strongest(layers: Sequence[Layer], count: int = 5) -> str:
    """The strongest rows of every table."""
    rows = [
        (
            layer.name,
            each.title + (", fixed" if each.fixed else ""),
            each.along,
            _what(each.across),
            ", ".join(f"{name} ({size:.3g})" for name, size in each.strongest(count)),
        )
        for layer in layers
        for each in layer.maps
    ]
    head = ("layer", "table", "rows", "what is compared", "first the strongest")
    return f"<h2>The strongest rows</h2>{cells(head, rows)}" if rows else ""
