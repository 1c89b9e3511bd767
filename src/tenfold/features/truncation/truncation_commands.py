"""The commands `tenfold theory predict`, `tenfold truncation` and `tenfold explained`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import (
    Checkpoint,
    Json,
    RunName,
    app,
    parse_lengths,
    print_json,
    theory,
)

Slice = Annotated[
    str,
    Parameter(help="full: both numbers of the length; uniform: the longer one, as runs are asked."),
]


@theory.command
def predict(
    *,
    task: Annotated[str, Parameter(help="add, mul, mod-add or mod-mul.")],
    digits: Annotated[int, Parameter(help="Of the numbers in training.")],
    lengths: Annotated[str, Parameter(help="Lengths of the numbers: 1-9, or 5,100,1000000.")],
    modulus: Annotated[int | None, Parameter(help="Of mod-add and mod-mul.")] = None,
    base: Annotated[int, Parameter(help="Of the digits.")] = 10,
    slice: Slice = "full",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """The accuracy by length of what absolute positions teach: the function of the last so many digits. Exact, and why.

    `tenfold theory predict --task mod-add --modulus 51 --digits 4 --lengths 1-9`
    """
    from tenfold.data.tasks.task import check_base
    from tenfold.features.truncation.prediction import operation
    from tenfold.features.truncation.prediction import predict as count
    from tenfold.features.truncation.prediction_text import predicted_lines

    check_base(base)
    requested = parse_lengths(lengths)
    predictions = count(operation(task, modulus), digits, requested, slice=slice, base=base)
    if json_:
        return print_json([each.as_json() for each in predictions])
    print(*predicted_lines(predictions), sep="\n")
    return None


@app.command
def truncation(
    run: RunName,
    /,
    *,
    lengths: Annotated[
        str | None, Parameter(help="Such as 1-6; default: the recipe's own.")
    ] = None,
    digits: Annotated[
        int | None, Parameter(help="That are kept; default: the training length.")
    ] = None,
    n: Annotated[int | None, Parameter(help="Problems a length.")] = None,
    slice: Slice = "uniform",
    seed: Annotated[int, Parameter(help="Of the problems.")] = 0,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """A run against the truth and against the function of its numbers' last digits; what theory predicts beside them.

    `tenfold truncation runs/my-run --lengths 1-6`
    """
    from tenfold.features.truncation.prediction_text import compared_lines, learned_line
    from tenfold.features.truncation.run_truncation import compared, learned
    from tenfold.runs.run import open_run

    opened = open_run(run)
    requested = None if lengths is None else parse_lengths(lengths)
    rows = compared(opened, requested, n, digits=digits, which=checkpoint, seed=seed, slice=slice)
    own = learned(opened, rows, n, which=checkpoint, seed=seed)
    if json_:
        others = [row for row in rows if row != own]
        return print_json([row.as_json() for row in (own, *others)])
    kept = opened.recipe.data.length if digits is None else digits
    print(learned_line(own))
    print(*compared_lines(rows, kept), sep="\n")
    return None


@app.command
def explained(
    run: RunName,
    /,
    *,
    length: Annotated[int | None, Parameter(help="Digits; default: the training length.")] = None,
    n: Annotated[int, Parameter(help="Problems.")] = 10_000,
    seed: Annotated[int, Parameter(help="Of the problems.")] = 0,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """How much of each answer digit its digit sum and the carry below explain: R^2 of a decision tree.

    `tenfold explained runs/my-run` (needs scikit-learn: the extra `analysis`)
    """
    from tenfold.features.truncation.prediction_text import explained_lines
    from tenfold.features.truncation.run_truncation import explained as analyse
    from tenfold.runs.run import open_run

    model, truth = analyse(open_run(run), length, n, which=checkpoint, seed=seed)
    if json_:
        return print_json({"model": model, "truth": truth})
    print(*explained_lines(model, truth), sep="\n")
    return None
