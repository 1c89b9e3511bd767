"""Commands about proofs: `tenfold certify` and `tenfold extract`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import (
    Checkpoint,
    Figures,
    Json,
    RunName,
    app,
    as_text,
    print_json,
    print_notes,
    print_page,
)

MOST = 10_000_000
Limit = Annotated[int, Parameter(help="The largest number of contexts to check.")]


@app.command
def certify(
    run: RunName,
    /,
    *,
    check: Annotated[
        Path | None, Parameter(help="A certificate to compare with a new proof of this run.")
    ] = None,
    independent: Annotated[
        bool,
        Parameter(
            help="Check the certificate of an exported model by a program that shares no code with tenfold.",
            negative="",
        ),
    ] = False,
    limit: Limit = MOST,
    rounding: Annotated[
        bool | None,
        Parameter(help="Bound float32 rounding; by default for up to a million contexts."),
    ] = None,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Prove a run's model right at every length, or show the shortest inputs on which it fails.

    Exit 0: proved. Exit 1: refuted, not proved, or the given certificate is not right. Exit 2: not certifiable, with the
    reason. Exit 3: proved if the declarations of components that the prover does not know hold.
    The certificate is written into the run's folder.

    `tenfold certify runs/my-run`, `tenfold certify addition`

    `tenfold certify --check certificate.json runs/my-run`

    `tenfold certify addition --independent`: exit 0 if the certificate is accepted and is a proof, 1 if something differs
    or it is none, 2 if the independent checker does not read this kind of model
    """
    if independent:
        return _independent(run, given=check is not None or json_)
    from tenfold.features.proofs.certify import certify_or_check
    from tenfold.features.proofs.contexts import TooMany
    from tenfold.models.locality import NotCertifiable
    from tenfold.runs.run import open_run
    from tenfold.runs.terminal import Watch

    opened = open_run(run)
    with Watch([opened.recipe.name], [0]) as watch:
        try:
            checked = certify_or_check(
                opened,
                check,
                which=checkpoint,
                limit=limit,
                rounding=rounding,
                message=watch.print,
                progress=watch.counting("certifying"),
            )
        except (NotCertifiable, TooMany) as reason:
            if json_:
                print_json({"proved": False, "verdict": "not certifiable", "reason": str(reason)})
            raise
    if json_:
        print_json(checked.as_json())
    else:
        print(checked.certificate.summary())
        for difference in checked.differences or ():
            print(f"the certificate is not right: {difference}")
        if checked.differences == []:
            print(f"{check} says the same")
    print_notes("warning", filter(None, [checked.unwritten]))
    if checked.exit_code:
        raise SystemExit(checked.exit_code)
    return None


def _independent(name: str, given: bool) -> None:
    """Run the independent checker on the folder of an exported model."""
    from tenfold.core.errors import TenfoldError
    from tenfold.features.proofs import independent_checker, soft_checker
    from tenfold.features.proofs.certify import other_statement, read_certificate
    from tenfold.runs.run import open_run

    run = open_run(name)
    if given:
        raise TenfoldError(
            "--independent reads the certificate in the folder; leave --check and --json out"
        )
    if not (run.published and (run.folder / "certificate.json").exists()):
        raise TenfoldError(
            f"{run.folder} is not an exported model with a certificate; `tenfold export {name} --out FOLDER` makes one"
        )
    run.weights()  # the files agree with the manifest
    if changed := other_statement(run):
        raise TenfoldError(f"the certificate is about another model than the recipe: {changed}")
    far = read_certificate(run.folder / "certificate.json")["far"]
    checker = independent_checker if far is None else soft_checker
    try:
        code = checker.main(str(run.folder))
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        reason = " ".join(str(error).split())[:160]
        raise TenfoldError(f"{run.folder / 'certificate.json'} is damaged: {reason}") from None
    raise SystemExit(code)


@app.command
def extract(
    run: RunName,
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="The folder to write the page to; default: the run's own.")
    ] = None,
    coq: Annotated[
        list[Path] | None,
        Parameter(
            consume_multiple=(0, 1),
            negative=(),
            help="Also write a Coq file that proves the machine right; if no file is named, machine.v beside the page.",
        ),
    ] = None,
    figures: Figures = None,
    limit: Limit = MOST,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Extract the smallest finite machine that a local model computes, draw it, compare it with the task's own.

    Writes a page with the drawing, machine.html, and the machine itself, machine.json and machine.dot. With --coq, also
    a Coq file with a proof that the machine computes its task for all lists of digits. Where `coqc` is installed, it
    checks the file; exit 1 if it rejects it.

    `tenfold extract runs/my-run`, `tenfold extract addition --out machine`

    `tenfold extract addition --coq addition.v`
    """
    from tenfold.features.proofs.coq_export import COQ, check_coq, write_coq
    from tenfold.features.proofs.machine_files import as_json, describe_machine
    from tenfold.features.proofs.machine_page import write_machine_page
    from tenfold.features.proofs.run_machine import extract_machine
    from tenfold.runs.run import open_run
    from tenfold.runs.terminal import Watch

    opened = open_run(run)
    with Watch([opened.recipe.name], [0]) as watch:
        progress = watch.counting("running the model")
        extracted = extract_machine(opened, which=checkpoint, limit=limit, progress=progress)
    task, checked = opened.built.batcher.task, None
    written, drawn = write_machine_page(opened, extracted, out, figures, checkpoint)
    if coq is not None:
        file = coq[0] if coq else written["page"].with_name(COQ)
        written["coq"] = write_coq(extracted, task, file)
        checked = check_coq(file)
    if json_:
        extra = {} if checked is None else {"coq_accepted": checked.accepted}
        print_json({**as_json(extracted), **as_text(written), **extra, "figures": drawn})
    else:
        print(describe_machine(extracted, task))
        print_page(written, drawn)
        print(*filter(None, [checked]), sep="\n", end="\n" * (checked is not None))
    if checked is not None and checked.accepted is False:
        raise SystemExit(1)
