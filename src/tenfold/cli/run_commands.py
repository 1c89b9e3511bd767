"""Commands that train a model, measure it and ask it."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from tenfold.cli.app import (
    Checkpoint,
    Json,
    Overrides,
    RunName,
    app,
    parse_lengths,
    print_json,
    print_written,
)
from tenfold.core.errors import TenfoldError


@app.command
def train(
    recipe: Annotated[str, Parameter(help="A recipe's name, or a YAML or Python file.")],
    /,
    *overrides: Overrides,
    scale: Annotated[str | None, Parameter(help="smoke, demo, laptop (default), paper.")] = None,
    seed: int | None = None,
    from_: Annotated[
        str | None,
        Parameter(
            name="--from", help="As --train.from: a finished run whose weights to start from."
        ),
    ] = None,
    out: Annotated[Path | None, Parameter(help="The run's folder; default runs/NAME-HASH.")] = None,
    fresh: Annotated[bool, Parameter(negative=(), help="Start over.")] = False,
    dry_run: Annotated[bool, Parameter(negative=(), help="Print what it would cost.")] = False,
    threads: Annotated[int | None, Parameter(help="As --train.threads.")] = None,
    device: Annotated[str | None, Parameter(help="As --train.device.")] = None,
    track: Annotated[str | None, Parameter(help="Who draws the curves: tensorboard.")] = None,
    log_samples: Annotated[
        bool, Parameter(negative=(), help="Keep every question and answer in samples.jsonl.")
    ] = False,
    calibrated: Annotated[
        Path | None,
        Parameter(help="A file that `tenfold calibrate` wrote: its lines bias attention."),
    ] = None,
    positions: Annotated[
        Literal["keep", "drop"] | None,
        Parameter(help="With --calibrated: the recipe's own encoding; default drop."),
    ] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Train a recipe and measure it beyond its training length. The same command again resumes.

    `tenfold train symmetry/addition-relative --seed 1`

    `tenfold train symmetry/addition-relative --pe alibi --train.steps 500 --dry-run`

    On several processes: `torchrun --nproc-per-node 2 -m tenfold train RECIPE`
    """
    from tenfold.runs.recipe_files import overrides as nested
    from tenfold.runs.recipe_files import recipe as find
    from tenfold.runs.terminal import print_cost, print_trained, train_watched

    if positions is not None and calibrated is None:
        raise TenfoldError(
            f"--positions {positions} is for lines of attention; name a file of them with --calibrated"
        )
    changes = nested(overrides)
    if seed is not None:
        changes["seed"] = seed
    for key, value in (("threads", threads), ("device", device), ("from", from_)):
        if value is not None:
            changes.setdefault("train", {})[key] = value
    chosen = find(recipe, scale, **changes)
    if calibrated is not None:
        from tenfold.features.calibration.calibrate import with_lines
        from tenfold.features.calibration.calibration import Calibration

        chosen = with_lines(chosen, Calibration.read(calibrated), positions or "drop")
    if dry_run:
        return print_cost(chosen, as_json=json_)
    run = train_watched(chosen, out, fresh=fresh, track=track, log_samples=log_samples)
    return print_trained(run, as_json=json_) if run is not None else None


@app.command
def eval(
    run: RunName,
    /,
    *,
    lengths: Annotated[
        str | None, Parameter(help="Such as 5,10,20-40:10; default: the recipe's.")
    ] = None,
    slices: Annotated[
        str | None,
        Parameter(
            help="uniform, full, unequal, cascades, nines, ...; of a text: uniform, sliding, positions; default: the recipe's."
        ),
    ] = None,
    n: Annotated[int | None, Parameter(help="Problems, or tokens of text, a length.")] = None,
    seed: Annotated[int, Parameter(help="Of the problems.")] = 0,
    checkpoint: Checkpoint = "best",
    log_samples: Annotated[
        Path | None,
        Parameter(help="A file for every problem and answer: a line of JSON each, or .parquet."),
    ] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Measure a run at any lengths: exact match and per-digit accuracy, or perplexity, with 95% intervals.

    `tenfold eval runs/my-run --lengths 5,10,20-40:10 --slices uniform,nines`
    """
    from tenfold.results.sample_tables import sample_log
    from tenfold.runs.run import open_run
    from tenfold.runs.terminal import Watch, print_rows

    if n is not None and n < 1:
        raise TenfoldError(f"--n is {n}; at least 1 problem is needed")
    wanted = parse_lengths(lengths) if lengths is not None else None
    parts = slices.split(",") if slices is not None else None
    opened = open_run(run)
    with (
        nullcontext() if log_samples is None else sample_log(log_samples) as log,
        Watch([opened.recipe.name], [0]) as watch,
    ):
        progress = watch.counting(f"measuring the {checkpoint} checkpoint")
        rows = opened.evaluate(
            wanted, parts, n, which=checkpoint, seed=seed, progress=progress, log=log
        )
    if json_:
        known = {
            "run": opened.recipe.run_name,
            "seed": opened.recipe.seed,
            "checkpoint": checkpoint,
        }
        return print_json([{**known, **row.as_json()} for row in rows])
    if not rows:
        raise TenfoldError("nothing to measure: the task has no such problems at these lengths")
    print_rows([row.as_json() for row in rows])
    return None


@app.command
def ask(
    *words: Annotated[
        str,
        Parameter(
            help='A run, and a question such as "123+4095"; or the question alone.',
            allow_leading_hyphen=True,
        ),
    ],
    file: Annotated[
        Path | None,
        Parameter(
            help="A file of questions, one a line, of any length; - is standard input.",
            allow_leading_hyphen=True,
        ),
    ] = None,
    machine: Annotated[
        bool, Parameter(negative=(), help="Look the answer up in the machine that the model is.")
    ] = False,
    tokens: Annotated[
        int | None, Parameter(help="Of a language model: how many to continue for; default 100.")
    ] = None,
    temperature: Annotated[
        float | None, Parameter(help="0, the default: the likeliest token; 1: as the model draws.")
    ] = None,
    seed: Annotated[int | None, Parameter(help="Of what is drawn.")] = None,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Ask a run one problem; wrong digits are marked. Without a run, a proved model answers.

    `tenfold ask runs/my-run "123+4095"`, `tenfold ask "99999999999999999999+1"`

    `tenfold ask addition --file sums.txt` prints an answer a line.

    A language model continues a text: `tenfold ask runs/extrapolation-code-alibi "def f(" --temperature 0.8`
    """
    from tenfold.features.proofs.shipped_answers import ask as answer
    from tenfold.runs.answer import GoingOn, answers_in
    from tenfold.runs.run import open_run
    from tenfold.runs.terminal import print_answer, print_answers

    wanted = 0 if file is not None else 1
    if not wanted <= len(words) <= wanted + 1:
        right = "a question, or a run and a question"
        right = "a run at the most, the questions are in the file" if file else right
        raise TenfoldError(f"{len(words)} words; {right}")
    run = open_run(words[0]) if len(words) > wanted else None
    given = {"tokens": tokens, "temperature": temperature, "seed": seed}
    text: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if text and (run is None or machine):
        raise TenfoldError(f"--{next(iter(text))} is for a run that continues text; name one")
    how = GoingOn(**text) if text else None
    asking = partial(answer, run=run, machine=machine, which=checkpoint, how=how)
    if file is not None:
        return print_answers(answers_in(file, asking), as_json=json_)
    return print_answer(asking(words[-1]), as_json=json_)


@app.command
def demo(
    *,
    out: Annotated[Path, Parameter(help="The folder for the figure and the page.")] = Path("demo"),
    scale: str = "demo",
    fresh: Annotated[bool, Parameter(negative=(), help="Train again.")] = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Train a 5-digit adder until it is proved right at every length, add a million digits, compare rivals.

    `tenfold demo --out demo`
    """
    from tenfold.demo import demo as run_demo

    print_written(run_demo(out, scale, fresh), json_)
