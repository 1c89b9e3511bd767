"""Penalties: what a training minimises besides the loss of the answer. `train.penalty` of a recipe names one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import ClassVar

import torch
from pydantic import NonNegativeInt, PositiveFloat
from torch import Tensor, nn

from tenfold.core.registry import Checked, Registry
from tenfold.data.batch import IGNORED, Batch
from tenfold.models.near import Near, Watched


class Penalty(Checked, ABC):
    """The base class of penalties: it watches a forward pass, then states what to add to the loss."""

    name: ClassVar[str]

    @abstractmethod
    def watching(self, model: nn.Module) -> AbstractContextManager[object]:
        """What a forward pass runs in."""

    @abstractmethod
    def total(self, batch: Batch) -> Tensor:
        """What is added to the loss of the pass that was watched last, summed over the graded tokens."""


class FarAttention(Penalty):
    """`weight` times the attention on keys further behind than `columns`, `answers` for answer tokens, or ahead.

    It is the mean over heads, summed over layers, at tokens that predict an answer digit. A model with little far attention
    can be proved without a window.
    """

    name = "far-attention"

    def __init__(
        self, weight: PositiveFloat = 1.0, columns: NonNegativeInt = 1, answers: NonNegativeInt = 0
    ) -> None:
        self.weight, self.near = weight, Near(columns, answers)
        self._seen: list[Tensor] = []

    def watching(self, model: nn.Module) -> AbstractContextManager[object]:
        self._seen = []

        def ran(weights: Tensor, near: Tensor) -> None:
            self._seen.append(torch.where(near, 0.0, weights).sum(-1).mean(1))  # (B, T)

        return Watched(model, self.near, "weights", ran)

    def total(self, batch: Batch) -> Tensor:
        graded = batch.target != IGNORED  # (B, A)
        far = sum((each[:, -batch.read :] for each in self._seen), torch.zeros(()))
        return self.weight * (far * graded).sum()


PENALTIES: Registry[Penalty] = Registry(
    "penalty", "tenfold.penalties", of=(FarAttention,), base=Penalty
)
