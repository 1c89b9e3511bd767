"""Encoder-only: one pass, the answer read in place."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tenfold.data.batch import Batch
from tenfold.models.model import AttentionModel
from tenfold.models.stack import EncodingFactory, Shape, Stack


class Encoder(AttentionModel):
    """One pass over the question; the answer is read at its last tokens."""

    name = "encoder"
    layout = "in_place"

    def __init__(self, vocabulary: int, end: int, shape: Shape, pe: EncodingFactory) -> None:
        super().__init__()
        self.stack = Stack(vocabulary, shape, pe, causal=False)
        self.head = nn.Linear(shape.width, vocabulary)

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self.stack(batch.sequence, read=batch.read))

    @torch.inference_mode()
    def answer(self, batch: Batch) -> Tensor:
        return self(batch).argmax(-1)
