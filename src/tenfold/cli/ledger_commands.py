"""The ledger of claims, and the experiments behind it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from tenfold.cli.app import Json, app, parse_numbers, print_json
from tenfold.cli.sweep_commands import Address, On, Seeds, Workers
from tenfold.core.errors import TenfoldError, unknown

if TYPE_CHECKING:
    from tenfold.ledger.reproduce import Reproduction
    from tenfold.runs.recipe import Recipe


@app.command
def claims(
    claim: Annotated[
        str | None, Parameter(help="One claim in full, such as symmetry/fig2-rpe-holds.")
    ] = None,
    /,
    *,
    paper: Annotated[
        str | None, Parameter(help="The claims of one paper only: bias, extrapolation, ...")
    ] = None,
    status: Annotated[
        str | None,
        Parameter(
            help="Claims of one status only: reproduced, partly, against, contradicted, untested or open."
        ),
    ] = None,
    out: Annotated[Path | None, Parameter(help="The Markdown file to write the claims to.")] = None,
    page: Annotated[
        Path | None, Parameter(help="A paper's own page to fill in: papers/symmetry/README.md.")
    ] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Every claim of the papers: where it stands, what was published, what we have, and the verdict.

    A status follows from a committed rule over committed results; none is written by hand.

    `tenfold claims --paper symmetry`, `tenfold claims symmetry/fig2-rpe-holds`
    """
    from tenfold.ledger.claim_text import print_claim, print_ledger, write_claims
    from tenfold.ledger.paper_page import fill_page
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
        fill_page(page, paper or page.resolve().parent.name, SHELVES)
        return print(page)
    if not any(shelf.is_dir() for shelf in SHELVES):
        print("there are no committed results here, so that every claim is open", file=sys.stderr)
    entries = ledger([paper] if paper else None)
    if status is not None:
        entries = [entry for entry in entries if entry.status == status]
    if out is not None:
        write_claims(out, entries)
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
        Parameter(
            help="The size of the experiment. smoke only tries it out, in runs/tried, and decides no claim."
        ),
    ] = "laptop",
    seeds: Seeds = None,
    on: On = "local",
    workers: Workers = None,
    address: Address = None,
    runs: Annotated[Path, Parameter(help="The folder to train the runs in.")] = Path("runs"),
    out: Annotated[
        Path | None,
        Parameter(
            help="The folder to write results to; default: results, or RUNS/tried at smoke scale."
        ),
    ] = None,
    add: Annotated[
        bool,
        Parameter(negative=(), help="Keep the results of other seeds, and add these."),
    ] = False,
    only: Annotated[
        str | None,
        Parameter(
            help="Train only these of its recipes, such as parity-rope; --add keeps the results of the others."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        Parameter(
            name="--set",
            negative=(),
            help="A changed setting, such as train.lr=0.003 or pe=fire; again for more. The results are written apart, "
            "to RUNS/changed, with figures over the committed curves; they decide no claim.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        Parameter(negative=(), help="List the runs and what they cost; train and write nothing."),
    ] = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Run a paper's experiments and let their results decide its claims. The same command again completes it.

    `tenfold reproduce symmetry/addition --scale smoke`

    `tenfold reproduce symmetry/addition --seeds 3,4 --add`

    `tenfold reproduce symmetry/addition --set pe=fire --set train.lr=0.003`

    `tenfold reproduce symmetry --scale paper --on ray --dry-run`
    """
    from tenfold.ledger.reproduce import recipes_to_train, steps_later
    from tenfold.ledger.reproduce import reproduce as run
    from tenfold.sweeps.sweep import plan
    from tenfold.sweeps.sweep_text import expected_line, print_plan

    numbers = parse_numbers(seeds, "seed", 0) if seeds is not None else None
    names = only.split(",") if only is not None else []
    changes = _settings(set_ or [])
    later = {} if changes else steps_later(experiment, scale, numbers, names)
    if dry_run:
        recipes = recipes_to_train(experiment, scale, numbers, names, changes)
        if not recipes:
            return print(f"{experiment} trains nothing; it measures alone")
        return print_plan(plan(recipes, runs), workers, as_json=json_, later=later)

    def expect(recipes: Sequence[Recipe]) -> None:
        if recipes and scale != "smoke":
            print(expected_line(plan(recipes, runs), workers, later), file=sys.stderr)

    done = run(
        experiment, scale, seeds=numbers, only=names, add=add, changes=changes, out=out, runs=runs, on=on,
        workers=workers, address=address, expect=expect,
        callback=None if json_ else partial(_print_reproduction, changed=bool(changes)),
    )  # fmt: skip
    if json_:
        print_json([each.as_json() for each in done])
    if any(each.failed for each in done):
        raise SystemExit(1)
    return None


def _settings(words: Sequence[str]) -> dict[str, Any]:
    """`["train.lr=0.003", "pe=fire"]` as changes of a recipe."""
    from tenfold.runs.recipe_files import overrides

    for text in words:
        key, equals, _ = text.partition("=")
        if not (key and equals):
            raise TenfoldError(f"--set {text}: KEY=VALUE is wanted, such as train.lr=0.003")
    return overrides(f"--{text}" for text in words)


def _print_reproduction(done: Reproduction, changed: bool) -> None:
    """The results of one experiment, and the status of each of its claims before and after."""
    if done.failed is not None:
        print(f"failed: {done.experiment}: {done.failed}; nothing was written", file=sys.stderr)
        for line in done.log:
            print(f"    {line}", file=sys.stderr)
        return
    print(f"{done.experiment}: {done.folder}")
    for change in done.claims:
        same = change["before"] == change["after"]
        status = f"still {change['after']}" if same else f"{change['before']} -> {change['after']}"
        print(f"  {change['id']}: {status}")
    if changed:
        print(
            "  changed settings decide no claim; results.md has the tables, changed-*.png the curves"
        )
    elif done.scale == "smoke":
        print("  smoke runs decide no claim")
