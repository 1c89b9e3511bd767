"""Training a recipe in its folder, from the recipe to `result.json`. This page is the whole path:

train
  check_size             refuse what this machine cannot hold or finish            runs/size_check.py
  together               meet the other processes, if torchrun started several    training/distributed.py
  _record                what the run is made with; bad input is refused here      runs/environment.py
  Lease                  the folder belongs to one process at a time               runs/lease.py
    _is_finished         refuse another recipe's folder; a finished run is done    runs/run.py
    _new_model           random weights, or those of another run                   runs/build.py, warm_start.py
    _begin               write recipe.yaml and environment.json
    _fit                 train or resume; checkpoints, metrics.jsonl               training/loop.py
    _measure             the rows of both checkpoints                              runs/source.py
    _write_result        result.json, written last
"""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import remove, write_atomically, write_once
from tenfold.core.stored_files import check_no_way_out, sealed, size_and_hash
from tenfold.models import Model
from tenfold.runs.build import penalty_of
from tenfold.runs.environment import RECIPE_HASH, environment
from tenfold.runs.lease import Lease
from tenfold.runs.own_components import COPIES, keep_copies
from tenfold.runs.own_files import does_too_much, executing
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import recipe as recipe_by_name
from tenfold.runs.run import CHECKPOINTS, Run, Which
from tenfold.runs.sample_log import SAMPLES_FILE, SampleLog, describe
from tenfold.runs.size_check import check_size
from tenfold.runs.stops import STOPS
from tenfold.runs.tracking import TRACKERS, remove_tracks, tracking
from tenfold.training.checkpoint import Checkpoints
from tenfold.training.distributed import Team, together
from tenfold.training.loop import Job, Progress
from tenfold.training.loop import train as train_loop
from tenfold.training.metrics_file import METRICS, Metrics

FILES = (
    "result.json", METRICS, "recipe.yaml", "environment.json", "status.json", "log.txt",
    SAMPLES_FILE, "certificate.json", "feats.json", "ladder.json",
)  # fmt: skip
Callback = Callable[[Metrics], None]
StopWhen = Callable[[Model, int], str | None]


def train(
    recipe: Recipe | str,
    out: Path | str | None = None,
    *,
    from_: Run | Path | str | None = None,
    fresh: bool = False,
    stop: StopWhen | None = None,
    progress: Callback | None = None,
    patience: float = 0.0,
    track: str | None = None,
    log_samples: bool = False,
    force: bool = False,
) -> Run:
    """Train a recipe (or a recipe's name) in its folder and measure it. Called again, it resumes, or returns the finished run.

    Arguments:
        recipe: a recipe; a name stands for its laptop scale, and `tenfold.recipe(name, scale)` for another.
        out: the folder of the run; default `runs/NAME-HASH`.
        from_: a finished run whose weights training starts from, as `train.from` in the recipe.
        fresh: remove what the folder has of a run, and start over.
        stop: is called with the model and the step after every step; a string ends training, and is the reason.
        progress: is called with the metrics of every step, and with the state of the measurements.
        patience: seconds to wait for a folder in which another process works, before it is refused.
        track: the name of a tracker, which draws the curves.
        log_samples: keep every question and answer in samples.jsonl.
        force: also train what does not seem to fit this machine.

    Started by torchrun, the processes train one run; `stop` and `progress` are called in the first.
    """
    if executing:
        raise does_too_much("trains")
    run = _run_of(recipe, out, from_)
    if not force and not run.finished:
        check_size(run.recipe)
    with together(run.recipe.train) as team:
        if not team.first:
            return _train_along(run, team)
        record = _record(run, team, track, log_samples)
        _check_start(run, fresh, stop)
        with Lease(run.folder, patience) as lease:
            _tidy(run.folder)
            finished = not fresh and _is_finished(run)
            if not finished:
                model = _new_model(run, fresh)
                _begin(run, fresh, record)
            if team.broadcast(finished):
                return run
            report = _while_leased(lease, progress)
            state = _fit(run, team, model, lease, stop, report, track)
            began = time.monotonic()
            rows = _measure(run, state, report, log_samples)
            record = {"environment": record, "attempt": lease.attempt}
            record["eval_seconds"] = time.monotonic() - began
            lease.confirm()
            _write_result(run, state, rows, record, log_samples)
        team.wait()
    return run


def _run_of(recipe: Recipe | str, out: Path | str | None, from_: Run | Path | str | None) -> Run:
    recipe = recipe_by_name(recipe) if isinstance(recipe, str) else recipe
    if from_ is not None:
        source = from_.folder if isinstance(from_, Run) else from_
        recipe = recipe.replace(train={"from": str(source)})
    return Run(Path(out) if out is not None else Path("runs") / recipe.run_name, recipe)


def _check_start(run: Run, fresh: bool, stop: StopWhen | None) -> None:
    """Raise for a stop that can never be reached, and for weights to start from that do not fit."""
    if run.recipe.stop and stop is None:
        STOPS[run.recipe.stop](run.built)
    begins = fresh or not (run.folder / "recipe.yaml").exists()
    if begins and run.recipe.train.from_ is not None:
        _new_model(run, fresh, first=False)


def _record(run: Run, team: Team, track: str | None, log_samples: bool) -> dict[str, Any]:
    """What the run is made with. Whatever is wrong with the request raises here, before anything is written."""
    source = run.built.source
    if log_samples:
        source.problems()  # raises for a text, which has none to log
    if track is not None:
        TRACKERS[track]  # raises for an unknown name
    return {**environment(), "processes": team.size, **source.prepare()}


def _is_finished(run: Run) -> bool:
    """Whether the folder has this recipe's result; a folder with another recipe's run is refused."""
    if (run.folder / "recipe.yaml").exists():
        stored = Run.open(run.folder).recipe
        if stored.fingerprint != run.recipe.fingerprint:
            raise TenfoldError(
                f"{run.folder} holds a run of another recipe ({stored.difference(run.recipe)}); "
                "use another --out, or --fresh to start over"
            )
        run.check_text()
    if run.finished:
        run.check_result()
    return run.finished


def _new_model(run: Run, fresh: bool = False, *, first: bool = True) -> Model:
    """The model before its first step; a run that has checkpoints does not need the run that it started from."""
    model = run.built.model()
    resumes = not fresh and Checkpoints(run.folder / "checkpoints").steps()
    if run.recipe.train.from_ is not None and not resumes:
        from tenfold.runs.warm_start import start_from

        start_from(model, run.recipe, warn=first)
    return model


def _begin(run: Run, fresh: bool, record: dict[str, Any]) -> None:
    """Leave the recipe and the environment in a folder that has none; `fresh` removes what is there."""
    if fresh:
        clear(run.folder)
    check_no_way_out(run.folder)
    if (run.folder / "recipe.yaml").exists():
        return
    keep_copies(run.recipe.include, run.folder)
    written = run.recipe.as_yaml().encode()
    record[RECIPE_HASH] = hashlib.sha256(written).hexdigest()
    write_atomically(run.folder / "environment.json", sealed(record))
    write_atomically(run.folder / "recipe.yaml", written)


def _while_leased(lease: Lease, progress: Callback | None) -> Callback:
    """A callback that ends training once the folder belongs to another process."""

    def report(line: Metrics) -> None:
        lease.check()
        if progress is not None:
            progress(line)

    return report


def _fit(
    run: Run,
    team: Team,
    model: Model,
    lease: Lease,
    stop: StopWhen | None,
    report: Callback,
    track: str | None,
) -> Progress:
    """Train to the last step, or to the reason for which `stop` or the recipe's own `stop` ends it."""
    recipe = run.recipe
    proof = STOPS[recipe.stop](run.built) if recipe.stop and stop is None else None
    with nullcontext() if track is None else tracking(track, run.folder, recipe) as tracker:
        job = replace(
            _job(run, team, model),
            evaluate=functools.partial(_validate, run),
            evaluate_every=recipe.eval.every,
            stop=proof or stop,
            report=report,
            track=tracker,
        )
        state = train_loop(job)
    if proof is not None and state.reason == recipe.stop:
        lease.confirm()
        proof.write(run)
    return state


def _train_along(run: Run, team: Team) -> Run:
    """What the other processes do: their share of every batch. The first process does everything else."""
    if team.broadcast(False):
        return run
    train_loop(_job(run, team, _new_model(run, first=False)))
    team.wait()  # the first process measures
    return run


def _job(run: Run, team: Team, model: Model) -> Job:
    return Job(
        model=model,
        batch_at=run.built.batch_at,
        options=run.recipe.train,
        folder=run.folder,
        seed=run.recipe.seed,
        fingerprint=run.recipe.fingerprint,
        team=team,
        penalty=penalty_of(run.recipe),
    )


def _validate(run: Run, model: Model) -> tuple[float, Metrics]:
    """The score of the model during training, on problems that are used for nothing else."""
    options = run.recipe.eval
    source, lengths = run.built.source, run.recipe.validated
    answerer, n = source.answerer(model), options.validation_n
    rows = source.measure(answerer, lengths, ["uniform"], n, validation=True, force=True)
    return source.score(rows)


def _measure(
    run: Run, state: Progress, report: Callback, log_samples: bool
) -> list[dict[str, Any]]:
    """The rows of the checkpoints that are asked for; where the best is the last, they are measured once."""
    options, rows = run.recipe.eval, []
    asked = [which for which in CHECKPOINTS if which in options.checkpoints]
    alike = state.best_step == state.step
    with SampleLog(run.folder / SAMPLES_FILE) if log_samples else nullcontext() as log:
        for which in asked[:1] if alike else asked:
            names = asked if alike else [which]
            about = run.folder.name, run.recipe.seed, names
            measured = run.built.source.measure(
                run.answerer(which),
                options.lengths,
                options.slices,
                options.n,
                progress=functools.partial(_measured, report, which),
                force=True,  # `check_size` came first
                log=None if log is None else describe(log, run.built.batcher, *about),
            )
            rows += [{**row.as_json(), "checkpoint": name} for name in names for row in measured]
    return rows


def _measured(report: Callback, which: Which, done: int, of: int) -> None:
    report({"measured": done, "of": of, "doing": f"measuring the {which} checkpoint"})


def _write_result(
    run: Run,
    state: Progress,
    rows: list[dict[str, Any]],
    record: dict[str, Any],
    log_samples: bool,
) -> None:
    recipe, names = run.recipe, [METRICS, SAMPLES_FILE] if log_samples else [METRICS]
    result = {
        "run": recipe.run_name,
        "fingerprint": recipe.fingerprint,
        "seed": recipe.seed,
        "steps": state.step,
        "samples": state.step * recipe.train.batch * recipe.train.accumulate,
        "reason": state.reason,
        "best_step": state.best_step,
        "parameters": run.model("final").parameter_count(),
        "train_seconds": state.seconds,
        "eval_seconds": record["eval_seconds"],
        "rows": rows,
        "environment": record["environment"],
        "attempt": record["attempt"],
        "files": {name: size_and_hash(run.folder, name) for name in names},
    }
    write_once(run.folder / "result.json", sealed(result))


def _tidy(folder: Path) -> None:
    """Remove the unfinished files of a process that was killed; the folder must be leased to this one."""
    for name in FILES:
        for left in folder.glob(f".{name}[-.]*"):
            remove(left)


def clear(folder: Path) -> None:
    """Remove everything of a run from its folder, which must be leased to this process."""
    for name in (*FILES, "checkpoints", COPIES):
        remove(folder / name)
    for path in folder.glob("machine.*"):
        remove(path)
    remove_tracks(folder)
