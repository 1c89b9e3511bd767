"""Positional maps as text, as JSON, and as a section of a report."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.drawing.html import details, panels_in_full
from tenfold.drawing.run_groups import Story
from tenfold.encodings.learned_maps import Map
from tenfold.features.maps.map_figures import draw_maps
from tenfold.features.maps.positional_maps import Layer, measures
from tenfold.features.maps.run_maps import maps


def section(story: Story, out: Path) -> str:
    """The section of a page about one recipe: maps of the first seed whose weights are available."""
    groups, runs = story.groups, story.runs
    fingerprints = [run["fingerprint"] for group in groups for run in group.runs]
    fingerprints = [fingerprint for fingerprint in fingerprints if fingerprint in runs]
    if len(groups) != 1 or not fingerprints:
        return ""
    run = runs[fingerprints[0]]
    head = (
        f'<h2>Positions</h2><p class="soft">What the encoding of every layer learned, seed {run.recipe.seed}; '
        "an offset is query minus key.</p>"
    )
    try:
        layers = maps(run)
    except TenfoldError as error:
        return f'{head}<p class="soft">None: {escape(str(error))}</p>'
    drawn = draw_maps(layers, out, f"{groups[0].name}, seed {run.recipe.seed}")
    figures = "".join(panels_in_full(figure.svg) for figure in drawn)
    lines = escape("\n".join(map_lines(layers)))
    return f"{head}{figures}{details('In words', f'<pre>{lines}</pre>')}"


def map_lines(layers: Sequence[Layer], count: int = 5) -> list[str]:
    """One line per table: the rows with the longest vectors, or the highest bias of a head."""
    lines = []
    for layer in layers:
        lines += [f"{layer.name}: {layer.nothing}"] if layer.nothing else []
        for each in layer.maps:
            best = "   ".join(f"{name} ({size:.3g})" for name, size in each.strongest(count))
            what = "longest" if each.across == "element" else "highest"
            how = ", fixed" if each.fixed else ""
            lines.append(f"{layer.name}, {each.title} by {each.along}{how}; {what}:  {best}")
    back = {step for layer in layers for step in layer.back.values()}
    if len(back) == 1:
        lines.append(f"the next lower digit of the same number is at offset {back.pop()}")
    return lines


def as_json(layers: Sequence[Layer]) -> dict[str, Any]:
    """Lengths of vectors, or biases of every head, by layer and table, with the measures."""
    return {
        "layers": [
            {
                "name": layer.name,
                "encoding": layer.encoding,
                "next_lower_digit": layer.back,
                "maps": [_table(each.occurring) for each in layer.maps],
            }
            for layer in layers
        ],
        "measures": measures(layers),
    }


def _table(table: Map) -> dict[str, Any]:
    values: list[Any] = table.strengths.tolist() if table.across == "element" else table.values.tolist()  # fmt: skip
    return {
        "title": table.title,
        "along": table.along,
        "holds": "lengths of vectors" if table.across == "element" else "a number a head",
        "learned": not table.fixed,
        "rows": dict(zip(table.names, values, strict=True)),
    }
