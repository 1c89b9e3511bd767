"""Every certified task over several seeds: trained until proved, or to its last step and refuted; no seed is left out.

    python -m tenfold.papers.certified.seeds [addition subtraction ...]

About an hour on two idle cores for all of them (addition-3 takes half of it); finished runs are not done again.
Writes results/certified/NAME.md and, from what is there, results/certified/README.md.
"""

import json
import sys
import time
from dataclasses import fields
from pathlib import Path

import numpy as np

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.tasks import samplers
from tenfold.features.proofs.certify import (
    CERTIFICATE,
    EXACTLY,
    IN_FLOAT64,
    PROVED,
    Certificate,
    certify,
    read_certificate,
    write_certificate,
)
from tenfold.features.proofs.prover import weights_hash
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import Run
from tenfold.sweeps.sweep import sweep
from tenfold.sweeps.sweep_progress import Board

SEEDS = {
    "addition": 10, "subtraction": 5, "successor": 5, "parity": 5, "comparison": 5, "multiplication": 5,
    "addition-base-2": 5, "addition-base-2-two-layers": 5, "addition-base-16": 5, "addition-seq2seq": 5, "addition-cyclic": 5, "multiplication-12": 5, "addition-3": 5,
}  # fmt: skip
OUT = Path("results/certified")
LIMIT = 10_000_000  # contexts; addition-3 has 5.3 million
LONG = {
    "addition"
}  # measured on 100 problems of 10,000 digits and 4 in which every column cascades


def main() -> None:
    chosen = sys.argv[1:] or list(SEEDS)
    for name in chosen:
        if name not in SEEDS:
            raise SystemExit(f"error: {unknown('task', name, SEEDS)}")
    for name in chosen:
        recipes = [recipe(f"certified/{name}", seed=seed) for seed in range(SEEDS[name])]
        with Board() as board:
            runs = sweep(recipes, progress=board)
        OUT.mkdir(parents=True, exist_ok=True)
        rows = [measured(run, name in LONG) for run in runs]
        (OUT / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
        (OUT / f"{name}.md").write_text(table(name, rows))
        print(OUT / f"{name}.md")
    (OUT / "README.md").write_text(summary())


def measured(run: Run, long: bool) -> dict:
    """What came of one seed. The final checkpoint: it is the one that was proved."""
    result, which = run.result(), "final"
    proof = certificate(run)
    began = time.monotonic()
    small = proof.contexts <= 1_000_000
    machine = extract_machine(run, which=which) if small else None
    made = result["environment"]
    row = {
        "seed": run.recipe.seed, "verdict": proof.verdict, "steps": result["steps"],
        "seconds": round(result["train_seconds"], 1), "samples": result["samples"], "contexts": proof.contexts,
        "columns": proof.columns, "margin": round(proof.margin, 2),
        "bound": None if proof.bound is None else float(f"{proof.bound:.3g}"), "bound64": proof.bound64, "bound_by": proof.bound_by, "certify_seconds": round(proof.seconds, 1),
        "wrong": proof.wrong, "counterexamples": proof.counterexamples[:3],
        "states": machine and machine.machine.states, "own": machine and machine.own,
        "extract_seconds": round(time.monotonic() - began, 1), "parameters": result["parameters"],
        "commit": made["commit"], "date": made["date"], "fingerprint": result["fingerprint"],
    }  # fmt: skip
    if long:
        row["right_at_10000"] = right(run, samplers.exact, 100, 10_000)
        row["right_all_cascading"] = right(run, cascading, 4, 10_000)
    return row


def certificate(run: Run) -> Certificate:
    """The one that ended the training; where none did, one of the last weights."""
    path = run.folder / CERTIFICATE
    if not path.exists():
        write_certificate(run, certify(run, which="final", limit=LIMIT))
    stored = read_certificate(path)
    proof = Certificate(**{field.name: stored[field.name] for field in fields(Certificate)})
    if proof.weights != weights_hash(run.model("final")):
        raise TenfoldError(f"{path} is about other weights")
    return proof


def right(run: Run, sampler, n: int, length: int) -> str:
    """How many of n long problems are right in every digit."""
    examiner, rng = run.built.examiner(), np.random.default_rng(2026)
    examples = run.built.batcher.task.sample(n, length, rng, sampler)
    exact = examiner.grade(run.answerer("final"), examples, length, "long")[0]
    return f"{round(exact.value * n)}/{n}"


def cascading(rng, n, length, terms, base):
    """Every column carries because the one before did: the units sum to the base or more, all others to base - 1."""
    first = rng.integers(1, base - 1, (n, length), dtype=np.uint8)
    second = (base - 1 - first).astype(np.uint8)
    second[:, 0] += 1
    return np.stack([first, second], 1), np.full((n, 2), length, dtype=np.int64)


def table(name: str, rows: list[dict]) -> str:
    about = recipe(f"certified/{name}").about
    proved = sum(row["verdict"] == "proved" for row in rows)
    exact = sum(row["verdict"] == EXACTLY for row in rows)
    float64 = sum(row["verdict"] == IN_FLOAT64 for row in rows)
    text = (
        f"# certified/{name}\n\n{about[0].upper()}{about[1:]}. {proved} of {len(rows)} seeds proved"
    )
    text += f", {exact} more in exact arithmetic" if exact else ""
    text += f", {float64} {IN_FLOAT64} (no proof: nothing bounds its rounding)" if float64 else ""
    text += (
        f". {rows[0]['parameters']:,} parameters, {rows[0]['contexts']:,} contexts of {rows[0]['columns']} columns. "
        f"Training ends at the first multiple of 25 steps at which the proof succeeds; its seconds include the "
        f"attempts before that one, which takes about as long as certifying. `python -m tenfold.papers.certified.seeds {name}` makes it again.\n\n"
    )
    columns = [
        "seed", "verdict", "steps", "samples", "seconds", "margin", "bound", "bound_by", "bound64", "wrong", "states", "own",
        "certify_seconds", "right_at_10000", "right_all_cascading", "commit", "date",
    ]  # fmt: skip
    columns = [column for column in columns if column in rows[0]]
    text += (
        "| "
        + " | ".join(column.replace("_", " ") for column in columns)
        + " |\n"
        + "|---" * len(columns)
        + "|\n"
    )
    for row in rows:
        cells = ["" if row[c] is None else f"{row[c]:,}" if isinstance(row[c], int) and c == "samples" else str(row[c]) for c in columns]  # fmt: skip
        text += "| " + " | ".join(cells) + " |\n"
    for row in rows:
        for case in row["counterexamples"]:
            text += f"\nSeed {row['seed']} fails on {case['question']}: {case['answer']}, truly {case['truth']}.\n"
    return text


def summary() -> str:
    text = (
        "# Models proved right at every length\n\nTrained on up to 5 digits until proved; every seed is counted. "
        "Proved: also in float32, the least margin exceeds what rounding can take from it. In float64 only: right on "
        "every context in float64, whose own rounding was not bounded, so this is no proof ([why]"
        "(../../docs/certify.md#rounding)). A table without the column \"bound by\" has bounds by norms. Steps, samples and seconds "
        "to proof are medians (least-most) of the seeds that were not refuted, with other load on the machine.\n\n"
        "| task | proved | in exact arithmetic only | in float64 only | refuted | steps | samples | seconds | contexts | parameters |\n"
        + "|---" * 10 + "|\n"
    )  # fmt: skip
    for name in SEEDS:
        if not (OUT / f"{name}.json").exists():
            continue
        rows = json.loads((OUT / f"{name}.json").read_text())
        ways = (PROVED, EXACTLY, IN_FLOAT64, "refuted")
        counts = [sum(row["verdict"] == way for row in rows) for way in ways]
        good = [row for row in rows if row["verdict"] != "refuted"]
        cells = [f"[{name}]({name}.md)", f"{counts[0]}/{len(rows)}", *counts[1:]]
        for key in ("steps", "samples", "seconds"):
            values = sorted(row[key] for row in good)
            cells.append(
                f"{np.median(values):,.0f} ({values[0]:,.0f}-{values[-1]:,.0f})" if values else ""
            )
        cells += [f"{rows[0]['contexts']:,}", f"{rows[0]['parameters']:,}"]
        text += "| " + " | ".join(map(str, cells)) + " |\n"
    return text


if __name__ == "__main__":
    main()
