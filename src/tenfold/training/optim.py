"""The optimizer and its schedule: fused AdamW, warm-up, then cosine, constant, or by the root of the step."""

from __future__ import annotations

import math

import torch
from torch import nn

from tenfold.training.options import Training


def make_optimizer(model: nn.Module, options: Training) -> torch.optim.AdamW:
    """Weight decay acts on matrices, not on vectors such as biases and norms."""
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
