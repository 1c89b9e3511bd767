"""The section about proofs on a report page: a run's certificate, its model's machine, very long problems."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.drawing.feature_page import captioned
from tenfold.drawing.run_groups import Story
from tenfold.features.proofs.certify import (
    CERTIFICATE,
    IF,
    certified_checkpoint,
    read_certificate,
)
from tenfold.features.proofs.long_problems import LONG_PROBLEMS
from tenfold.features.proofs.machine_files import TABLE, drawn_machine
from tenfold.features.proofs.prover import weights_hash
from tenfold.runs.run import Run

MEANS = {
    "proved": "right at every length, also in float32: the margin exceeds every rounding error",
    "proved in exact arithmetic": "right at every length in exact arithmetic; rounding errors may exceed the margin",
    "right on every context in float64": "no proof: nothing bounds the rounding of float64 below the margin",
    "undecided": "no input failed, but some margin is not positive",
    "refuted": "wrong; the shortest inputs on which it fails are listed below",
}


def section(story: Story, out: Path) -> str:
    """The proofs of all runs of a report that have a certificate in their folders."""
    return "\n".join(filter(None, (_of_run(run, out) for run in story.runs.values())))


def _of_run(run: Run, out: Path) -> str:
    """The verdict of one run; the files of its machine's drawing are written beside the page."""
    try:
        return proof(run, out)
    except TenfoldError as error:
        return f'<h2>Proof: {escape(run.recipe.name)}</h2><p class="wrong">{escape(str(error))}</p>'


def proof(run: Run, out: Path) -> str:
    """HTML; empty where the run's folder has no certificate, or one of other weights."""
    if not (run.folder / CERTIFICATE).exists():
        return ""
    stored = read_certificate(run.folder / CERTIFICATE)
    if stored["weights"] != weights_hash(run.model(certified_checkpoint(stored))):
        return ""
    machine, problems = (_read(run.folder / name) for name in (TABLE, LONG_PROBLEMS))
    parts = [f"<h2>Proof: {escape(run.recipe.name)}</h2>", _verdict(stored)]
    if stored["counterexamples"]:
        parts.append(_failures(stored["counterexamples"]))
    if machine:
        parts.append(_machine(machine, run, out))
    if problems:
        parts.append(_long_problems(problems))
    return "\n".join(parts)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes()) if path.exists() else None
    except ValueError as error:
        raise TenfoldError(f"{path} is damaged: {error}") from None


def _verdict(stored: dict[str, Any]) -> str:
    bound = "not bounded" if stored["bound"] is None else _number(stored["bound"])
    plain = stored["verdict"].removesuffix(IF)
    doubts = [
        *(f"Refuted: {each}." for each in stored["violations"]),
        *(f"Taken at its word: {each}." for each in stored["declared"]),
    ]
    return (
        f"<p><b>{escape(stored['verdict'])}</b>: {MEANS.get(plain, '')}.</p>"
        f"{''.join(f'<p>{escape(each)}</p>' for each in doubts)}"
        f'<p class="soft">Run on all {stored["contexts"]:,} contexts of {_columns(stored["columns"])} that any '
        f"input can bring, {stored['wrong']:,} wrong; least margin {_number(stored['margin'])}, what rounding may "
        f"take from it {bound}; {stored['seconds']:.1f} s. Weights <code>{stored['weights'][:16]}</code>. "
        "<code>tenfold certify --check certificate.json RUN</code> repeats the proof.</p>"
    )


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


def _machine(machine: dict[str, Any], run: Run, out: Path) -> str:
    own = "equals" if machine["own"] else "differs from"
    least = "; no smaller machine does the same" if machine["smallest"] else ""
    text = (
        f"The model computes the same as this machine of {machine['states']} states{least}. It {own} the "
        "machine of its task."
    )
    drawn = drawn_machine(machine, run.built.batcher.task)
    if drawn is None:
        return f"<p>{escape(text)} <code>tenfold extract</code> draws it.</p>"
    title = f"The finite machine of {run.recipe.name}"
    figure = drawn.figure(out / f"machine-{run.recipe.fingerprint}", title)
    return captioned(figure, text, drawn.legend())


def _long_problems(problems: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td>{escape(each['what'])}</td><td>{'all' if each['right'] else 'NOT all'}</td>"
        f"<td>{each['model_seconds']:.2f} s</td><td>{each['machine_seconds']:.3f} s</td>"
        f"<td>{'yes' if each['agrees'] else 'NO'}</td></tr>"
        for each in problems
    )
    return (
        '<div class="wide"><table><tr><th>problem</th><th>digits right</th><th>by the model</th>'
        f"<th>by its machine</th><th>the same</th></tr>{rows}</table></div>"
    )
