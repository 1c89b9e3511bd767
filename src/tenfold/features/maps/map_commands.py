"""The command `tenfold maps`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Checkpoint, Json, RunName, app, print_json


@app.command
def maps(
    run: RunName,
    /,
    *,
    out: Annotated[Path | None, Parameter(help="Draw them into this folder.")] = None,
    strongest: Annotated[int, Parameter(help="How many offsets of each layer are printed.")] = 5,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """What the positional encodings of a run learned: for each layer, the offsets with the longest vectors.

    `tenfold maps runs/my-run --out figures`
    """
    from tenfold.features.maps.map_figures import draw_maps
    from tenfold.features.maps.map_section import as_json, map_lines
    from tenfold.features.maps.positional_maps import measures
    from tenfold.features.maps.run_maps import maps as look
    from tenfold.runs.run import open_run

    opened = open_run(run)
    layers = look(opened, checkpoint)
    drawn = draw_maps(layers, out, opened.recipe.name) if out is not None else []
    figures = [str(path) for figure in drawn for path in figure.files]
    if json_:
        return print_json({**as_json(layers), "figures": figures})
    print(*map_lines(layers, strongest), sep="\n")
    for name, value in measures(layers).items():
        print(f"{name}: {value:.4g}")
    print(*figures, sep="\n", end="\n" if figures else "")
    return None
