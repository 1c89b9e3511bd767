"""The command `tenfold maps`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import (
    Checkpoint,
    Figures,
    Json,
    RunName,
    app,
    as_text,
    print_json,
    print_page,
)


@app.command
def maps(
    run: RunName,
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="The folder to write the page to; default: the run's own.")
    ] = None,
    figures: Figures = None,
    strongest: Annotated[int, Parameter(help="How many offsets of each layer are printed.")] = 5,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """What the positional encodings of a run learned: for each layer, the offsets with the longest vectors.

    Writes a page with the figures, maps.html, and its numbers, maps.json.

    `tenfold maps runs/my-run`, `tenfold maps runs/my-run --out pages --figures figures`
    """
    from tenfold.features.maps.map_page import write_maps
    from tenfold.features.maps.map_section import as_json, map_lines
    from tenfold.features.maps.positional_maps import measures
    from tenfold.features.maps.run_maps import maps as look
    from tenfold.runs.run import open_run

    opened = open_run(run)
    layers = look(opened, checkpoint)
    written, drawn = write_maps(opened, layers, out, figures, checkpoint)
    if json_:
        return print_json({**as_json(layers), **as_text(written), "figures": drawn})
    print(*map_lines(layers, strongest), sep="\n")
    for name, value in measures(layers).items():
        print(f"{name}: {value:.4g}")
    return print_page(written, drawn)
