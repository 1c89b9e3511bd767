"""Commands that look into a trained model: what its positions learned, what its answers depend on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tenfold.cli.shared import Checkpoint, Json, RunName, app, open_run, print_json
from tenfold.errors import TenfoldError


@app.command
def maps(
    run: RunName,
    /,
    *,
    out: Annotated[Path | None, Parameter(help="Draw them into this folder.")] = None,
    strongest: Annotated[int, Parameter(help="How many offsets of each layer are told.")] = 5,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """What the positional encodings of a run learned: for each layer, the offsets with the longest vectors.

    `tenfold maps runs/my-run --out figures`
    """
    from tenfold.evals.maps import measures
    from tenfold.lab.maps import maps as look
    from tenfold.report.map_figures import draw_maps
    from tenfold.report.maps import as_json, told

    opened = open_run(run)
    found = look(opened, checkpoint)
    drawn = draw_maps(found, out, opened.recipe.name) if out is not None else []
    figures = [str(path) for figure in drawn for path in figure.files]
    if json_:
        return print_json({**as_json(found), "figures": figures})
    print(*told(found, strongest), sep="\n")
    for name, value in measures(found).items():
        print(f"{name}: {value:.4g}")
    print(*figures, sep="\n", end="\n" if figures else "")
    return None


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
    from tenfold.lab.influence import influence as intervene
    from tenfold.lab.influence import lists as find_lists
    from tenfold.lab.influence import truncated
    from tenfold.report import influence as report

    opened = open_run(run)
    title = f"{opened.recipe.name}, {length} digits"
    shown: tuple[dict[str, Any], list[str]]
    if lists:
        for flag, given in (("slice", slice), ("digits", digits)):
            if given is not None:
                raise TenfoldError(f"--lists makes its own problems; leave --{flag} out")
        found = find_lists(opened, length, 30 if n is None else n, which=checkpoint, seed=seed)
        shown = report.lists_as_json(found), report.lists_told(found)
        drawn = report.draw_lists(found, out / "lists", title) if out is not None else None
    else:
        asked = 50 if n is None else n
        matrix = intervene(opened, length, asked, slice, which=checkpoint, seed=seed)
        others = {}
        if digits is not None:
            others[f"last {digits}"] = truncated(opened, length, digits, asked, slice, seed=seed)
        shown = report.as_json(matrix, others), report.told(matrix, others)
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
