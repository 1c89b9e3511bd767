"""The command `tenfold calibrate`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tenfold.cli.app import Checkpoint, Figures, Json, RunName, app, print_json


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
        float | None, Parameter(help="The same for cross-attention; 4.5 in the paper.")
    ] = None,
    kappa_share: Annotated[
        float | None,
        Parameter(
            help="A kappa for any number of lines: this share of the largest that some line could pass; 0.39 in the paper's code."
        ),
    ] = None,
    directions: Annotated[
        str | None,
        Parameter(
            help="Which lines to look for: some of diagonal, anti-diagonal, vertical; of the matrix also "
            "diagonal-2, anti-diagonal-2: two keys a query. Default: the first three."
        ),
    ] = None,
    cross_directions: Annotated[
        str | None, Parameter(help="The same for cross-attention; default: as --directions.")
    ] = None,
    published: Annotated[
        bool,
        Parameter(
            negative=(),
            help="The paper's own form: --lines matrix --best direction --from last --right-only --rows digits "
            "--kappa-self 0.87 --kappa-cross 4.5; each can still be named.",
        ),
    ] = False,
    coded: Annotated[
        bool,
        Parameter(
            negative=(),
            help="The form of the paper's code: as --published, with --scores weights --along sum --directions diagonal "
            "--cross-directions anti-diagonal --kappa-share 0.39 in place of the kappas; each can still be named.",
        ),
    ] = False,
    lines: Annotated[
        Literal["tokens", "matrix"] | None,
        Parameter(
            help="Lines by what tokens are, or of the matrix of indices (the paper); default tokens."
        ),
    ] = None,
    best: Annotated[
        Literal["head", "direction"] | None,
        Parameter(
            help="A line's bias is relative to the best of its head, or of its direction (the paper); default head."
        ),
    ] = None,
    right_only: Annotated[
        bool | None,
        Parameter(
            help="Average over problems that are answered right (the paper); default: over all."
        ),
    ] = None,
    rows: Annotated[
        Literal["all", "digits"] | None,
        Parameter(
            help="Average over all answer tokens, or over those in whose column some number has a digit (the paper's "
            "code); default all."
        ),
    ] = None,
    along: Annotated[
        Literal["mean", "sum"] | None,
        Parameter(help="Compare means along lines, or sums (the paper's code); default mean."),
    ] = None,
    from_: Annotated[
        Literal["last", "each"] | None,
        Parameter(
            name="--from",
            help="Each layer its own lines, or the last layer's for all (the paper); default each.",
        ),
    ] = None,
    scores: Annotated[
        Literal["logits", "weights"] | None,
        Parameter(help="Attention before or after the softmax; default logits."),
    ] = None,
    soft: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Bias attention off the lines by a finite amount, instead of hiding it.",
        ),
    ] = False,
    allow_imperfect: Annotated[
        bool,
        Parameter(negative=(), help="Accept a model that is not right on its training lengths."),
    ] = False,
    out: Annotated[
        Path | None,
        Parameter(
            help="The file to write the lines to; default: calibration.json in the run's folder."
        ),
    ] = None,
    figures: Figures = None,
    again: Annotated[
        str | None,
        Parameter(help="A run trained again with these lines: before and after in one figure."),
    ] = None,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Find the lines along which a model attends; `train --calibrated FILE` trains again with them (ABC).

    Writes the lines, calibration.json, and a page that shows them beside it, calibration.html.

    `tenfold calibrate runs/my-run --from each --out lines.json`
    """
    from tenfold.core.errors import TenfoldError
    from tenfold.features.calibration.calibrate import AS_CODED, FILE, PUBLISHED, directions_of
    from tenfold.features.calibration.calibrate import calibrate as find
    from tenfold.features.calibration.calibration_page import write_calibration
    from tenfold.features.calibration.calibration_text import as_json, calibration_lines
    from tenfold.runs.run import is_shipped, open_run
    from tenfold.runs.terminal import Watch

    opened, second = open_run(run), None if again is None else open_run(again)
    if out is None and is_shipped(opened):
        raise TenfoldError(f'"{run}" comes with the package; name a file for its lines with --out')
    if out is not None and out.suffix == ".html":
        raise TenfoldError(f"--out {out} is the file of lines; their page, .html, is beside it")
    named = {
        "kappa_self": kappa_self, "kappa_cross": kappa_cross, "source": from_, "lines": lines, "best": best,
        "right_only": right_only, "rows": rows, "along": along, "scores": scores, "kappa_share": kappa_share,
        "directions": directions and directions_of(directions),
        "cross_directions": cross_directions and directions_of(cross_directions),
    }  # fmt: skip
    options = (PUBLISHED if published else {}) | (AS_CODED if coded else {})
    options |= {key: value for key, value in named.items() if value is not None}
    with Watch([opened.recipe.name], [0]) as watch:
        calibration = find(
            opened, samples, soft=soft, allow_imperfect=allow_imperfect, which=checkpoint,
            progress=watch.counting("averaging attention"), **options,
        )  # fmt: skip
    path = out or opened.folder / FILE
    calibration.save(path)
    own = opened.folder / "recipe.yaml"  # as it was trained: its name has no scale and no changes
    kept = ["--positions", "keep"] if published or coded else []  # as the paper does
    command = shlex.join(["tenfold", "train", str(own), "--calibrated", str(path), *kept])
    page, drawn = write_calibration(
        opened, calibration, path, command, figures, second, which=checkpoint
    )
    if json_:
        files = {"file": str(path), "page": str(page), "figures": drawn}
        return print_json({**as_json(calibration), **files})
    print(*calibration_lines(calibration), f"lines: {path}", f"page: {page}", *drawn, sep="\n")
    print(f"then: {command}")
    return None
