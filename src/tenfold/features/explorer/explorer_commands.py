"""The command `tenfold explore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Checkpoint, Json, app, print_written


@app.command
def explore(
    *runs: Annotated[
        str,
        Parameter(
            help="Runs of one task: folders, beginnings of names in runs/, or proved models."
        ),
    ],
    out: Annotated[Path, Parameter(help="The HTML file to write.")] = Path("explorer.html"),
    open_: Annotated[
        bool, Parameter(name="--open", negative=(), help="Open the page in the browser.")
    ] = False,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Write one offline page that runs models in the browser: type 999+1 and watch every digit.

    Without a run it shows a proved adder, one with absolute positions and a calibrated one, side by side.

    `tenfold explore`, `tenfold explore runs/my-run addition --out page.html --open`
    """
    from tenfold.features.explorer.explore import explore as write_page

    print_written({"page": write_page(*runs, out=out, which=checkpoint, show=open_)}, json_)
