"""The command `tenfold theory ring`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Json, print_json, theory

LARGEST = 5000  # positions, and numbers of a vector: a matrix of them takes 200 MB


@theory.command
def ring(
    *,
    length: Annotated[int, Parameter(help="Positions on the ring.")] = 51,
    window: Annotated[int, Parameter(help="Positions that are filled in training.")] = 10,
    neighbours: Annotated[int, Parameter(help="How many on either side an output needs.")] = 1,
    width: Annotated[int, Parameter(help="Numbers in an input, and in a positional vector.")] = 200,
    alpha: Annotated[float, Parameter(help="The weight of an output's own position.")] = 2.0,
    steps: Annotated[int, Parameter(help="Steps of gradient descent.")] = 4000,
    seed: Annotated[int, Parameter(help="The seed of the first vectors, and of samples.")] = 0,
    simulate: Annotated[
        bool, Parameter(negative=(), help="Train on samples too, beside the expected gradient.")
    ] = False,
    out: Annotated[
        Path | None, Parameter(help="The folder to write the figures to; default: none is drawn.")
    ] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Linear attention on a ring: absolute positions, the same with shifted data, relative positions.

    Trained in a window, tested with every position filled; the `symmetry` paper's section 5.

    `tenfold theory ring`, `tenfold theory ring --neighbours 5 --window 20 --simulate --out figures`
    """
    from tenfold.core.errors import TenfoldError
    from tenfold.features.linear_attention.ring import Ring
    from tenfold.features.linear_attention.ring_figures import outcomes, table, write_figures

    if not 1e-6 <= alpha <= 1e6:
        raise TenfoldError(f"alpha is {alpha:g}; a weight between 1e-6 and 1e6 is needed")
    for flag, given in (("length", length), ("neighbours", neighbours), ("width", width)):
        if given > LARGEST:
            raise TenfoldError(
                f"--{flag} is {given}; {LARGEST} is the most, since matrices of all positions are held in memory"
            )
    task = Ring.tapering(length, alpha, neighbours)
    results = outcomes(task, window, width, seed, steps, simulate=simulate)
    drawn = write_figures(results, out) if out is not None else {}
    if json_:
        models = {name: outcome.as_json() for name, outcome in results.items()}
        figures = {name: str(path) for name, path in drawn.items()}
        return print_json({"zero_loss": task.power, "models": models, "figures": figures})
    print(*table(results), sep="\n")
    print(f"a model that says 0 has loss {task.power:.4g}")
    for path in drawn.values():
        print(path)
    return None
