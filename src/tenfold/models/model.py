"""What the trainer and the evaluator know of a model: logits for a batch, and answers to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

import torch
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batch
from tenfold.models.stack import Stack


class Model(nn.Module, ABC):
    name: ClassVar[str]
    layout: ClassVar[str]  # how its batches are arranged
    stack: Stack  # that writes the answer

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Logits of the answer tokens, given those before them: (B, A, V)."""

    @abstractmethod
    def answer(self, batch: Batch) -> Tensor:
        """The model's own answer (B, A); answer tokens in the batch are not looked at."""

    def in_parts(self, batch: Batch, size: int) -> Iterator[Tensor]:
        """The logits of `forward` part by part: (B, up to `size`, V) each, in order; here as one part."""
        yield self(batch)

    def write(self, batch: Batch, choose: Callable[[Tensor], Tensor]) -> Tensor:
        """As `answer`, but each token (B,) is chosen from its logits (B, V), one after another."""
        raise TenfoldError(f'a model of the kind "{self.name}" does not write token by token')

    def reader(self) -> Stack | None:
        """The stack that reads the question, where that is another one."""
        return None

    def check(self, batch: Batch) -> None:
        """Raise one clear error where the batch is beyond what the encodings can represent."""
        source_at = None if batch.source is None else batch.source.places
        self.stack.check(batch.sequence.places, batch.sequence.places, source_at)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def parameter_count(self) -> int:
        return sum(p.numel() for p in self.parameters())
