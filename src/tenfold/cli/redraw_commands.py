"""The command that draws committed results again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Json, app, print_json, print_notes


@app.command
def redraw(
    what: Annotated[
        str | None,
        Parameter(help="A paper, or one experiment: symmetry/addition. Default: everything."),
    ] = None,
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(
            help="The folder to write every figure (PNG, SVG), table and page (HTML) to; default: results/ is updated."
        ),
    ] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Draw figures, tables and pages again from committed rows, without training.

    Without --out, the files in results/ that pages show are replaced, and the papers' pages are filled in again.

    `tenfold redraw symmetry/addition`, `tenfold redraw --out drawn`
    """
    from tenfold.ledger.redraw import redraw as draw_again

    done = draw_again(what, out, lambda name: print_notes("drawing", [name]))
    if json_:
        lines = [
            {
                "experiment": each.experiment,
                "scale": each.scale,
                "folder": str(each.folder),
                "written": list(map(str, each.written)),
                "left": list(map(str, each.left)),
            }
            for each in done
        ]
        return print_json(lines)
    for each in done:
        print(f"{each.experiment}: {len(each.written)} files in {each.folder}")
        if each.left:
            names = ", ".join(map(str, each.left))
            print(f"  not drawn from rows, left as they are: {names}")
    return None
