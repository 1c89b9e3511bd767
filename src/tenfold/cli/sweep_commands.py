"""Many runs at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Json, app, parse_numbers

On = Annotated[str, Parameter(help="local, or ray (the extra tenfold[ray]).")]
Workers = Annotated[
    int | None, Parameter(help="Runs at a time; default: one a core, or what the cluster holds.")
]
Address = Annotated[
    str | None,
    Parameter(help="Of a Ray cluster, such as auto or ray://host:10001; default: a local one."),
]
Seeds = Annotated[str | None, Parameter(help="Such as 0-4 or 0,3,7; default: the grid's own.")]


@app.command
def sweep(
    grid: Annotated[Path, Parameter(help="A YAML or Python file that gives recipes.")],
    /,
    *,
    scale: Annotated[str | None, Parameter(help="smoke, demo, laptop (default), paper.")] = None,
    seeds: Seeds = None,
    on: On = "local",
    workers: Workers = None,
    address: Address = None,
    out: Annotated[Path, Parameter(help="The folder of the runs.")] = Path("runs"),
    fresh: Annotated[bool, Parameter(negative=(), help="Start every run over.")] = False,
    track: Annotated[
        str | None, Parameter(help="The tracker that draws the curves: tensorboard.")
    ] = None,
    log_samples: Annotated[
        bool, Parameter(negative=(), help="Keep every question and answer of the measurements.")
    ] = False,
    dry_run: Annotated[bool, Parameter(negative=(), help="List the runs and their cost.")] = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Train every recipe of a grid; finished runs are skipped, and the same command again completes it.

    `tenfold sweep examples/encodings.grid.yaml --seeds 0-4`

    `tenfold sweep grid.py --on ray --address auto --dry-run`
    """
    from tenfold.sweeps.grid import grid as read_grid
    from tenfold.sweeps.sweep import plan, pool_of, run_sweep
    from tenfold.sweeps.sweep_progress import Board
    from tenfold.sweeps.sweep_text import print_outcome, print_plan

    recipes = read_grid(grid, scale, parse_numbers(seeds, "seed", 0) if seeds is not None else None)
    pool_of(on, workers, address)  # raises first where one of these is wrong
    if dry_run:
        return print_plan(plan(recipes, out), workers, as_json=json_)
    with Board() as board:
        outcome = run_sweep(
            recipes, out, on=on, workers=workers, address=address, fresh=fresh, track=track,
            log_samples=log_samples, progress=board,
            planning=board.planning,
        )  # fmt: skip
    print_outcome(outcome, out, as_json=json_)
    if outcome.failures:
        raise SystemExit(1)
    return None
