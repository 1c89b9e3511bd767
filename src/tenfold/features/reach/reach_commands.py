"""Commands about reach: `tenfold theory trf`, `compare` and `advise`; `tenfold erf` measures a trained model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Checkpoint, Json, RunName, app, print_json, theory
from tenfold.core.errors import TenfoldError

What = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        help="An encoding, a formula of the bias by distance n such as '-log(1+(k*n)**2)', or a file of numbers.",
    ),
]
Heads = Annotated[int, Parameter(help="Heads of an encoding; formulas and tables have their own.")]
Params = Annotated[
    list[str] | None,
    Parameter(
        name="--param",
        help="A parameter of a formula, an option or a learned number of an encoding: k=0.25; one value a head: k=1,0.5",
        negative=(),
    ),
]
Weights = Annotated[
    bool, Parameter(negative=(), help="A file holds weights, not biases (their logarithms).")
]

FIGURE = "reach.png"


@theory.command
def trf(
    what: What,
    /,
    *,
    heads: Heads = 8,
    eps: Annotated[
        str,
        Parameter(
            help="Shares of the attention weight that the reach leaves out: 0.05, or 0.05,0.01."
        ),
    ] = "0.05",
    within: Annotated[int | None, Parameter(help="Count only the nearest so many tokens.")] = None,
    layers: Annotated[
        int | None, Parameter(help="Also show the reach of this many layers.")
    ] = None,
    param: Params = None,
    weights: Weights = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Show whether an encoding's series converges, why, and its theoretical receptive field, for each head.

    `tenfold theory trf alibi --eps 0.05`, `tenfold theory trf "-log(1+(k*n)**2)" --param k=0.25`
    """
    from tenfold.features.reach.reach_text import trf_as_json, trf_lines
    from tenfold.features.reach.series_by_name import given

    about = given(what, heads, _parameters(param), weights=weights)
    result = trf_as_json(about, _shares(eps), within, layers)
    if json_:
        return print_json(result)
    print(*trf_lines(result), sep="\n")
    return None


@theory.command
def compare(
    *what: What,
    heads: Heads = 8,
    eps: Annotated[
        float, Parameter(help="The share of the attention weight that the reach leaves out.")
    ] = 0.05,
    within: Annotated[int, Parameter(help="Also show the reach within this many tokens.")] = 2048,
    param: Params = None,
    weights: Weights = False,
    plot: Annotated[
        list[str] | None,
        Parameter(
            consume_multiple=True,
            negative=(),
            help=f"Draw the weights into this file; if none is named, into {FIGURE}.",
        ),
    ] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Compare several encodings, formulas or tables; a parameter goes to each that has it.

    `tenfold theory compare alibi kerple-log type-1 --plot`
    """
    from tenfold.features.reach.reach_text import compared, compared_lines, draw_compared
    from tenfold.features.reach.series_by_name import several

    file, *names = plot or [FIGURE]  # what follows the file is compared too
    series = several([*what, *names], heads, _parameters(param), weights=weights)
    _check_eps(eps)
    result = compared(series, eps, within)
    drawn = draw_compared(series, within, Path(file)) if plot is not None else ()
    if json_:
        files = [str(path) for path in drawn]
        return print_json({"eps": eps, "within": within, "encodings": result, "figures": files})
    print(*compared_lines(result, eps, within), *drawn, sep="\n")
    return None


@app.command
def erf(
    run: RunName,
    /,
    *,
    length: Annotated[
        int | None,
        Parameter(
            help="The length of the problems (digits) or texts (tokens); default: as in training."
        ),
    ] = None,
    n: Annotated[int, Parameter(help="How many texts or problems to measure on.")] = 16,
    eps: Annotated[
        float, Parameter(help="The share of the attention weight that the reach leaves out.")
    ] = 0.05,
    seed: Annotated[int, Parameter(help="The seed that the texts or problems are drawn with.")] = 0,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Measure how far a trained model looks, by attention and by gradient, for each layer and head, next to theory.

    `tenfold erf runs/my-run`, `tenfold erf runs/my-run --length 512 --n 4`
    """
    from tenfold.features.reach.run_reach import measured
    from tenfold.features.reach.run_reach_text import erf_as_json, erf_lines
    from tenfold.runs.run import open_run
    from tenfold.runs.terminal import Watch

    opened = open_run(run)
    with Watch([opened.recipe.name], [0]) as watch:
        progress = watch.counting("measuring attention")
        found = measured(opened, length, n, eps, which=checkpoint, seed=seed, progress=progress)
    result = erf_as_json(found)
    if json_:
        return print_json(result)
    print(*erf_lines(result), sep="\n")
    return None


@theory.command(name="erf", show=False)
def moved_erf(*words: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> None:
    """Name the command that replaced `tenfold theory erf`."""
    raise TenfoldError(
        f"`theory erf` measures a trained model, and is now called: {shlex.join(['tenfold', 'erf', *(words or ['RUN'])])}"
    )


@theory.command
def advise(
    *what: What,
    train: Annotated[int, Parameter(help="The length in training, in tokens.")],
    serve: Annotated[int, Parameter(help="The length in use, in tokens.")],
    heads: Heads = 8,
    eps: Annotated[
        str, Parameter(help="Shares of the attention weight that the reach leaves out.")
    ] = "0.5,0.05,0.01",
    param: Params = None,
    weights: Weights = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Say what to expect of each encoding when it is trained at one length and used at another, and why.

    `tenfold theory advise --train 2048 --serve 16384`
    """
    from tenfold.features.reach.advice import advise as find
    from tenfold.features.reach.advice_text import advice_as_json, advice_lines
    from tenfold.features.reach.series_by_name import several

    shares = _shares(eps)
    series = several(what, heads, _parameters(param), weights=weights) if what else None
    result = find(train, serve, series, heads, shares)
    if json_:
        return print_json({"train": train, "serve": serve, **advice_as_json(result, shares)})
    print(*advice_lines(result, shares), sep="\n")
    return None


def _shares(text: str) -> list[float]:
    """
    >>> _shares("0.05,0.01")
    [0.05, 0.01]
    """
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise TenfoldError(
            f'eps is "{text}"; a share such as 0.05, or several: 0.05,0.01'
        ) from None
    for eps in values:
        _check_eps(eps)
    return values


def _check_eps(eps: float) -> None:
    if not 0 < eps < 1:
        raise TenfoldError(f"a share eps of {eps}; above 0 and below 1")


def _parameters(given: list[str] | None) -> dict[str, list[str]]:
    """
    >>> _parameters(["k=0.25", "p=1,2"])
    {'k': ['0.25'], 'p': ['1', '2']}
    """
    parameters: dict[str, list[str]] = {}
    for each in given or []:
        name, equals, values = each.partition("=")
        if not (equals and name.strip().isidentifier() and values.strip()):
            raise TenfoldError(f'--param "{each}"; a name and its value are right: k=0.25')
        if name.strip() in parameters:
            raise TenfoldError(f"the parameter {name.strip()} is given twice")
        parameters[name.strip()] = [value.strip() for value in values.split(",")]
    return parameters
