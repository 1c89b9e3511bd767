"""The section about proofs on a report page: a run's certificate, its model's machine, very long problems."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Annotated, Any

import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import first_problem
from tenfold.core.stored_files import read_json_mapping
from tenfold.drawing.feature_page import captioned
from tenfold.drawing.run_groups import Story
from tenfold.features.proofs.certify import (
    CERTIFICATE,
    IF,
    Certificate,
    about,
    certified_checkpoint,
    prove,
)
from tenfold.features.proofs.contexts import TooMany
from tenfold.features.proofs.long_problems import read_long_problems
from tenfold.features.proofs.machine_files import MachineTable, as_json, drawn_machine, read_machine
from tenfold.features.proofs.prover import Prover, weights_hash
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.models.locality import NotCertifiable
from tenfold.runs.run import Run, Which

QUICK, FEW = 60.0, 300_000  # seconds of a page and contexts of a run for repeating proofs
MEANS = {
    "proved": "right at every length, also in float32: the margin exceeds every rounding error",
    "proved in exact arithmetic": "right at every length in exact arithmetic; rounding errors may exceed the margin",
    "right on every context in float64": "no proof: nothing bounds the rounding of float64 below the margin",
    "undecided": "no input failed, but some margin is not positive",
    "refuted": "wrong; the shortest inputs on which it fails are listed below",
}


def section(story: Story, out: Path) -> str:
    """The proofs of all runs of a report that have a certificate in their folders."""
    left = [QUICK]  # seconds for repeating proofs, of the whole page
    return "\n".join(filter(None, (_of_run(run, out, left) for run in story.runs.values())))


def _of_run(run: Run, out: Path, left: list[float]) -> str:
    """The verdict of one run; the files of its machine's drawing are written beside the page."""
    try:
        return proof(run, out, left)
    except TenfoldError as error:
        return _titled(run, _wrong(str(error)))


def proof(run: Run, out: Path, left: list[float] | None = None) -> str:
    """HTML; empty where the run's folder has no certificate.

    A certificate is a file, and a file can say anything. So the proof is repeated where `left`, the seconds for this,
    allows it, and only then the page states the verdict as its own. Otherwise it says that the verdict is unverified.
    """
    if not os.path.lexists(run.folder / CERTIFICATE):
        return ""
    values = read_json_mapping(run.folder, CERTIFICATE, "a certificate")
    stated = StatedProof.of(values, run.folder / CERTIFICATE)
    which = certified_checkpoint(values)
    if stated.weights != weights_hash(run.model(which)):
        return _titled(run, _wrong("its certificate is of other weights than the run has now"))
    again = _repeated(run, which, [QUICK] if left is None else left)
    if again is None:
        return _titled(run, _unverified(stated), *_machine(run, which, out, verified=False))
    if differences := again.differences(values):
        return _titled(
            run, _wrong(f"its certificate is not right: {differences[0]}"), _verdict(again)
        )
    return _titled(
        run, _verdict(again), *_machine(run, which, out, verified=True), *_long_problems(run)
    )


def _repeated(run: Run, which: Which, left: list[float]) -> Certificate | None:
    """The certificate of a new proof; None where it takes more than the seconds that are left, or there is no proof."""
    if left[0] <= 0:
        return None
    model, began = run.model(which), time.monotonic()
    try:
        prover = Prover(model, run.built.batcher, FEW)
        if prover.seconds(model) > left[0]:
            return None
        return replace(prove(prover, model), about=about(run, which))
    except (NotCertifiable, TooMany):
        return None
    finally:
        left[0] -= time.monotonic() - began


def _titled(run: Run, *parts: str) -> str:
    return "\n".join([f"<h2>Proof: {escape(run.recipe.name)}</h2>", *filter(None, parts)])


def _wrong(text: str) -> str:
    return f'<p class="wrong">{escape(text)}</p>'


def _verdict(known: Certificate) -> str:
    """The verdict of a proof that was repeated for this page."""
    bound = "not bounded" if known.bound is None else _number(known.bound)
    doubts = [
        *(f"Refuted: {each}." for each in known.violations),
        *(f"Taken at its word: {each}." for each in known.declared),
    ]
    text = (
        f"<p><b>{escape(known.verdict)}</b>: {MEANS[known.verdict.removesuffix(IF)]}.</p>"
        f"{''.join(f'<p>{escape(each)}</p>' for each in doubts)}"
        f'<p class="soft">Run on all {known.contexts:,} contexts of {_columns(known.columns)} that any '
        f"input can bring, {known.wrong:,} wrong; least margin {_number(known.margin)}, what rounding may "
        f"take from it {bound}. The proof was repeated for this page, in {known.seconds:.1f} s. "
        f"Weights <code>{escape(known.weights[:16])}</code>.</p>"
    )
    return text + (_failures(known.counterexamples) if known.counterexamples else "")


def _unverified(stated: StatedProof) -> str:
    """What a certificate states that was not checked: never in the words of a proof."""
    return (
        f'<p><b>unverified</b>: the certificate in the folder says "{escape(stated.verdict)}". Its hash is that of the '
        f"weights, but the proof was not repeated: a page takes at most {QUICK:g} s for proofs.</p>"
        f'<p class="soft">It states {stated.contexts:,} contexts, {stated.wrong:,} of them wrong. '
        "<code>tenfold certify --check certificate.json RUN</code> repeats the proof.</p>"
    )


def _known(verdict: str) -> str:
    if verdict.removesuffix(IF) not in MEANS:
        raise ValueError(f"no proof has the verdict {verdict!r}")
    return verdict


class StatedProof(pydantic.BaseModel):
    """The part of a stored certificate that a page shows."""

    model_config = pydantic.ConfigDict(strict=True)
    verdict: Annotated[str, pydantic.AfterValidator(_known)]
    weights: Annotated[str, pydantic.Field(pattern="^[0-9a-f]{64}$")]
    contexts: pydantic.NonNegativeInt
    wrong: pydantic.NonNegativeInt
    about: dict[str, Any]

    @classmethod
    def of(cls, values: dict[str, Any], path: Path) -> StatedProof:
        try:
            return cls.model_validate(values)
        except pydantic.ValidationError as error:
            problem = first_problem(error)[:160]
            raise TenfoldError(f"{path} is not a certificate: {problem}") from None


def _number(value: float | None) -> str:
    return "not a number" if value is None else f"{value:.3g}"


def _columns(count: int) -> str:
    return f"{count} column" + "s" * (count != 1)


def _failures(cases: list[dict[str, str]]) -> str:
    rows = "".join(
        f'<tr><td class="digits">{escape(case["question"])}</td>'
        f'<td class="digits wrong">{escape(case["answer"] or "(nothing)")}</td>'
        f'<td class="digits">{escape(case["truth"])}</td></tr>'
        for case in cases
    )
    return (
        '<div class="wide"><table><tr><th>question</th><th>model</th><th>truth</th></tr>'
        f"{rows}</table></div>"
    )


def _machine(run: Run, which: Which, out: Path, verified: bool) -> list[str]:
    """The model's machine, where `extract` left one. A page that repeats the proof extracts it anew."""
    machine = read_machine(run.folder)
    if machine is None:
        return []
    if verified and machine.columns is not None:
        machine = MachineTable.model_validate(as_json(extract_machine(run, which=which)))
    said = "The model computes the same as" if verified else "Unverified: the model is said to compute the same as"  # fmt: skip
    own = "equals" if machine.own else "differs from"
    least = "; no smaller machine does the same" if machine.smallest else ""
    text = (
        f"{said} this machine of {machine.states} states{least}. It {own} the machine of its task."
    )
    drawn = drawn_machine(machine, run.built.batcher.task)
    if drawn is None:
        return [f"<p>{escape(text)} <code>tenfold extract</code> draws it.</p>"]
    title = f"The finite machine of {run.recipe.name}"
    figure = drawn.figure(out / f"machine-{run.recipe.fingerprint}", title)
    return [captioned(figure, text, drawn.legend())]


def _long_problems(run: Run) -> list[str]:
    problems = read_long_problems(run.folder)
    if not problems:
        return []
    rows = "".join(
        f"<tr><td>{escape(each.what)}</td><td>{'all' if each.right else 'NOT all'}</td>"
        f"<td>{each.model_seconds:.2f} s</td><td>{each.machine_seconds:.3f} s</td>"
        f"<td>{'yes' if each.agrees else 'NO'}</td></tr>"
        for each in problems
    )
    return [
        '<p class="soft">Long problems, as they were recorded; they are not repeated for this page.</p>'
        '<div class="wide"><table><tr><th>problem</th><th>digits right</th><th>by the model</th>'
        f"<th>by its machine</th><th>the same</th></tr>{rows}</table></div>"
    ]
