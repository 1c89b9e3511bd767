"""What a run will cost, before it is started."""

from __future__ import annotations

import itertools
import statistics
import time
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from tenfold.models.weightless import weightless
from tenfold.runs.build import Built
from tenfold.runs.machine_memory import available
from tenfold.training.loop import answer_loss
from tenfold.training.options import make_optimizer, step_precision

YEAR = 365 * 86_400.0  # seconds
PATIENCE = 1.0  # seconds of trying; a step that is expected to take longer is not tried
USUAL_SHARE = 0.5  # of the matrix-multiply rate that a training step reaches
ROWS = 1024  # of a batch, at most, that are counted
OPTIMIZED = 16  # bytes for a parameter: its value, its gradient and two averages of AdamW
PROCESS = 2**30  # bytes that a process with torch and a batch of the evaluation take by themselves


@dataclass(frozen=True)
class Count:
    """What follows from a recipe alone, wherever it is run."""

    parameters: int
    flops_per_step: int
    memory_bytes: int  # weights, gradients, optimizer, and the activations of one batch


@dataclass(frozen=True)
class Cost(Count):
    seconds: float
    measured: bool  # steps were timed here; otherwise it follows from the matrix-multiply rate

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def count(built: Built) -> Count:
    """Count a step's operations and bytes on the `meta` device: a tenth of a second at any size.

    Of a large batch some rows are counted, and stand for the others. Where training has stages, operations are the mean
    over all steps, and bytes those of the largest.
    """
    counted = [_count(built, first) for first in _first_batches(built)]
    steps = [stage.steps for stage in built.stages]
    flops = sum(n * each.flops_per_step for n, each in zip(steps, counted, strict=True))
    largest = max(each.memory_bytes for each in counted)
    return Count(counted[0].parameters, flops // sum(steps), largest)


def _first_batches(built: Built) -> list[int]:
    """The number of the first batch of each stage."""
    steps = itertools.accumulate((stage.steps for stage in built.stages[:-1]), initial=0)
    return [step * built.recipe.train.accumulate for step in steps]


def _count(built: Built, number: int) -> Count:
    wanted = built.recipe.train.batch
    rows = min(wanted, ROWS)
    batch = built.like_batch_at(number, torch.Generator().manual_seed(0), rows)
    with weightless():
        hollow = built.make_model()
    kept: dict[int, int] = {}  # bytes of every storage that the backward pass needs

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage._cdata] = storage.nbytes()
        return tensor

    with (
        FlopCounterMode(display=False) as counted,
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
    ):
        answer_loss(hollow(batch.to("meta")), batch.target.to("meta")).backward()
    parameters = sum(p.numel() for p in hollow.parameters())
    flops = counted.get_total_flops() * wanted // rows * built.recipe.train.accumulate
    activations = sum(kept.values()) * wanted // rows
    return Count(parameters, flops, OPTIMIZED * parameters + activations)


def cost(built: Built) -> Cost:
    """Count, and time a few real steps where they are short."""
    options, counted = built.recipe.train, count(built)
    torch.set_num_threads(options.threads)
    with step_precision(options):
        expected = counted.flops_per_step / (matmul_rate() * USUAL_SHARE)
    seconds, measured = expected * options.steps, False
    free = available()
    if expected < PATIENCE and (free is None or counted.memory_bytes < free):
        seconds, measured = _tried(built), True
    return Cost(**vars(counted), seconds=seconds, measured=measured)


def _tried(built: Built) -> float:
    """Seconds of all steps, each stage by the steps of its own that were tried."""
    first = _first_batches(built)
    patience = PATIENCE / len(first)
    return sum(
        stage.steps * _tried_from(built, number, patience)
        for stage, number in zip(built.stages, first, strict=True)
    )


def _tried_from(built: Built, number: int, patience: float) -> float:
    """Seconds a step from this batch on: the median of those that fit our patience, without the first."""
    model, options = built.model().train(), built.recipe.train
    optimizer = make_optimizer(model, options)
    generator = torch.Generator().manual_seed(0)
    taken: list[float] = []
    while len(taken) < 2 or sum(taken) < patience:
        first, began = number + len(taken) * options.accumulate, time.perf_counter()
        optimizer.zero_grad()
        for part in range(options.accumulate):
            batch = built.like_batch_at(first + part, generator)
            with step_precision(options):
                logits = model(batch)
            answer_loss(logits, batch.target).backward()
        optimizer.step()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[1:])


def matmul_rate(size: int = 1024) -> float:
    """Floating-point operations a second of a large product, with the threads and the precision that are set."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    fastest = float("inf")
    for _ in range(4):
        began = time.perf_counter()
        a @ b
        fastest = min(fastest, time.perf_counter() - began)
    return 2 * size**3 / fastest


def span(seconds: float) -> str:
    """
    >>> span(42), span(150), span(9000), span(1e17)
    ('about 42 seconds', 'about 2.5 minutes', 'about 2.5 hours', 'about 3.17e+09 years')
    """
    if seconds >= 1000 * YEAR:
        return f"about {seconds / YEAR:.3g} years"
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.1f} {unit}"
    return f"about {seconds:.0f} seconds"
