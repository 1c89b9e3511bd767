"""Training a recipe in its folder, from the first step to `result.json`, which is written last."""

from __future__ import annotations

import functools
import json
import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically, write_once
from tenfold.models import Model
from tenfold.runs.environment import environment
from tenfold.runs.lease import Lease
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import recipe as find
from tenfold.runs.run import CHECKPOINTS, Run, Which
from tenfold.runs.sample_log import SAMPLES_FILE, SampleLog, describe
from tenfold.runs.stops import STOPS
from tenfold.runs.tracking import TRACKERS, forget, tracking
from tenfold.training.distributed import Team, together
from tenfold.training.loop import Job, Metrics, Progress
from tenfold.training.loop import train as train_loop

OURS = (
    "result.json", "metrics.jsonl", "recipe.yaml", "environment.json", "status.json", "log.txt",
    SAMPLES_FILE, "certificate.json", "feats.json",
)  # fmt: skip
Tell = Callable[[Metrics], None]


def train(
    recipe: Recipe | str,
    out: Path | str | None = None,
    *,
    fresh: bool = False,
    stop: Callable[[Model, int], str | None] | None = None,
    tell: Tell | None = None,
    patience: float = 0.0,
    track: str | None = None,
    log_samples: bool = False,
) -> Run:
    """Train a recipe (or a recipe's name) in its folder and measure it. Called again, it resumes, or returns the finished run.

    A folder in which another process works is waited for `patience` seconds, then refused. `track` names
    who draws the curves; `log_samples` keeps every question and answer. Started by torchrun, the processes
    train one run; `stop` and `tell` are the first's.
    """
    recipe = find(recipe) if isinstance(recipe, str) else recipe
    folder = Path(out) if out is not None else Path("runs") / recipe.run_name
    run = Run(folder, recipe)
    asked = Asked(fresh, stop, tell, patience, track, log_samples)
    with together(recipe.train) as team:
        return _train(run, team, asked) if team.first else _train_along(run, team)


@dataclass(frozen=True)
class Asked:
    """What is asked of a training beside its recipe; none of it decides the weights but `stop`."""

    fresh: bool
    stop: Callable[[Model, int], str | None] | None
    tell: Tell | None
    patience: float
    track: str | None
    log_samples: bool


def _train(run: Run, team: Team, asked: Asked) -> Run:
    """What the first process does, which is all if it is alone."""
    folder, recipe = run.folder, run.recipe
    built = run.built
    made = {**environment(), "processes": team.size, **built.source.prepare()}
    if asked.log_samples:
        built.source.problems()  # there are none to log of a text
    if asked.track is not None:
        TRACKERS[asked.track]  # an unknown one is told before anything is written
    with Lease(folder, asked.patience) as lease:
        _settle_in(folder, recipe, asked.fresh, made)
        if run.finished:
            run.check_result()
        if team.told(run.finished):
            return run
        proof = STOPS[recipe.stop](built) if recipe.stop and asked.stop is None else None

        def heard(line: Metrics) -> None:
            lease.check()
            if asked.tell is not None:
                asked.tell(line)

        with tracking(asked.track, folder, recipe) as tracker:
            job = replace(
                _job(run, team),
                evaluate=functools.partial(_validate, run),
                evaluate_every=recipe.eval.every,
                stop=proof or asked.stop,
                tell=heard,
                track=tracker,
            )
            progress = train_loop(job)
        if proof is not None and progress.reason == recipe.stop:
            lease.confirm()
            proof.write(run)
        began = time.monotonic()
        with SampleLog(folder / SAMPLES_FILE) if asked.log_samples else nullcontext() as log:
            rows = _measure(run, progress, heard, log)
        result = {
            "run": recipe.run_name,
            "fingerprint": recipe.fingerprint,
            "seed": recipe.seed,
            "steps": progress.step,
            "samples": progress.step * recipe.train.batch * recipe.train.accumulate,
            "reason": progress.reason,
            "best_step": progress.best_step,
            "parameters": job.model.parameter_count(),
            "train_seconds": progress.seconds,
            "eval_seconds": time.monotonic() - began,
            "rows": rows,
            "environment": made,
            "attempt": lease.attempt,
        }
        lease.confirm()
        write_once(folder / "result.json", json.dumps(result, indent=1).encode())
    team.wait()
    return run


def _train_along(run: Run, team: Team) -> Run:
    """What the others do: their share of every batch, while the first does all else."""
    if team.told(False):
        return run
    train_loop(_job(run, team))
    team.wait()  # the first measures
    return run


def _job(run: Run, team: Team) -> Job:
    return Job(
        model=run.built.model(),
        batch_at=run.built.batch_at,
        options=run.recipe.train,
        folder=run.folder,
        seed=run.recipe.seed,
        fingerprint=run.recipe.fingerprint,
        team=team,
    )


def _validate(run: Run, model: Model) -> tuple[float, Metrics]:
    """How good the model is on its way, on problems that nobody else is asked."""
    options = run.recipe.eval
    source, lengths = run.built.source, options.validation or options.lengths[:4]
    answerer, n = source.answerer(model), options.validation_n
    return source.score(source.measure(answerer, lengths, ["uniform"], n, validation=True))


def _measure(
    run: Run, progress: Progress, tell: Tell, log: SampleLog | None
) -> list[dict[str, Any]]:
    """The rows of both checkpoints; where the best is the last, they are measured once."""
    options, found = run.recipe.eval, []
    alike = progress.best_step == progress.step
    for which in CHECKPOINTS[:1] if alike else CHECKPOINTS:
        names = CHECKPOINTS if alike else (which,)
        about = run.folder.name, run.recipe.seed, names
        measured = run.built.source.measure(
            run.answerer(which),
            options.lengths,
            options.slices,
            options.n,
            tell=functools.partial(_measured, tell, which),
            log=None if log is None else describe(log, run.built.batcher, *about),
        )
        found += [{**row.as_json(), "checkpoint": name} for name in names for row in measured]
    return found


def _measured(tell: Tell, which: Which, done: int, of: int) -> None:
    tell({"measured": done, "of": of, "doing": f"measuring the {which} checkpoint"})


def _settle_in(folder: Path, recipe: Recipe, fresh: bool, made: dict[str, Any]) -> None:
    """Refuse a folder with another recipe's run; start over when asked to; leave a recipe beside the run."""
    path = folder / "recipe.yaml"
    if fresh:
        clear(folder)
    elif path.exists():
        held = Run.open(folder).recipe
        if held.fingerprint != recipe.fingerprint:
            raise TenfoldError(
                f"{folder} holds a run of another recipe ({held.difference(recipe)}); "
                "use another --out, or --fresh to start over"
            )
        Run(folder, recipe).check_text()
        return
    write_atomically(folder / "environment.json", json.dumps(made, indent=1).encode())
    write_atomically(path, recipe.as_yaml().encode())


def clear(folder: Path) -> None:
    """Leave nothing of a run; the folder must be ours."""
    left = [folder / name for name in OURS]
    for path in [*left, *folder.glob("machine.*")]:
        path.unlink(missing_ok=True)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    forget(folder)
