"""The options of training, and what they stand for: optimizer, learning rate, lengths of batches, random streams."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Registry, Spec

if TYPE_CHECKING:  # a recipe is read without torch
    import torch
    from torch import nn

Share = Annotated[float, pydantic.Field(ge=0, lt=1)]


class WarmStart(pydantic.BaseModel):
    """The weights that training starts from: those of a finished run. `from: RUN` is short for `from: {name: RUN}`.

    `weights` is the hash of the tensors. It is filled in when a recipe is read, and it alone is part of the fingerprint.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    name: str  # of the run: its folder, the beginning of its name in runs/, or a shipped model
    checkpoint: Literal["best", "final"] = "best"
    weights: str | None = None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


class Training(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    steps: pydantic.PositiveInt = 1000
    batch: pydantic.PositiveInt = 64
    accumulate: pydantic.PositiveInt = 1  # batches whose gradients are summed for one step
    lr: Annotated[pydantic.PositiveFloat, pydantic.Field(allow_inf_nan=False)] = 1e-3
    final_lr: pydantic.NonNegativeFloat = 0.1  # share of lr at the end of the cosine
    schedule: Literal["cosine", "constant", "inverse-sqrt"] = "cosine"  # after the warm-up
    warmup: pydantic.NonNegativeInt = 100
    betas: tuple[Share, Share] = (0.9, 0.98)
    weight_decay: pydantic.NonNegativeFloat = 0.01
    clip: pydantic.PositiveFloat = 1.0
    average: Share = 0.0  # decay of a moving average of the weights
    checkpoint_every: pydantic.PositiveInt = 500
    log_every: pydantic.PositiveInt = 20
    threads: pydantic.PositiveInt = 1  # another count gives other bits, so it is part of the recipe
    device: str = "cpu"
    # Of the matrix products of a training step; weights, optimizer, loss and every evaluation are float32 in any case.
    precision: Literal["float32", "bfloat16"] = "float32"
    penalty: Spec | None = (
        None  # what is minimised besides the loss: a name in `training/penalties.py`
    )
    from_: WarmStart | None = pydantic.Field(default=None, alias="from")  # default: random weights


def step_precision(options: Training) -> torch.autocast:
    """The context in which a training step computes."""
    import torch

    device = torch.device(options.device).type
    enabled = options.precision == "bfloat16"
    return torch.autocast(device, dtype=torch.bfloat16, enabled=enabled)


def make_optimizer(model: nn.Module, options: Training) -> torch.optim.AdamW:
    """Weight decay acts on matrices, not on vectors such as biases and norms."""
    import torch

    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": options.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=options.lr, betas=options.betas, fused=True)


def learning_rate(step: int, options: Training) -> float:
    """The rate at a step, a function of the step alone: a resumed run needs no schedule state.

    >>> options = Training(steps=100, lr=1.0, warmup=10, schedule="cosine", final_lr=0.0)
    >>> [round(learning_rate(step, options), 2) for step in (0, 9, 10, 55, 100)]
    [0.1, 1.0, 1.0, 0.5, 0.0]
    >>> slower = options.model_copy(update={"schedule": "inverse-sqrt"})
    >>> [round(learning_rate(step, slower), 2) for step in (9, 39, 99)]
    [1.0, 0.5, 0.32]
    """
    if step < options.warmup:
        return options.lr * (step + 1) / options.warmup
    if options.schedule == "constant":
        return options.lr
    if options.schedule == "inverse-sqrt":
        return options.lr * math.sqrt(max(options.warmup, 1) / (step + 1))
    done = min((step - options.warmup) / max(options.steps - options.warmup, 1), 1.0)
    low = options.lr * options.final_lr
    return low + (options.lr - low) * (1 + math.cos(math.pi * done)) / 2


def longest(rng: np.random.Generator, length: int) -> int:
    """Always the training length; the sampler draws what lies below it."""
    return length


def bucketed(rng: np.random.Generator, length: int, *, shortest: int = 1) -> int:
    """One length a batch, uniform over shortest..length: rows are alike, so little is padding."""
    if not 1 <= shortest <= length:
        raise TenfoldError(f"the shortest length is {shortest}; 1 to {length} would be right")
    return int(rng.integers(shortest, length + 1))


LENGTHS: Registry[int] = Registry(
    "length sampler", "tenfold.lengths", of=(longest, bucketed), takes=("rng", "length")
)


def stream(seed: int, step: int) -> int:
    """A seed of its own for every step."""
    mixed = (seed * 0x9E3779B97F4A7C15 + step * 0xBF58476D1CE4E5B9) % 2**64
    mixed = ((mixed ^ (mixed >> 30)) * 0x94D049BB133111EB) % 2**64
    return (mixed ^ (mixed >> 31)) >> 1
