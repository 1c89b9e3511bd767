"""The command line. Commands import what they need when they run: `tenfold --help` does not wait for torch."""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from tenfold import __version__
from tenfold.errors import TenfoldError, unknown

if TYPE_CHECKING:
    from tenfold.lab.run import Run

app = App(
    name="tenfold",
    version=__version__,
    help="Train short, test long, and know why: length generalization of transformers.",
    help_format="markdown",
)
app.register_install_completion_command(help="Install shell completion (bash, zsh, fish).")

Overrides = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        help="Changes of the recipe by dotted flags: --train.lr 0.003 --pe alibi --model.width 64",
    ),
]
Json = Annotated[bool, Parameter(negative=(), help="Print JSON on standard output.")]
RunName = Annotated[str, Parameter(help="A run's folder, or the beginning of its name in runs/.")]
Checkpoint = Annotated[
    Literal["best", "final"],
    Parameter(help="The checkpoint that was best on validation problems, or the last one."),
]


@app.command
def train(
    recipe: Annotated[str, Parameter(help="A recipe's name, or a YAML or Python file.")],
    /,
    *overrides: Overrides,
    scale: Annotated[str | None, Parameter(help="smoke, demo, laptop (default), paper.")] = None,
    seed: int | None = None,
    out: Annotated[Path | None, Parameter(help="The run's folder; default runs/NAME-HASH.")] = None,
    fresh: Annotated[bool, Parameter(negative=(), help="Start over.")] = False,
    dry_run: Annotated[bool, Parameter(negative=(), help="Print what it would cost.")] = False,
    threads: Annotated[int | None, Parameter(help="As --train.threads.")] = None,
    device: Annotated[str | None, Parameter(help="As --train.device.")] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Train a recipe and measure it beyond its training length. The same command again resumes.

    `tenfold train symmetry/addition-relative --seed 1`

    `tenfold train symmetry/addition-relative --pe alibi --train.steps 500 --dry-run`
    """
    from tenfold.lab.build import build
    from tenfold.lab.recipes import overrides as nested
    from tenfold.lab.recipes import recipe as find
    from tenfold.lab.run import train as run_training
    from tenfold.report.progress import Watch
    from tenfold.report.terminal import print_cost, print_result

    changes = nested(overrides)
    if seed is not None:
        changes["seed"] = seed
    for key, value in (("threads", threads), ("device", device)):
        if value is not None:
            changes.setdefault("train", {})[key] = value
    chosen = find(recipe, scale, **changes)
    if dry_run:
        from tenfold.lab.cost import cost

        told = cost(build(chosen))
        if json_:
            recipe_json = chosen.as_json()
            return _print_json({"recipe": recipe_json, "run": chosen.run_name, **told.as_json()})
        return print_cost(chosen, told)
    with Watch([chosen.name], [chosen.train.steps]) as watch:
        run = run_training(chosen, out, fresh=fresh, tell=lambda line: watch(0, line))
    if json_:
        return _print_json({"folder": str(run.folder), **run.result()})
    print_result(run)
    example = run.examples(chosen.data.length, 1)[0].question
    print(f"\nrun: {run.folder}\ntry: tenfold ask {run.folder} {example}")
    return None


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
        Parameter(help="uniform, full, unequal, cascades, nines; default: the recipe's."),
    ] = None,
    n: Annotated[int | None, Parameter(help="Problems a length and slice.")] = None,
    seed: Annotated[int, Parameter(help="Of the problems.")] = 0,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Measure a run at any lengths: exact match and per-digit accuracy with 95% intervals.

    `tenfold eval runs/my-run --lengths 5,10,20-40:10 --slices uniform,nines`
    """
    from tenfold.report.progress import Watch
    from tenfold.report.terminal import print_rows

    if n is not None and n < 1:
        raise TenfoldError(f"--n is {n}; at least 1 problem is needed")
    wanted = parse_lengths(lengths) if lengths is not None else None
    parts = slices.split(",") if slices is not None else None
    opened = _open(run)
    with Watch([opened.recipe.name], [0]) as watch:

        def tell(done: int, of: int) -> None:
            watch(0, {"measured": done, "of": of, "checkpoint": checkpoint})

        rows = opened.evaluate(wanted, parts, n, which=checkpoint, seed=seed, tell=tell)
    if json_:
        known = {
            "run": opened.recipe.run_name,
            "seed": opened.recipe.seed,
            "checkpoint": checkpoint,
        }
        return _print_json([{**known, **row.as_json()} for row in rows])
    print_rows([row.as_json() for row in rows])
    return None


@app.command
def certify(
    run: RunName,
    /,
    *,
    limit: Annotated[int | None, Parameter(help="Contexts at the most; default 5,000,000.")] = None,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Prove a run's model right at every length, or show the shortest inputs on which it fails.

    Exit 0: proved. Exit 1: refuted. Exit 2: not certifiable, with the reason.

    `tenfold certify runs/my-run`
    """
    from tenfold.certify import LIMIT, NotCertifiable
    from tenfold.report.progress import Watch
    from tenfold.report.terminal import print_certificate

    opened = _open(run)
    limit = LIMIT if limit is None else limit
    if limit < 1:
        raise TenfoldError(f"--limit is {limit}; at least 1 context")
    with Watch([opened.recipe.name], [0]) as watch:

        def tell(done: int, of: int) -> None:
            watch(0, {"measured": done, "of": of, "checkpoint": checkpoint})

        try:
            found = opened.certify(which=checkpoint, limit=limit, tell=tell)
        except NotCertifiable as reason:
            if json_:
                _print_json({"proved": False, "verdict": "not certifiable", "reason": str(reason)})
            raise
    if json_:
        _print_json(found.as_json())
    else:
        print_certificate(found)
    if not found.proved:
        raise SystemExit(1)


@app.command
def ask(
    run: RunName,
    question: Annotated[str, Parameter(help='Such as "123+4095".', allow_leading_hyphen=True)],
    /,
    *,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Ask a run one problem; wrong digits are marked.

    `tenfold ask runs/my-run "123+4095"`
    """
    answer = _open(run).ask(question, which=checkpoint)
    if json_:
        return _print_json({**vars(answer), "right": answer.right})
    from rich.console import Console
    from rich.text import Text

    shown = Text(f"{answer.question} = ")
    if not answer.answer:
        shown.append("(nothing)", style="bold red")
    for character, wrong in zip(answer.answer, answer.wrong_digits(), strict=True):
        shown.append(character, style="bold red underline" if wrong else "")
    console = Console(highlight=False, soft_wrap=True)
    console.print(shown)
    if answer.right:
        console.print("right", style="green")
    else:
        marks = "".join("^" if wrong else " " for wrong in answer.wrong_digits())
        if marks:
            console.print((" " * (len(answer.question) + 3) + marks).rstrip(), style="red")
        console.print(f"wrong: the truth is {answer.truth}")
    return None


@app.command
def report(
    *runs: RunName,
    out: Annotated[Path, Parameter(help="The folder to write to.")] = Path("report"),
    title: str = "Accuracy against length",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """One page about finished runs: curve, tables, worked examples, provenance; PNG, SVG, CSV, Markdown.

    `tenfold report runs/symmetry-* --out report`
    """
    from tenfold.report import write_report

    if not runs:
        raise TenfoldError("no runs were named; `tenfold ls runs` lists what there is")
    _print_written(write_report([_open(run) for run in runs], out, title), json_)


@app.command
def demo(
    *,
    out: Annotated[Path, Parameter(help="The folder for the figure and the page.")] = Path("demo"),
    scale: str = "demo",
    fresh: Annotated[bool, Parameter(negative=(), help="Train again.")] = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Train two 5-digit adders, absolute and relative positions, and draw how far each stays right.

    `tenfold demo --out demo`
    """
    from tenfold.demo import demo as run_demo

    _print_written(run_demo(out, scale, fresh), json_)


@app.command
def gallery(
    *,
    out: Annotated[Path, Parameter(help="Where to write.")] = Path("gallery"),
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """A page of all positional encodings: what each does to distance, how far it looks, what it needs.

    `tenfold gallery --out gallery`
    """
    from tenfold.report.gallery import write_gallery

    _print_written(write_gallery(out), json_)


# The keys of report.listing.LISTINGS, written out so that help does not import torch; a test compares them.
KINDS = (
    "pe", "relations", "tasks", "schemes", "recipes", "runs", "formats", "samplers", "models", "slices",
)  # fmt: skip


@app.command
def ls(
    kind: Annotated[str, Parameter(help=", ".join(KINDS))],
    name: Annotated[str | None, Parameter(help="One of them: what it is, its options.")] = None,
    /,
    *,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """List what there is, a line each; or tell about one.

    `tenfold ls pe`, `tenfold ls pe alibi`
    """
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    from tenfold.report.listing import details, listing

    if name is not None:
        told = details(kind, name)
        return _print_json(told) if json_ else print(told["about"], *_lines(told), sep="\n")
    found = listing(kind)
    if json_:
        return _print_json([{"name": name, "about": about} for name, about in found])
    width = max((len(name) for name, _ in found), default=0)
    for name, about in found:
        print(f"{name:{width}}  {about}".rstrip())
    if not found:
        print(f"no {kind} yet", file=sys.stderr)
    return None


def _lines(told: dict[str, Any]) -> list[str]:
    """The options of a component: `  axis: str = 'index'`."""
    shown = [
        f"  {option['name']}: {option['type']}"
        + (f" = {option['default']!r}" if "default" in option else "")
        for option in told["options"]
    ]
    return ["", "options:", *(shown or ["  none"])]


@app.command
def show(run: RunName, /, *, json_: Annotated[Json, Parameter(name="--json")] = False) -> None:
    """A run's recipe, how far it is, and its results.

    `tenfold show runs/my-run`
    """
    from tenfold.report.terminal import print_result

    opened = _open(run)
    state = opened.progress()
    result = opened.result() if opened.finished else None
    if json_:
        recipe = opened.recipe.as_json()
        return _print_json({"recipe": recipe, "progress": state, "result": result})
    print(opened.recipe.as_yaml())
    steps = f"{state['step']} of {opened.recipe.train.steps} steps"
    print(f"{'finished' if opened.finished else 'not finished'}: {steps}")
    if opened.finished:
        print_result(opened)
    return None


@app.command
def doctor(*, json_: Annotated[Json, Parameter(name="--json")] = False) -> None:
    """Check this machine: versions, cores, memory, disk, devices, speed.

    `tenfold doctor`
    """
    from tenfold.report.checkup import checkup

    findings = checkup()
    if json_:
        _print_json([vars(finding) for finding in findings])
    else:
        for finding in findings:
            print(f"{'ok ' if finding.ok else 'BAD'}  {finding.what}: {finding.found}")
    if not all(finding.ok for finding in findings):
        raise SystemExit(1)


def parse_lengths(text: str) -> list[int]:
    """Lengths and ranges, in order.

    >>> parse_lengths("5,10,20-40:10")
    [5, 10, 20, 30, 40]
    """
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+)(?::(\d+))?)?\s*", part)
        if match is None:
            raise TenfoldError(f'"{part}" is not a length; write 5, or 5-10, or 20-40:10')
        first, last, step = (int(group) if group else None for group in match.groups())
        assert first is not None
        if first < 1 or step == 0 or (last is not None and last < first):
            raise TenfoldError(f'"{part}" is not a range of lengths; the least length is 1')
        found += range(first, (last or first) + 1, step or 1)
    return found


def _open(name: str) -> Run:
    """A run by folder, or by the beginning of its name in runs/."""
    from tenfold.lab.run import Run

    if Path(name).is_dir() or "/" in name:
        return Run.open(name)
    found = sorted(path.parent for path in Path("runs").glob(f"{name}*/recipe.yaml"))
    if len(found) == 1:
        return Run.open(found[0])
    if found:
        raise TenfoldError(
            f'"{name}" is the beginning of {len(found)} runs; name one: {found[0]}, ...'
        )
    raise unknown("run", name, [path.parent.name for path in Path("runs").glob("*/recipe.yaml")])


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1))


def _print_written(written: dict[str, Path], as_json: bool) -> None:
    if as_json:
        return _print_json({what: str(path) for what, path in written.items()})
    for what, path in written.items():
        print(f"{what + ':':8}{path}")
    return None


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


def main() -> None:
    """Run a command; whatever the person can mend is one line on standard error."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            app(sys.argv[1:], exit_on_error=False, print_error=False)
    except TenfoldError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except CycloptsError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
