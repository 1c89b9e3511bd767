"""Training a recipe in its folder, from the first step to `result.json`, which is written last."""

from __future__ import annotations

import functools
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tenfold.certify import Swift
from tenfold.errors import TenfoldError
from tenfold.lab.environment import environment
from tenfold.lab.lease import Lease
from tenfold.lab.recipe import Recipe
from tenfold.lab.recipes import recipe as find
from tenfold.lab.run import CERTIFICATE, CHECKPOINTS, FEATS, Run, Which
from tenfold.lab.stopping import STOPS
from tenfold.models import Model
from tenfold.training.checkpoint import write_atomically, write_once
from tenfold.training.loop import Job, Metrics
from tenfold.training.loop import train as train_loop

VALIDATION = 2**32  # the seed of the problems that choose the best checkpoint: nobody else's
Tell = Callable[[Metrics], None]


def train(
    recipe: Recipe | str,
    out: Path | str | None = None,
    *,
    fresh: bool = False,
    stop: Callable[[Model, int], str | None] | None = None,
    tell: Tell | None = None,
    patience: float = 0.0,
) -> Run:
    """Train a recipe (or a recipe's name) in its folder and measure it. Called again, it resumes, or returns the finished run.

    A folder in which another process works is waited for `patience` seconds, then refused.
    """
    recipe = find(recipe) if isinstance(recipe, str) else recipe
    folder = Path(out) if out is not None else Path("runs") / recipe.run_name
    run = Run(folder, recipe)
    built, made = run.built, environment()
    with Lease(folder, patience) as lease:
        _settle_in(folder, recipe, fresh, made)
        if run.finished:
            if run.result()["fingerprint"] != recipe.fingerprint:
                raise TenfoldError(
                    f"{folder} holds results of another recipe; use another --out, or --fresh"
                )
            return run
        model = built.model()
        options = recipe.eval
        examiner, validator = built.examiner(), built.examiner(seed=VALIDATION)
        validation = options.validation or options.lengths[:4]
        proof = STOPS[recipe.stop](built) if recipe.stop is not None and stop is None else None

        def heard(line: Metrics) -> None:
            lease.check()
            if tell is not None:
                tell(line)

        def validate(model: Model) -> tuple[float, Metrics]:
            swift = Swift(model, built.batcher)
            rows = validator.rows(swift, validation, n=options.validation_n)
            exact = {row.length: row.value for row in rows if row.metric == "exact"}
            return sum(exact.values()) / len(exact), {"exact": exact}

        job = Job(
            model=model,
            batch_at=built.batch_at,
            options=recipe.train,
            folder=folder,
            seed=recipe.seed,
            fingerprint=recipe.fingerprint,
            evaluate=validate,
            evaluate_every=options.every,
            stop=proof or stop,
            tell=heard,
        )
        progress = train_loop(job)
        if proof is not None and progress.reason == recipe.stop:
            found = proof.found or run.certify(
                which="final"
            )  # another process found it, and was killed
            run.keep(replace(found, about=run.about("final")))
        began = time.monotonic()
        rows: list[dict[str, Any]] = []
        for which in CHECKPOINTS:
            if which == "best" and progress.best_step == progress.step:
                rows += [{**row, "checkpoint": "best"} for row in rows]
                continue
            hear = functools.partial(_measured, heard, which)
            measured = examiner.rows(
                run.answerer(which), options.lengths, options.slices, options.n, hear
            )
            rows += [{**row.as_json(), "checkpoint": which} for row in measured]
        result = {
            "run": recipe.run_name,
            "fingerprint": recipe.fingerprint,
            "seed": recipe.seed,
            "steps": progress.step,
            "samples": progress.step * recipe.train.batch * recipe.train.accumulate,
            "reason": progress.reason,
            "best_step": progress.best_step,
            "parameters": model.parameter_count(),
            "train_seconds": progress.seconds,
            "eval_seconds": time.monotonic() - began,
            "rows": rows,
            "environment": made,
            "attempt": lease.attempt,
        }
        lease.confirm()
        write_once(folder / "result.json", json.dumps(result, indent=1).encode())
    return run


def _measured(tell: Tell, which: Which, done: int, of: int) -> None:
    tell({"measured": done, "of": of, "doing": f"measuring the {which} checkpoint"})


def _settle_in(folder: Path, recipe: Recipe, fresh: bool, made: dict[str, Any]) -> None:
    """Refuse a folder with another recipe's run; start over when asked to; leave a recipe beside the run."""
    path = folder / "recipe.yaml"
    if fresh:
        ours = ("result.json", "metrics.jsonl", "recipe.yaml", "environment.json")
        for name in (*ours, CERTIFICATE, FEATS, *(path.name for path in folder.glob("machine.*"))):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    elif path.exists():
        held = Run.open(folder).recipe
        if held.fingerprint != recipe.fingerprint:
            raise TenfoldError(
                f"{folder} holds a run of another recipe ({held.difference(recipe)}); "
                "use another --out, or --fresh to start over"
            )
        return
    write_atomically(folder / "environment.json", json.dumps(made, indent=1).encode())
    write_atomically(path, recipe.as_yaml().encode())
