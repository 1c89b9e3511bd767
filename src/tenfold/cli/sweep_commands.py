"""Many runs at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Json, Scale, app, parse_numbers

On = Annotated[
    str,
    Parameter(
        help="Where the runs are trained: local, or ray (which needs the extra tenfold[ray])."
    ),
]
Workers = Annotated[
    int | None,
    Parameter(
        help="How many runs train at the same time; default: one per core, or what the cluster holds."
    ),
]
Address = Annotated[
    str | None,
    Parameter(
        help="The address of a Ray cluster, such as auto or ray://host:10001; default: a local one."
    ),
]
Seeds = Annotated[
    str | None,
    Parameter(help="Seeds to train with, such as 0-4 or 0,3,7; default: the grid's own."),
]


@app.command
def sweep(
    grid: Annotated[Path, Parameter(help="A YAML or Python file that gives recipes.")],
    /,
    *,
    scale: Scale = None,
    seeds: Seeds = None,
    on: On = "local",
    workers: Workers = None,
    address: Address = None,
    out: Annotated[
        Path, Parameter(help="The folder to write the runs to, one folder each.")
    ] = Path("runs"),
    fresh: Annotated[
        bool, Parameter(negative=(), help="Remove what is there of each run, and start it over.")
    ] = False,
    track: Annotated[
        str | None,
        Parameter(help="Also write the curves for a tracker: tensorboard (`tenfold ls trackers`)."),
    ] = None,
    log_samples: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Keep every measured question and answer in samples.jsonl of each run.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        Parameter(negative=(), help="List the runs and what they cost; train and write nothing."),
    ] = False,
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
