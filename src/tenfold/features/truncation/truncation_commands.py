"""The commands `tenfold theory predict`, `tenfold truncation` and `tenfold explained`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import (
    Checkpoint,
    Json,
    ProblemSeed,
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
    task: Annotated[
        str,
        Parameter(
            help="The task: addition, full-multiplication, modular-addition or modular-multiplication."
        ),
    ],
    digits: Annotated[int, Parameter(help="How many digits the numbers in training have.")],
    lengths: Annotated[str, Parameter(help="Lengths of the numbers: 1-9, or 5,100,1000000.")],
    modulus: Annotated[
        int | None, Parameter(help="The modulus, which the modular tasks need.")
    ] = None,
    base: Annotated[int, Parameter(help="The base that the numbers are written in.")] = 10,
    slice: Slice = "full",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """The accuracy by length of what absolute positions teach: the function of the last so many digits. Exact, and why.

    `tenfold theory predict --task modular-addition --modulus 51 --digits 4 --lengths 1-9`
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
        str | None, Parameter(help="Lengths to measure at, such as 1-6; default: the recipe's own.")
    ] = None,
    digits: Annotated[
        int | None, Parameter(help="How many last digits are kept; default: the training length.")
    ] = None,
    n: Annotated[
        int | None, Parameter(help="Problems at each length; default: the recipe's.")
    ] = None,
    slice: Slice = "uniform",
    seed: ProblemSeed = 0,
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
    length: Annotated[
        int | None, Parameter(help="Digits of the numbers; default: the training length.")
    ] = None,
    n: Annotated[int, Parameter(help="How many problems.")] = 10_000,
    seed: ProblemSeed = 0,
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
