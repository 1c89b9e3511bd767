"""What the trainer and the evaluator know of a model: logits for a batch, and answers to it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from tenfold.batch import Batch


class Model(nn.Module):
    name: ClassVar[str]
    layout: ClassVar[str]  # how its batches are arranged

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Logits of the answer tokens, given those before them: (B, A, V)."""

    @abstractmethod
    def answer(self, batch: Batch) -> Tensor:
        """The model's own answer (B, A); answer tokens in the batch are not looked at."""

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def parameter_count(self) -> int:
        return sum(p.numel() for p in self.parameters())
