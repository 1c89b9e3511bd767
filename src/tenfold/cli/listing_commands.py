"""Commands that show what there is: reports, listings, a run, this machine."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tenfold.cli.app import Json, RunName, app, print_json, print_notes, print_written
from tenfold.core.errors import TenfoldError, printable, unknown


@app.command
def report(
    *places: Annotated[
        str,
        Parameter(
            help="Runs, folders of runs, committed results, or what `tenfold results --out` wrote; if none, runs/."
        ),
    ],
    paper: Annotated[
        list[str] | None,
        Parameter(negative=(), help="Instead of runs, a paper's page: symmetry; again for more."),
    ] = None,
    with_: Annotated[
        list[str] | None,
        Parameter(
            name="--with",
            negative=(),
            consume_multiple=True,
            help="Runs or folders of runs whose curves a paper's page shows before the committed ones.",
        ),
    ] = None,
    out: Annotated[
        Path, Parameter(help="The folder to write the page to, with its figures and tables.")
    ] = Path("report"),
    title: Annotated[str | None, Parameter(help="The heading of the page.")] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """One self-contained page about finished runs: curves, tables, slices, worked examples, provenance.

    PNG and SVG of every figure, the rows (CSV) and the tables (Markdown) are written beside it.

    `tenfold report`, `tenfold report runs/symmetry-* --out report`, `tenfold report results/symmetry/addition`

    With `--paper`, one self-contained page a paper: its figures and published numbers with ours, every claim's status.

    `tenfold report --paper symmetry`, `tenfold report --paper symmetry --with runs --out report`
    """
    from tenfold.drawing.report_page import write_story
    from tenfold.drawing.run_groups import gather
    from tenfold.ledger.paper_report import write_paper
    from tenfold.runs.run import places_of

    if paper:
        if places or title is not None:
            raise TenfoldError(
                "a paper's page has its own heading, and runs stand on it by --with RUNS; leave others and --title out"
            )
        own = places_of(with_) if with_ else ()
        made = [write_paper(name, out, runs=own) for name in dict.fromkeys(paper)]
        return print_written({name: page for one in made for name, page in one.items()}, json_)
    if with_:
        raise TenfoldError("--with lays runs over a paper's page; name the paper: --paper symmetry")
    story = gather(places_of(places))
    written = write_story(story, out, title)
    print_notes("left out", story.problems)
    return print_written(written, json_)


@app.command
def gallery(
    *,
    out: Annotated[Path, Parameter(help="The folder to write the page and its figures to.")] = Path(
        "gallery"
    ),
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """A page of all positional encodings: what each does to distance, how far it looks, what it needs.

    `tenfold gallery --out gallery`
    """
    from tenfold.features.reach.encoding_gallery import write_gallery

    print_written(write_gallery(out), json_)


# Written out so that help need not import what lists them; a test compares them with `runs.listing`.
KINDS = {
    "encodings": "positional encodings, for --pe",
    "relations": "classes of pairs of positions, for the encoding pairwise",
    "tasks": "problems with true answers, for --task",
    "samplers": "how problems are drawn, for --data.sampler",
    "formats": "how a problem is written as tokens, for --format",
    "schemes": "changes of positions before encoding, for --schemes",
    "corpora": "text for language models, for --task",
    "writings": "how text becomes tokens, for --format",
    "models": "kinds of models, for --model.kind",
    "mixers": "what lets positions exchange information, for --model.mixer",
    "slices": "groups of test problems, for --eval.slices",
    "trackers": "where curves of training are sent, for --track",
    "recipes": "what can be trained: tenfold train NAME",
    "experiments": "what can be reproduced: tenfold reproduce NAME",
    "examples": "files to start from: tenfold train NAME, tenfold sweep NAME",
    "proved": "proved models that come with the package: tenfold ask NAME QUESTION",
    "runs": "what was trained in ./runs: tenfold show NAME",
}
ALIASES = {"pe": "encodings"}  # the key of a recipe


@app.command
def ls(
    kind: Annotated[
        str | None, Parameter(help=f"One of: {', '.join(KINDS)}. If none, all kinds with counts.")
    ] = None,
    name: Annotated[
        str | None,
        Parameter(
            help="One component: what it is, its options. Of recipes, experiments, examples, proved models and runs: "
            "a paper, or a part of the name."
        ),
    ] = None,
    /,
    *,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """List what there is, a line each; or describe one.

    `tenfold ls`, `tenfold ls encodings`, `tenfold ls encodings alibi`

    `tenfold ls recipes symmetry`, `tenfold ls experiments symmetry`, `tenfold ls examples`
    """
    if kind is None:
        return _print_kinds(json_)
    kind = ALIASES.get(kind, kind)
    if kind not in KINDS:
        raise unknown("kind", kind, [*KINDS, *ALIASES])
    from tenfold.runs.listing import REGISTRIES, details, listing

    if name is not None and kind in REGISTRIES:
        component = details(kind, name)
        return (
            print_json(component)
            if json_
            else print(component["about"], *_lines(component), sep="\n")
        )
    lines = listing(kind, name)
    if json_:
        return print_json([{"name": name, "about": about} for name, about in lines])
    _print_columns(lines)
    if not lines:
        print(f"no {kind} yet", file=sys.stderr)
    return None


def _print_kinds(as_json: bool) -> None:
    """Every kind, how many there are of it, and what it is."""
    from tenfold.runs.listing import count

    kinds = [{"kind": kind, "count": count(kind), "about": about} for kind, about in KINDS.items()]
    if as_json:
        return print_json(kinds)
    return _print_columns([(str(k["kind"]), f"{k['count']:>4}  {k['about']}") for k in kinds])


def _print_columns(lines: Sequence[tuple[str, str]]) -> None:
    width = max((len(name) for name, _ in lines), default=0)
    for name, about in lines:
        print(printable(f"{name:{width}}  {about}".rstrip()))


def _lines(component: dict[str, Any]) -> list[str]:
    """The options of a component: `  axis: str = 'index'`."""
    shown = [
        f"  {option['name']}: {option['type']}"
        + (f" = {option['default']!r}" if "default" in option else "")
        for option in component["options"]
    ]
    return ["", "options:", *(shown or ["  none"])]


@app.command
def show(run: RunName, /, *, json_: Annotated[Json, Parameter(name="--json")] = False) -> None:
    """A run's recipe, how far it is, and its results.

    `tenfold show runs/my-run`
    """
    from tenfold.results.collect import checked_result
    from tenfold.runs.run import open_run
    from tenfold.runs.terminal import print_result

    opened = open_run(run)
    state = opened.progress()
    result = checked_result(opened) if opened.finished else None
    if result is None and (state["step"] >= opened.recipe.train.steps or state.get("reason")):
        warnings.warn(
            f"{opened.folder} is trained, but result.json is missing; train it again", stacklevel=1
        )
    if json_:
        recipe = opened.recipe.as_json()
        return print_json({"recipe": recipe, "progress": state, "result": result})
    print(opened.recipe.as_yaml())
    steps = f"{state['step']} of {opened.recipe.train.steps} steps"
    known = "finished" if opened.finished else "not finished"
    print("published: its weights alone" if opened.published else f"{known}: {steps}")
    if opened.finished:
        print_result(opened)
    return None


@app.command
def doctor(*, json_: Annotated[Json, Parameter(name="--json")] = False) -> None:
    """Check this machine: versions, cores, memory, disk, devices, speed.

    `tenfold doctor`
    """
    from tenfold.sweeps.machine_check import checkup

    findings = checkup()
    if json_:
        print_json([vars(finding) for finding in findings])
    else:
        for finding in findings:
            print(f"{'ok ' if finding.ok else 'BAD'}  {finding.what}: {finding.result}")
    if not all(finding.ok for finding in findings):
        raise SystemExit(1)
