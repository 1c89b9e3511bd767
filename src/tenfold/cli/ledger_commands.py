"""The ledger of claims, and the experiments behind it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from tenfold.cli.app import Json, app, parse_numbers, print_json
from tenfold.cli.sweep_commands import Address, On, Seeds, Workers
from tenfold.core.errors import Stopped, TenfoldError, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenfold.ledger.experiments import Experiment, Sweep
    from tenfold.ledger.statuses import Entry


@app.command
def claims(
    claim: Annotated[
        str | None, Parameter(help="One of them in full, such as symmetry/fig2-rpe-holds.")
    ] = None,
    /,
    *,
    paper: Annotated[str | None, Parameter(help="Of one paper: bias, extrapolation, ...")] = None,
    status: Annotated[
        str | None,
        Parameter(help="open, reproduced, partly, contradicted or not shown at this scale."),
    ] = None,
    out: Annotated[Path | None, Parameter(help="Write them as a Markdown page.")] = None,
    page: Annotated[
        Path | None, Parameter(help="Fill in a paper's own page: papers/symmetry/README.md.")
    ] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Every claim of the papers: where it stands, what was published, what we have, and the verdict.

    A status follows from a committed rule over committed results; none is written by hand.

    `tenfold claims --paper symmetry`, `tenfold claims symmetry/fig2-rpe-holds`
    """
    from tenfold.ledger.claim_text import print_claim, print_ledger
    from tenfold.ledger.statuses import STATUSES, find, ledger
    from tenfold.results.committed import SHELVES

    if status is not None and status not in STATUSES:
        raise unknown("status", status, STATUSES)
    if claim is not None:
        if paper or status or out or page:
            raise TenfoldError(
                "one claim is told in full; leave --paper, --status, --out and --page out"
            )
        found = find(claim)
        return print_json(found.as_json()) if json_ else print_claim(found)
    if page is not None:
        if status or out or json_:
            raise TenfoldError(
                "a page is filled in by itself; leave --status, --out and --json out"
            )
        _fill_page(page, paper or page.resolve().parent.name, SHELVES)
        return print(page)
    if not any(shelf.is_dir() for shelf in SHELVES):
        print("there are no committed results here, so that every claim is open", file=sys.stderr)
    entries = ledger([paper] if paper else None)
    if status is not None:
        entries = [entry for entry in entries if entry.status == status]
    if out is not None:
        _write_page(out, entries)
    if json_:
        return print_json([entry.as_json() for entry in entries])
    if out is not None:
        return print(out)
    return print_ledger(entries)


@app.command
def reproduce(
    experiment: Annotated[str, Parameter(help="A paper, or one experiment: symmetry/addition.")],
    /,
    *,
    scale: Annotated[
        Literal["smoke", "laptop", "paper"],
        Parameter(help="smoke only tries it out, in runs/tried; it decides no claim."),
    ] = "laptop",
    seeds: Seeds = None,
    on: On = "local",
    workers: Workers = None,
    address: Address = None,
    runs: Annotated[Path, Parameter(help="The folder of the runs.")] = Path("runs"),
    out: Annotated[Path, Parameter(help="The folder of committed results.")] = Path("results"),
    add: Annotated[
        bool,
        Parameter(negative=(), help="Keep committed seeds that are not named, and add these."),
    ] = False,
    only: Annotated[
        str | None,
        Parameter(help="Of its recipes these alone, such as parity-rope; --add keeps the others."),
    ] = None,
    dry_run: Annotated[bool, Parameter(negative=(), help="List the runs and their cost.")] = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Run a paper's experiments and let their results decide its claims. The same command again completes it.

    `tenfold reproduce symmetry/addition --scale smoke`

    `tenfold reproduce symmetry/addition --seeds 3,4 --add`

    `tenfold reproduce symmetry --scale paper --on ray --dry-run`
    """
    from tenfold.ledger import experiments
    from tenfold.sweeps.sweep import plan
    from tenfold.sweeps.sweep_text import print_plan

    wanted = parse_numbers(seeds, "seed", 0) if seeds is not None else None
    chosen = experiments.find(experiment)
    names = only.split(",") if only is not None else []
    if names and not (add or dry_run):
        raise TenfoldError(
            "--only would leave out what is committed of other recipes; name --add too"
        )
    recipes = {each.id: each.recipes(scale, wanted, names) for each in chosen}
    if dry_run:
        once = {recipe.run_name: recipe for some in recipes.values() for recipe in some}
        every = list(once.values())  # several experiments may ask the same run
        if not every:
            return print(f"{experiment} trains nothing; it measures alone")
        return print_plan(plan(every, runs), workers, as_json=json_)
    shelf = runs / "tried" if scale == "smoke" else out
    for each in chosen:
        experiments.check_place(each.folder(shelf, scale), recipes[each.id], add)
    sweep = _sweep(runs, on, workers, address)
    told = [
        _reproduce(each, scale, wanted, shelf, sweep, add=add, only=names, quiet=json_)
        for each in chosen
    ]
    if json_:
        print_json(told)
    if any(each["failed"] for each in told):
        raise SystemExit(1)
    return None


def _sweep(runs: Path, on: str, workers: int | None, address: str | None) -> Sweep:
    """Trains recipes, all or none."""
    from tenfold.ledger.experiments import Incomplete
    from tenfold.runs.recipe import Recipe
    from tenfold.runs.run import Run
    from tenfold.sweeps.sweep import run_sweep
    from tenfold.sweeps.sweep_progress import Board

    def trains(recipes: Sequence[Recipe]) -> list[Run]:
        with Board() as board:
            outcome = run_sweep(
                recipes, runs, on=on, workers=workers, address=address, progress=board
            )
        if outcome.failures:
            raise Incomplete(outcome.failures, len(recipes))
        return outcome.runs

    return trains


def _reproduce(
    experiment: Experiment,
    scale: str,
    seeds: Sequence[int] | None,
    shelf: Path,
    sweep: Sweep,
    add: bool,
    only: Sequence[str],
    quiet: bool,
) -> dict[str, Any]:
    """One experiment: its folder, and what became of each claim; a failure is told, and changes nothing."""
    from tenfold.ledger.reproduce import reproduce
    from tenfold.ledger.statuses import ledger
    from tenfold.results.committed import SHELVES

    places = (shelf, *SHELVES)

    def statuses() -> dict[str, str]:
        entries = ledger([experiment.paper], places)
        return {e.id: e.status for e in entries if experiment.name in e.claim.reads}

    before = statuses()
    told: dict[str, Any] = {
        "experiment": experiment.id,
        "scale": scale,
        "folder": None,
        "failed": None,
    }
    try:
        folder = reproduce(experiment, scale, seeds, shelf, sweep, add, only)
    except Stopped:
        raise
    except TenfoldError as error:
        print(f"failed: {experiment.id}: {error}; nothing was written", file=sys.stderr)
        for line in getattr(error, "lines", ()):
            print(f"    {line}", file=sys.stderr)
        return {**told, "failed": str(error), "claims": []}
    if (page := shelf / "CLAIMS.md").exists():
        _write_page(page, ledger(results=places))
        own = Path("papers", experiment.paper, "README.md")
        if own.is_file():
            _fill_page(own, experiment.paper, places)
    after = statuses()
    changes = [{"id": key, "before": before.get(key, "new"), "after": after[key]} for key in after]
    if not quiet:
        print(f"{experiment.id}: {folder}")
        for change in changes:
            same = change["before"] == change["after"]
            print(
                f"  {change['id']}: "
                + ("still " if same else f"{change['before']} -> ")
                + change["after"]
            )
        if scale == "smoke":
            print("  smoke runs decide nothing: the claims stand as before")
    return {**told, "folder": str(folder), "claims": changes}


def _fill_page(path: Path, paper: str, places: Sequence[Path]) -> None:
    """The paper's own page, its marked parts written anew; one without marks stays as it is."""
    from tenfold.core.files import write_atomically
    from tenfold.ledger.paper_page import fill
    from tenfold.ledger.statuses import ledger

    shelf = next((place for place in places if place.is_dir()), places[0])
    text = fill(path, ledger([paper], places), shelf)
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise TenfoldError(f"cannot write {path}: {error.strerror or error}") from None


def _write_page(path: Path, entries: Sequence[Entry]) -> None:
    from tenfold.core.files import write_atomically
    from tenfold.ledger.claim_text import markdown

    try:
        write_atomically(path, markdown(entries).encode())
    except OSError as error:
        raise TenfoldError(f"cannot write {path}: {error.strerror or error}") from None
