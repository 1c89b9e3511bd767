"""What the trainer and the evaluator know of a model: logits for a batch, and answers to it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from tenfold.batch import Batch
from tenfold.errors import TenfoldError
from tenfold.models.stack import Stack


class Model(nn.Module):
    name: ClassVar[str]
    layout: ClassVar[str]  # how its batches are arranged

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Logits of the answer tokens, given those before them: (B, A, V)."""

    @abstractmethod
    def answer(self, batch: Batch) -> Tensor:
        """The model's own answer (B, A); answer tokens in the batch are not looked at."""

    def check(self, batch: Batch) -> None:
        """Raise one clear error where the batch is beyond what the encodings can represent."""
        at = batch.sequence.places
        source_at = None if batch.source is None else batch.source.places
        for name, stack in self.stacks().items():
            held = at if name != "encoder" or source_at is None else source_at
            for axis in sorted(stack.axes() - set(held)):
                raise TenfoldError(
                    f'an encoding reads the axis "{axis}", which nothing provides; there are '
                    f"{', '.join(sorted(held))} (add a scheme?)"
                )
            stack.check(held, held, source_at)

    def stacks(self) -> dict[str, Stack]:
        return {n: m for n, m in self.named_children() if isinstance(m, Stack)}

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def parameter_count(self) -> int:
        return sum(p.numel() for p in self.parameters())
