"""The training loop: batches in, weights and metrics out.

Everything random at step t is a function of (seed, t): the batch, its schemes, dropout. So a run that
was stopped at any moment and resumed has the same weights, bit for bit, as one that was not. With several
processes (see `distributed`) each has its share of every batch; the first alone keeps the folder.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.core.errors import Diverged, Stopped, TenfoldError
from tenfold.data.batch import IGNORED, Batch
from tenfold.models.layers import set_generator
from tenfold.models.model import Model
from tenfold.training.checkpoint import Checkpoint, Checkpoints, Tensors
from tenfold.training.distributed import Team
from tenfold.training.metrics_file import METRICS, Metrics, MetricsFile
from tenfold.training.options import (
    Training,
    learning_rate,
    make_optimizer,
    step_precision,
    stream,
)
from tenfold.training.penalties import Penalty

TRIM, MAP = -1, -3  # malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
LARGE = 2**30  # bytes
APART = 2**48  # between the seeds of two processes' dropout


@dataclass
class Job:
    """A model, its batches, and the callbacks of a training. `seed`, `fingerprint` and the folder make it resumable."""

    model: Model
    batch_at: Callable[[int, torch.Generator], Batch]  # the batch with this number
    options: Training
    folder: Path
    seed: int
    fingerprint: str
    evaluate: Callable[[Model], tuple[float, Metrics]] | None = None  # a score and its details
    evaluate_every: int = 0
    stop: Callable[[Model, int], str | None] | None = None  # a reason to end early
    report: Callable[[Metrics], None] | None = None  # is called after every step
    track: Callable[[Metrics], None] | None = None  # is called with each line of metrics.jsonl
    team: Team = field(default_factory=Team)  # the processes that train it together
    penalty: Penalty | None = None  # what is minimised besides the loss of the answer


@dataclass
class Progress:
    """The state of a run beside its tensors."""

    step: int = 0
    seconds: float = 0.0
    best_score: float | None = None
    best_step: int | None = None
    metrics_bytes: int = 0  # of metrics.jsonl, up to this step
    metrics_sha256: str = ""  # of these bytes; empty in checkpoints of version 0.1
    reason: str | None = None  # why it ended, when it has
    fingerprint: str = ""
    best: Tensors = field(default_factory=dict)
    average: Tensors = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in {"best", "average", "step"}}


def train(job: Job) -> Progress:
    """Train until `options.steps` or a reason to stop; resume where the folder's last checkpoint is."""
    options, model, team = job.options, job.model, job.team
    torch.set_num_threads(options.threads)
    keep_memory()
    model.to(options.device).train()
    optimizer = make_optimizer(model, options)
    checkpoints = Checkpoints(job.folder / "checkpoints")
    progress = team.in_turn(lambda: _resume(job, checkpoints.latest(), optimizer))
    _same_step(job, progress)
    drawing, dropping = torch.Generator(), torch.Generator(options.device)  # places; dropout
    set_generator(model, dropping)
    network = _network(job, drawing)
    with _signals() as signals, _log(job, progress) as log:
        started = time.monotonic() - progress.seconds
        while progress.step < options.steps and progress.reason is None:
            drawing.manual_seed(stream(job.seed, 2 * progress.step))
            dropping.manual_seed(stream(job.seed + team.rank * APART, 2 * progress.step + 1))
            loss, norm = _step(job, network, optimizer, progress.step, drawing)
            progress.step += 1
            progress.seconds = time.monotonic() - started
            if log is not None:
                _account(job, progress, log, loss, norm)
            ended, signalled = team.most(progress.reason is not None, *signals[:1] or [0])
            last = bool(ended) or progress.step == options.steps
            if log is not None:
                if last or signalled or progress.step % options.checkpoint_every == 0:
                    progress.metrics_bytes, progress.metrics_sha256 = log.secure()
                    _save(job, checkpoints, optimizer, progress)
            if signalled and not last:
                team.wait()  # until the first has saved: torchrun may end all processes when one ends
                name = signal.Signals(signalled).name
                raise Stopped(
                    f"stopped by {name} at step {progress.step}; the same command goes on from there",
                    signalled,
                )
            if last:
                break
    set_generator(model, None)
    return progress


def _account(job: Job, progress: Progress, log: MetricsFile, loss: float, norm: float) -> None:
    """What the first process does after a step: average, check for a stop, evaluate, report, write."""
    options, model = job.options, job.model
    if options.average:
        _blend(progress, model, options.average)
    line = {"step": progress.step, "loss": loss, "grad_norm": norm}
    line |= {"lr": learning_rate(progress.step - 1, options), "seconds": progress.seconds}
    last = progress.step == options.steps
    if job.stop is not None:
        progress.reason = job.stop(model, progress.step)
        last = last or progress.reason is not None
    if job.evaluate and (last or progress.step % job.evaluate_every == 0):
        line |= _examine(job, progress)
    if job.report is not None:
        job.report(line)  # before anything is written: it raises if another process took the folder
    if last or "eval" in line or progress.step % options.log_every == 0:
        log.write(line)
        if job.track is not None:
            job.track(line)


def _step(
    job: Job,
    network: nn.Module,
    optimizer: torch.optim.AdamW,
    step: int,
    generator: torch.Generator,
) -> tuple[float, float]:
    """One optimizer step over `accumulate` batches, weighted by graded tokens."""
    options, model, team = job.options, job.model, job.team
    first = step * options.accumulate
    batches = [
        job.batch_at(first + i, generator).to(options.device) for i in range(options.accumulate)
    ]
    graded = sum(int((batch.target != IGNORED).sum()) for batch in batches)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step, options)
    optimizer.zero_grad()
    loss = 0.0
    for number, batch in enumerate(map(team.share, batches), start=1):
        with team.later(network, last=number == len(batches)):
            with step_precision(options), _watching(job):
                logits = network(batch)
            part = _objective(job, logits, batch) / graded
            (
                part * team.size
            ).backward()  # DDP averages gradients over processes; we need their sum
        loss += part.item()
    loss = team.total(loss)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip).item()
    if not (abs(loss) < float("inf") and norm < float("inf")):  # false for NaN too
        raise Diverged(
            f"the loss is {loss:g} and the gradient's norm {norm:g} at step {step + 1}; training "
            f"stopped, the last checkpoint stands. A lower train.lr (now {options.lr:g}) may help"
        )
    optimizer.step()
    return loss, norm


def _watching(job: Job) -> AbstractContextManager[object]:
    return nullcontext() if job.penalty is None else job.penalty.watching(job.model)


def _objective(job: Job, logits: Tensor, batch: Batch) -> Tensor:
    loss = answer_loss(logits, batch.target)
    return loss if job.penalty is None else loss + job.penalty.total(batch)


def answer_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy summed over the graded tokens, in float32 at the least: (B, A, V), (B, A) -> ()."""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED, reduction="sum"
    )


def _examine(job: Job, progress: Progress) -> Metrics:
    """Evaluate the weights that will be used (their average, if one is kept) and remember the best."""
    assert job.evaluate is not None
    model = job.model
    own = {name: value.detach().clone() for name, value in model.state_dict().items()}
    if progress.average:
        model.load_state_dict(progress.average)
    model.eval()
    score, details = job.evaluate(model)
    if (
        progress.best_score is None or score >= progress.best_score
    ):  # of equal scores, the later step
        progress.best_score, progress.best_step = score, progress.step
        progress.best = {k: v.detach().clone() for k, v in model.state_dict().items()}
    model.train()
    model.load_state_dict(own)
    return {"eval": details, "score": score}


def _blend(progress: Progress, model: Model, decay: float) -> None:
    """Update a moving average of the weights; its decay rises at first, so that early weights fade quickly."""
    decay = min(decay, (1 + progress.step) / (10 + progress.step))
    with torch.no_grad():
        now = model.state_dict()
        if not progress.average:
            progress.average = {name: value.clone() for name, value in now.items()}
        names = [name for name, value in now.items() if value.is_floating_point()]
        torch._foreach_lerp_(
            [progress.average[name] for name in names], [now[name] for name in names], 1 - decay
        )


def _save(
    job: Job, checkpoints: Checkpoints, optimizer: torch.optim.AdamW, progress: Progress
) -> None:
    tensors = {"model": dict(job.model.state_dict()), "optimizer": _flat(optimizer)}
    if progress.best:
        tensors["best"] = progress.best
    if progress.average:
        tensors["average"] = progress.average
    checkpoints.save(progress.step, tensors, progress.as_json())


def _resume(job: Job, checkpoint: Checkpoint | None, optimizer: torch.optim.AdamW) -> Progress:
    if checkpoint is None:
        return Progress(fingerprint=job.fingerprint)
    if checkpoint.state.get("fingerprint") != job.fingerprint:
        raise TenfoldError(
            f"the checkpoint in {job.folder} belongs to another recipe "
            f"({checkpoint.state.get('fingerprint')}, this is {job.fingerprint}); "
            "use another folder, or --fresh to start over"
        )
    try:
        job.model.load_state_dict(checkpoint.tensors["model"])
        _restore(optimizer, checkpoint.tensors["optimizer"])
        progress = Progress(**checkpoint.state)
    except (RuntimeError, LookupError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:160]
        raise TenfoldError(
            f"the checkpoint of step {checkpoint.step} in {job.folder} does not fit its recipe: {reason}; "
            "--fresh starts the run over"
        ) from None
    device = job.options.device
    progress.best, progress.average = (
        {key: value.to(device) for key, value in checkpoint.tensors.get(name, {}).items()}
        for name in ("best", "average")
    )
    return progress


def _same_step(job: Job, progress: Progress) -> None:
    """Raise unless all processes of a run continue from the same checkpoint."""
    last, first = job.team.most(progress.step, -progress.step)
    if last != -first:
        raise TenfoldError(
            f"process {job.team.rank} goes on from step {progress.step}, another from step "
            f"{last if last != progress.step else -first}; {job.folder} must be a folder that all share"
        )


def _network(job: Job, generator: torch.Generator) -> nn.Module:
    """The module of a step: the model itself, or with several processes its `DistributedDataParallel`."""
    if job.team.size == 1:
        return job.model
    generator.manual_seed(stream(job.seed, 0))
    batch = job.team.share(job.batch_at(0, generator).to(job.options.device))
    return job.team.spread(job.model, lambda network: answer_loss(network(batch), batch.target))


def _flat(optimizer: torch.optim.AdamW) -> Tensors:
    """The optimizer's tensors under flat names: `3.exp_avg` is that of the fourth parameter."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{key}": value for i, own in state.items() for key, value in own.items()}


def _restore(optimizer: torch.optim.AdamW, tensors: Tensors) -> None:
    state: dict[int, Tensors] = {}
    for name, tensor in tensors.items():
        number, key = name.split(".")
        state.setdefault(int(number), {})[key] = tensor
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _log(job: Job, progress: Progress) -> MetricsFile | nullcontext[None]:
    """The metrics' file, for the first process alone."""
    if not job.team.first:
        return nullcontext()
    seen = progress.metrics_bytes, progress.metrics_sha256
    return MetricsFile(job.folder / METRICS, progress.step, *seen)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect SIGTERM and SIGINT instead of dying of them; a second one is obeyed at once."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    caught = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.getsignal(number) for number in caught}

    def note(number: int, _frame: object) -> None:
        received.append(number)
        signal.signal(number, before[signal.Signals(number)])

    for number in caught:
        signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def keep_memory() -> bool:
    """Make the C library keep freed memory for the next step, in the whole process; False where that is not possible.

    By default it hands the activations of each step back to the kernel, which clears every page when the next step asks
    for it again: thousands of page faults, up to a tenth of a step's time on a CPU.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    # Either setting alone ends the library's own adaptation of the other, and is worse than neither.
    return any(mallopt(MAP, size) for size in (LARGE, 2**25)) and bool(mallopt(TRIM, LARGE))
