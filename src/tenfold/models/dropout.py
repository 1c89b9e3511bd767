"""Dropout that draws 16 random bits an element from a generator it is handed.

torch's own costs a quarter of a training step on a CPU at our sizes and reads the global seed; here four
elements share one 64-bit draw, and the trainer's generator makes a resumed run exact.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Drawing(nn.Module):
    """What draws in training: from the trainer's generator, when it was handed one."""

    generator: torch.Generator | None = None


class Dropout(Drawing):
    """Zero each element with probability p (to 1 in 65,536) and scale the rest by 1 / (1 - p)."""

    def __init__(self, p: float = 0.0) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        cut = round(self.p * 65_536)
        draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device=x.device)
        draws.random_(-(2**63), None, generator=self.generator)
        lanes = draws.view(torch.int16)[: x.numel()].view(x.shape)
        kept = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        torch.ge(lanes, cut - 32_768, out=kept)  # 0.0 and 1.0, without a pass over booleans
        return x * kept.mul_(65_536 / (65_536 - cut))


def hand_generator(model: nn.Module, generator: torch.Generator | None) -> None:
    """Let everything in `model` that draws draw from `generator`."""
    for module in model.modules():
        if isinstance(module, Drawing):
            module.generator = generator
