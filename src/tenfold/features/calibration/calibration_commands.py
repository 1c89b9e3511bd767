"""The command `tenfold calibrate`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tenfold.cli.app import Checkpoint, Json, RunName, app, print_json


@app.command
def calibrate(
    run: RunName,
    /,
    *,
    samples: Annotated[int, Parameter(help="Problems whose attention is averaged.")] = 256,
    kappa_self: Annotated[
        float | None,
        Parameter(
            help="Self-attention keeps lines this many sigmas above the mean; 0.87 in the paper."
        ),
    ] = None,
    kappa_cross: Annotated[
        float | None, Parameter(help="The same of cross-attention; 4.5 in the paper.")
    ] = None,
    directions: Annotated[
        str, Parameter(help="Some of diagonal, anti-diagonal, vertical.")
    ] = "diagonal,anti-diagonal,vertical",
    from_: Annotated[
        Literal["last", "each"],
        Parameter(
            name="--from", help="Each layer its own lines, or the last layer's for all (the paper)."
        ),
    ] = "each",
    scores: Annotated[
        Literal["logits", "weights"], Parameter(help="Attention before or after the softmax.")
    ] = "logits",
    soft: Annotated[
        bool, Parameter(negative=(), help="A finite bias off the lines, in place of none seen.")
    ] = False,
    allow_imperfect: Annotated[
        bool, Parameter(negative=(), help="Also a model that is not right on its training lengths.")
    ] = False,
    out: Annotated[
        Path | None, Parameter(help="The file; default calibration.json in the run's folder.")
    ] = None,
    figures: Annotated[Path | None, Parameter(help="Draw every head into this folder.")] = None,
    again: Annotated[
        str | None,
        Parameter(
            help="A run trained again with these lines: with --figures, before and after in one picture."
        ),
    ] = None,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Find the lines along which a model attends; `train --calibrated FILE` trains again with them (ABC).

    `tenfold calibrate runs/my-run --from each --out lines.json --figures figures`
    """
    from tenfold.core.errors import TenfoldError
    from tenfold.features.calibration.attention_figures import before_after
    from tenfold.features.calibration.calibrate import FILE, directions_of
    from tenfold.features.calibration.calibrate import calibrate as find
    from tenfold.features.calibration.calibration_figures import draw_calibration
    from tenfold.features.calibration.calibration_text import as_json, calibration_lines
    from tenfold.runs.run import is_shipped, open_run

    if again is not None and figures is None:
        raise TenfoldError(f"--again {again} is for a picture; name a folder for it with --figures")
    opened, second = open_run(run), None if again is None else open_run(again)
    if out is None and is_shipped(opened):
        raise TenfoldError(f'"{run}" comes with the package; name a file for its lines with --out')
    calibration = find(
        opened, samples, kappa_self=kappa_self, kappa_cross=kappa_cross, directions=directions_of(directions),
        source=from_, scores=scores, soft=soft, allow_imperfect=allow_imperfect, which=checkpoint,
    )  # fmt: skip
    path = out or opened.folder / FILE
    calibration.save(path)
    drawn = draw_calibration(calibration, figures) if figures is not None else []
    if second is not None and figures is not None:
        drawn.append(before_after(opened, second, calibration, figures / "before-after"))
    files = [str(file) for figure in drawn for file in figure.files]
    if json_:
        return print_json({**as_json(calibration), "file": str(path), "figures": files})
    print(*calibration_lines(calibration), f"lines: {path}", *files, sep="\n")
    own = (
        opened.folder / "recipe.yaml"
    )  # as it was trained: its name alone has no scale and no changes
    print(f"then: {shlex.join(['tenfold', 'train', str(own), '--calibrated', str(path)])}")
    return None
