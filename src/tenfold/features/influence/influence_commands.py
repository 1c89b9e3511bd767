"""The command `tenfold influence`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tenfold.cli.app import Checkpoint, Json, RunName, app, print_json
from tenfold.core.errors import TenfoldError


@app.command
def influence(
    run: RunName,
    /,
    *,
    length: Annotated[int, Parameter(help="Digits of the problems.")],
    n: Annotated[
        int | None, Parameter(help="Problems: 50; with --lists, 30 for each pair of columns.")
    ] = None,
    slice: Annotated[
        str | None,
        Parameter(help="Which problems, such as cascades; if none, uniform ones of that length."),
    ] = None,
    lists: Annotated[
        bool,
        Parameter(negative=(), help="The relative columns that matter to each digit of a sum."),
    ] = False,
    digits: Annotated[
        int | None,
        Parameter(help="Beside it, what the last so many digits of the numbers alone would move."),
    ] = None,
    out: Annotated[Path | None, Parameter(help="Draw it into this folder.")] = None,
    seed: Annotated[int, Parameter(help="Of the problems.")] = 0,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Which digits of the answer move when one digit of the question is changed; the truth beside the model.

    `tenfold influence runs/my-run --length 6`, `tenfold influence runs/my-run --length 10 --lists`
    """
    from tenfold.features.influence import influence_figures as report
    from tenfold.features.influence.run_influence import influence as intervene
    from tenfold.features.influence.run_influence import lists as find_lists
    from tenfold.features.influence.run_influence import truncated
    from tenfold.runs.run import open_run

    opened = open_run(run)
    title = f"{opened.recipe.name}, {length} digits"
    shown: tuple[dict[str, Any], list[str]]
    if lists:
        for flag, given in (("slice", slice), ("digits", digits)):
            if given is not None:
                raise TenfoldError(f"--lists makes its own problems; leave --{flag} out")
        columns = find_lists(opened, length, 30 if n is None else n, which=checkpoint, seed=seed)
        shown = report.lists_as_json(columns), report.list_lines(columns)
        drawn = report.draw_lists(columns, out / "lists", title) if out is not None else None
    else:
        count = 50 if n is None else n
        matrix = intervene(opened, length, count, slice, which=checkpoint, seed=seed)
        others = {}
        if digits is not None:
            others[f"last {digits}"] = truncated(opened, length, digits, count, slice, seed=seed)
        shown = report.as_json(matrix, others), report.influence_lines(matrix, others)
        drawn = (
            report.draw_influence(matrix, out / "influence", title, others)
            if out is not None
            else None
        )
    figures = [str(path) for path in drawn.files] if drawn is not None else []
    if json_:
        return print_json({**shown[0], "figures": figures})
    print(*shown[1], *figures, sep="\n")
    return None
