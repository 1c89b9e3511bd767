"""Commands that train a model, measure it and ask it."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from tenfold.cli.app import (
    Checkpoint,
    Include,
    Json,
    Overrides,
    ProblemSeed,
    RunName,
    Scale,
    app,
    include_files,
    parse_lengths,
    print_json,
    print_written,
)
from tenfold.core.errors import TenfoldError


@app.command
def train(
    recipe: Annotated[
        str,
        Parameter(help="A recipe: its name in `tenfold ls recipes`, or a YAML or Python file."),
    ],
    /,
    *overrides: Overrides,
    scale: Scale = None,
    seed: Annotated[
        int | None,
        Parameter(
            help="The seed of the weights and of the training data; default: the recipe's, usually 0."
        ),
    ] = None,
    from_: Annotated[
        str | None,
        Parameter(
            name="--from",
            help="A finished run whose weights training starts from; the same as --train.from.",
        ),
    ] = None,
    out: Annotated[
        Path | None, Parameter(help="The folder to write the run to; default: runs/NAME-HASH.")
    ] = None,
    fresh: Annotated[
        bool, Parameter(negative=(), help="Remove what the folder has of this run, and start over.")
    ] = False,
    dry_run: Annotated[
        bool,
        Parameter(
            negative=(), help="Print parameters, memory and expected time; train and write nothing."
        ),
    ] = False,
    force: Annotated[
        bool, Parameter(negative=(), help="Also train what does not seem to fit this machine.")
    ] = False,
    threads: Annotated[
        int | None, Parameter(help="CPU threads to compute with; the same as --train.threads.")
    ] = None,
    device: Annotated[
        str | None, Parameter(help="The torch device, such as cpu; the same as --train.device.")
    ] = None,
    track: Annotated[
        str | None,
        Parameter(help="Also write the curves for a tracker: tensorboard (`tenfold ls trackers`)."),
    ] = None,
    log_samples: Annotated[
        bool,
        Parameter(
            negative=(), help="Keep every measured question and answer in samples.jsonl of the run."
        ),
    ] = False,
    calibrated: Annotated[
        Path | None,
        Parameter(
            help="A file that `tenfold calibrate` wrote; its lines become a bias on attention."
        ),
    ] = None,
    positions: Annotated[
        Literal["keep", "drop"] | None,
        Parameter(help="With --calibrated: keep or drop the recipe's own encoding; default: drop."),
    ] = None,
    include: Include = (),
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Train a recipe and measure it beyond its training length. The same command again resumes.

    `tenfold train symmetry/addition-relative --seed 1`

    `tenfold train symmetry/addition-relative --pe alibi --train.steps 500 --dry-run`

    An encoding of your own: `tenfold train symmetry/addition-relative --pe my.py:LogBias`

    On several processes: `torchrun --nproc-per-node 2 -m tenfold train RECIPE`
    """
    from tenfold.runs.recipe_files import overrides as nested
    from tenfold.runs.recipe_files import recipe as find
    from tenfold.runs.terminal import print_cost, print_trained, train_watched

    if positions is not None and calibrated is None:
        raise TenfoldError(
            f"--positions {positions} is for lines of attention; name a file of them with --calibrated"
        )
    include_files(include)
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
        return print_cost(chosen, force=force, as_json=json_)
    run = train_watched(chosen, out, fresh=fresh, track=track, log_samples=log_samples, force=force)
    return print_trained(run, as_json=json_) if run is not None else None


@app.command
def eval(
    run: RunName,
    /,
    *encodings: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=True,
            help="Another encoding in the place of the run's own, if the weights fit: --pe rotary-yarn --pe.factor 4; "
            "of an encoder-decoder also --encoder-pe and --cross-pe.",
        ),
    ],
    lengths: Annotated[
        str | None,
        Parameter(help="Lengths to measure at, such as 5,10,20-40:10; default: the recipe's."),
    ] = None,
    slices: Annotated[
        str | None,
        Parameter(
            help="Kinds of problems, such as uniform,nines (`tenfold ls slices`); of a text: uniform, sliding, positions. Default: the recipe's."
        ),
    ] = None,
    n: Annotated[
        int | None,
        Parameter(help="Problems, or tokens of text, at each length; default: the recipe's."),
    ] = None,
    cut_at_trf: Annotated[
        float | None,
        Parameter(
            help="Cut the attention of each head at its theoretical receptive field: the nearest tokens that hold all but this share of its weight, such as 0.05."
        ),
    ] = None,
    trf_within: Annotated[
        int | None,
        Parameter(
            help="With --cut-at-trf: the field within this many tokens, which a series that diverges has too."
        ),
    ] = None,
    seed: ProblemSeed = 0,
    checkpoint: Checkpoint = "best",
    log_samples: Annotated[
        Path | None,
        Parameter(help="Also write every problem and answer to this file: .jsonl or .parquet."),
    ] = None,
    force: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Also measure lengths at which one problem takes over 4 GiB of memory.",
        ),
    ] = False,
    include: Include = (),
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Measure a run at any lengths: exact match and per-digit accuracy, or perplexity, with 95% intervals.

    `tenfold eval runs/my-run --lengths 5,10,20-40:10 --slices uniform,nines`

    `tenfold eval runs/my-run --pe rotary-yarn --pe.factor 4`

    `tenfold eval runs/my-run --cut-at-trf 0.05`
    """
    from tenfold.results.sample_tables import sample_log
    from tenfold.runs.other_encoding import encodings_in
    from tenfold.runs.run import open_run
    from tenfold.runs.terminal import Watch, print_rows

    if n is not None and n < 1:
        raise TenfoldError(f"--n is {n}; at least 1 problem is needed")
    include_files(include)
    wanted = parse_lengths(lengths) if lengths is not None else None
    parts = slices.split(",") if slices is not None else None
    others = encodings_in(encodings, ("lengths", "slices", "n", "cut_at_trf", "trf_within", "seed", "checkpoint", "log_samples", "force", "include", "json"))  # fmt: skip
    if trf_within is not None and cut_at_trf is None:
        raise TenfoldError(f"--trf-within {trf_within} goes with --cut-at-trf, such as 0.05")
    if cut_at_trf is not None and others:
        raise TenfoldError(f"--cut-at-trf cuts the run's own encoding; leave --{next(iter(others)).replace('_', '-')} out")  # fmt: skip
    opened = open_run(run)
    if cut_at_trf is not None:
        from tenfold.features.reach.cut_attention import cut_at_reach

        others = cut_at_reach(opened, cut_at_trf, trf_within, which=checkpoint)
    with (
        nullcontext() if log_samples is None else sample_log(log_samples) as log,
        Watch([opened.recipe.name], [0]) as watch,
    ):
        progress = watch.counting(f"measuring the {checkpoint} checkpoint")
        rows = opened.evaluate(
            wanted,
            parts,
            n,
            which=checkpoint,
            seed=seed,
            progress=progress,
            log=log,
            force=force,
            **others,
        )
    if json_:
        known = {
            "run": opened.recipe.run_name,
            "seed": opened.recipe.seed,
            "checkpoint": checkpoint,
        }
        marked = [{**known, **row.as_json(), "evaluated_pe": row.evaluated_pe} for row in rows]
        return print_json(marked)
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
        bool,
        Parameter(
            negative=(),
            help="Answer by the finite machine that `tenfold extract` finds in the model.",
        ),
    ] = False,
    tokens: Annotated[
        int | None,
        Parameter(help="How many tokens a language model continues a text by; default: 100."),
    ] = None,
    temperature: Annotated[
        float | None,
        Parameter(
            help="How a language model chooses a token. 0, the default: the likeliest; 1: by its probabilities."
        ),
    ] = None,
    seed: Annotated[
        int | None, Parameter(help="The seed of the tokens that a language model draws.")
    ] = None,
    checkpoint: Checkpoint = "best",
    include: Include = (),
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

    include_files(include)
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
    out: Annotated[
        Path, Parameter(help="The folder to write the runs, the figure and the page to.")
    ] = Path("demo"),
    scale: Annotated[
        str, Parameter(help="demo (the default), or smoke, which only tries it out.")
    ] = "demo",
    fresh: Annotated[bool, Parameter(negative=(), help="Train again from the start.")] = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Train a 5-digit adder until it is proved right at every length, add a million digits, compare rivals.

    `tenfold demo --out demo`
    """
    from tenfold.demo import demo as run_demo

    print_written(run_demo(out, scale, fresh), json_)
