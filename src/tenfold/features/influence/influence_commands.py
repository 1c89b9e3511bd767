"""The command `tenfold influence`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tenfold.cli.app import (
    Checkpoint,
    Figures,
    Json,
    ProblemSeed,
    RunName,
    app,
    as_text,
    print_json,
    print_page,
)
from tenfold.core.errors import TenfoldError


@app.command
def influence(
    run: RunName,
    /,
    *,
    length: Annotated[int, Parameter(help="Digits of the problems.")],
    n: Annotated[
        int | None,
        Parameter(
            help="How many problems; default: 50, or with --lists 30 for each pair of columns."
        ),
    ] = None,
    slice: Annotated[
        str | None,
        Parameter(
            help="The kind of problems, such as cascades; default: uniform ones of that length."
        ),
    ] = None,
    lists: Annotated[
        bool,
        Parameter(
            negative=(), help="List the relative columns that matter to each digit of a sum."
        ),
    ] = False,
    digits: Annotated[
        int | None,
        Parameter(
            help="Also show what changes if only the last so many digits of the numbers count."
        ),
    ] = None,
    out: Annotated[
        Path | None, Parameter(help="The folder to write the page to; default: the run's own.")
    ] = None,
    figures: Figures = None,
    seed: ProblemSeed = 0,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Which digits of the answer move when one digit of the question is changed; the truth beside the model.

    Writes a page with the figure, influence.html (or lists.html), and its numbers as JSON.

    `tenfold influence runs/my-run --length 6`, `tenfold influence runs/my-run --length 10 --lists`
    """
    from tenfold.features.influence import influence_figures as report
    from tenfold.features.influence.influence_page import write_influence, write_lists
    from tenfold.features.influence.run_influence import influence as intervene
    from tenfold.features.influence.run_influence import lists as find_lists
    from tenfold.features.influence.run_influence import truncated
    from tenfold.runs.run import open_run
    from tenfold.runs.terminal import Watch

    opened = open_run(run)
    count = (30 if lists else 50) if n is None else n
    settings = {"digits": length, "problems": count, "seed of the problems": seed, "slice": slice}
    shown: tuple[dict[str, Any], list[str]]
    if lists:
        for flag, given in (("slice", slice), ("digits", digits)):
            if given is not None:
                raise TenfoldError(f"--lists makes its own problems; leave --{flag} out")
        with Watch([opened.recipe.name], [0]) as watch:
            progress = watch.counting("changing digits")
            columns = find_lists(
                opened, length, count, which=checkpoint, seed=seed, progress=progress
            )
        shown = report.lists_as_json(columns), report.list_lines(columns)
        written, drawn = write_lists(
            opened, columns, length, settings, out=out, figures=figures, which=checkpoint
        )
    else:
        with Watch([opened.recipe.name], [0]) as watch:
            progress = watch.counting("changing digits")
            matrix = intervene(
                opened, length, count, slice, which=checkpoint, seed=seed, progress=progress
            )
        others = {}
        if digits is not None:
            others[f"last {digits}"] = truncated(opened, length, digits, count, slice, seed=seed)
        shown = report.as_json(matrix, others), report.influence_lines(matrix, others)
        written, drawn = write_influence(
            opened, matrix, length, settings, others, out=out, figures=figures, which=checkpoint
        )
    if json_:
        return print_json({**shown[0], **as_text(written), "figures": drawn})
    print(*shown[1], sep="\n")
    return print_page(written, drawn)
