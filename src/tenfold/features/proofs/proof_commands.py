"""Commands about proof: certify a run, take out the machine that it is, leave it for others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Checkpoint, Json, RunName, app, print_json, print_written
from tenfold.core.errors import TenfoldError

Limit = Annotated[int | None, Parameter(help="Contexts at the most; default 10,000,000.")]


@app.command
def certify(
    run: RunName,
    /,
    *,
    check: Annotated[
        Path | None, Parameter(help="A certificate: is it right about this run, found again?")
    ] = None,
    limit: Limit = None,
    rounding: Annotated[
        bool | None, Parameter(help="Bound rounding; by default up to a million contexts.")
    ] = None,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Prove a run's model right at every length, or show the shortest inputs on which it fails.

    Exit 0: proved. Exit 1: refuted, or the certificate is not right. Exit 2: not certifiable, with the reason.
    The certificate is left in the run's folder.

    `tenfold certify runs/my-run`, `tenfold certify addition`

    `tenfold certify --check certificate.json runs/my-run`
    """
    from tenfold.features.proofs.certify import certify as prove
    from tenfold.features.proofs.certify import keep, prover_of, read_certificate
    from tenfold.features.proofs.context_search import TooMany
    from tenfold.features.proofs.proof_text import print_certificate
    from tenfold.models.locality import NotCertifiable
    from tenfold.runs.shipped import open_run
    from tenfold.runs.terminal import Watch

    opened, held = open_run(run), None if check is None else read_certificate(check)
    if held is not None and held["about"].get("checkpoint") == "final":
        checkpoint = "final"
    with Watch([opened.recipe.name], [0]) as watch:
        try:
            prover = prover_of(opened, which=checkpoint, limit=_limit(limit))
            watch.say(
                f"{len(prover.contexts):,} contexts, about {prover.seconds(opened.model(checkpoint)):.0f} s"
            )
            tell = watch.counting("certifying")
            found = prove(opened, which=checkpoint, prover=prover, rounding=rounding, tell=tell)
        except (NotCertifiable, TooMany) as reason:
            if json_:
                print_json({"proved": False, "verdict": "not certifiable", "reason": str(reason)})
            raise
    wrong = [] if held is None else found.differences(held)
    if held is None and not opened.published:
        keep(opened, found)
    if json_:
        print_json({**found.as_json(), **({} if held is None else {"differences": wrong})})
    else:
        print_certificate(found)
        for difference in wrong:
            print(f"the certificate is not right: {difference}")
        if held is not None and not wrong:
            print(f"{check} says the same")
    if wrong or not found.proved:
        raise SystemExit(1)


@app.command
def extract(
    run: RunName,
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="The folder for machine.dot and machine.svg.")
    ] = None,
    limit: Limit = None,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """The smallest finite machine that a local model is, drawn; whether it is its task's own.

    `tenfold extract runs/my-run`, `tenfold extract addition --out machine`
    """
    from tenfold.features.proofs.machine_files import as_json, write_machine
    from tenfold.features.proofs.proof_text import print_machine
    from tenfold.features.proofs.run_machine import extract_machine
    from tenfold.runs.shipped import open_run
    from tenfold.runs.terminal import Watch

    opened = open_run(run)
    with Watch([opened.recipe.name], [0]) as watch:
        tell = watch.counting("asking the model")
        found = extract_machine(opened, which=checkpoint, limit=_limit(limit), tell=tell)
    folder = out or (Path("machine") if opened.published else opened.folder)
    task = opened.built.batcher.task
    written = write_machine(found, task, folder)
    if json_:
        return print_json({**as_json(found), **{name: str(path) for name, path in written.items()}})
    print_machine(found, task)
    return print_written(written, as_json=False)


@app.command
def export(
    run: RunName,
    /,
    *,
    out: Annotated[Path, Parameter(help="The folder to leave it in.")],
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Leave a run's weights (safetensors), recipe and certificate in a folder that every command takes for a run.

    `tenfold export runs/my-run --out my-model`
    """
    from tenfold.features.proofs.certify import export_certified
    from tenfold.runs.shipped import open_run

    written = export_certified(open_run(run), out, which=checkpoint)
    if "certificate" not in written:
        print("without a certificate: the model is not certifiable", file=sys.stderr)
    print_written(written, json_)


def _limit(given: int | None) -> int:
    from tenfold.features.proofs.context_search import LIMIT

    if given is not None and given < 1:
        raise TenfoldError(f"--limit is {given}; at least 1 context")
    return LIMIT if given is None else given
