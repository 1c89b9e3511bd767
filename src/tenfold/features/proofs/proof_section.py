"""The part of a page about proof: a run's certificate, the machine that its model is, very long problems."""

from __future__ import annotations

import json
import shutil
from html import escape
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.drawing.inline_svg import inline_all
from tenfold.drawing.run_groups import Story
from tenfold.features.proofs.certificate import weights_hash
from tenfold.features.proofs.certify import CERTIFICATE, read_certificate
from tenfold.features.proofs.long_problems import FEATS
from tenfold.runs.run import Run, Which

MEANS = {
    "proved": "right at every length, also in float32: no rounding can take as much as the margin",
    "proved in exact arithmetic": "right at every length, but for rounding, which the margin may not exceed",
    "undecided": "no input was seen to fail, but some margin is none",
    "refuted": "wrong; the shortest inputs on which it fails are below",
}


def section(story: Story, out: Path) -> str:
    """The proofs of all runs of a report whose folders hold a certificate."""
    return "\n".join(filter(None, (_of_run(run, out) for run in story.runs.values())))


def _of_run(run: Run, out: Path) -> str:
    """The verdict of one run, with its machine's drawing beside the page."""
    try:
        text = proof(run)
    except TenfoldError as error:
        return f'<h2>Proof: {escape(run.recipe.name)}</h2><p class="wrong">{escape(str(error))}</p>'
    for path in run.folder.glob("machine.*") if "<svg" in text else ():
        if path.suffix in (".svg", ".png"):
            shutil.copyfile(path, out / f"machine-{run.recipe.fingerprint}{path.suffix}")
    title = f"The machine that {run.recipe.name} is"
    return inline_all(text, f"machine-{run.recipe.fingerprint}", title)


def proof(run: Run) -> str:
    """HTML; nothing where the run's folder holds no certificate, or one of other weights."""
    if not (run.folder / CERTIFICATE).exists():
        return ""
    held = read_certificate(run.folder / CERTIFICATE)
    which: Which = "final" if held["about"].get("checkpoint") == "final" else "best"
    if held["weights"] != weights_hash(run.model(which)):
        return ""
    machine, feats = (_read(run.folder / name) for name in ("machine.json", FEATS))
    parts = [f"<h2>Proof: {escape(run.recipe.name)}</h2>", _verdict(held)]
    if held["counterexamples"]:
        parts.append(_failures(held["counterexamples"]))
    if machine:
        parts.append(_machine(machine, run.folder / "machine.svg"))
    if feats:
        parts.append(_feats(feats))
    return "\n".join(parts)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes()) if path.exists() else None
    except ValueError as error:
        raise TenfoldError(f"{path} is damaged: {error}") from None


def _verdict(held: dict[str, Any]) -> str:
    bound = "not bounded" if held["bound"] is None else _number(held["bound"])
    return (
        f"<p><b>{escape(held['verdict'])}</b>: {MEANS[held['verdict']]}.</p>"
        f'<p class="soft">Run on all {held["contexts"]:,} contexts of {_columns(held["columns"])} that any '
        f"input can bring, {held['wrong']:,} wrong; least margin {_number(held['margin'])}, what rounding may "
        f"take from it {bound}; {held['seconds']:.1f} s. Weights <code>{held['weights'][:16]}</code>. "
        "<code>tenfold certify --check certificate.json RUN</code> finds it again.</p>"
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


def _machine(machine: dict[str, Any], drawing: Path) -> str:
    own = "is its task's own, state for state" if machine["own"] else "is not its task's"
    least = "; no smaller one does the same" if machine["smallest"] else ""
    text = (
        f"The model computes what this machine of {machine['states']} states does{least}. It {own}. "
        "An arrow stands for all columns of digits that lead from one state to the other."
    )
    picture = drawing.read_text() if drawing.exists() else ""
    picture = picture[picture.index("<svg") :] if "<svg" in picture else ""
    return f"<figure>{picture}<figcaption>{escape(text)}</figcaption></figure>"


def _feats(feats: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td>{escape(each['what'])}</td><td>{'all' if each['right'] else 'NOT all'}</td>"
        f"<td>{each['model_seconds']:.2f} s</td><td>{each['machine_seconds']:.3f} s</td>"
        f"<td>{'yes' if each['agrees'] else 'NO'}</td></tr>"
        for each in feats
    )
    return (
        '<div class="wide"><table><tr><th>problem</th><th>digits right</th><th>by the model</th>'
        f"<th>by its machine</th><th>the same</th></tr>{rows}</table></div>"
    )
