"""Encoder-decoder: the question encoded once, the answer decoded digit by digit."""

from __future__ import annotations

import dataclasses

import torch
from pydantic import NonNegativeInt
from torch import Tensor, nn

from tenfold.data.batch import Batch
from tenfold.models.decoder import greedy, stepwise
from tenfold.models.model import AttentionModel
from tenfold.models.stack import EncodedSource, EncodingFactory, Shape, Stack


class Seq2Seq(AttentionModel):
    """The question in an encoder, the answer in a decoder that looks at it.

    `encoder_layers` may be 0: the source is then its embedded tokens, as in the `bias` paper's code.
    """

    name = "seq2seq"
    layout = "seq2seq"

    def __init__(
        self,
        vocabulary: int,
        end: int,
        shape: Shape,
        pe: EncodingFactory,
        encoder_pe: EncodingFactory | None = None,
        cross_pe: EncodingFactory | None = None,
        encoder_layers: NonNegativeInt = 1,
    ) -> None:
        super().__init__()
        self.end = end
        source_shape = dataclasses.replace(shape, layers=encoder_layers)
        self.encoder = Stack(vocabulary, source_shape, encoder_pe or pe, causal=False)
        self.stack = Stack(vocabulary, shape, pe, causal=True, cross=cross_pe or pe)
        self.head = nn.Linear(shape.width, vocabulary)

    def reader(self) -> Stack:
        return self.encoder

    def encode(self, batch: Batch) -> EncodedSource:
        assert batch.source is not None
        return EncodedSource(self.encoder(batch.source), batch.source.places, batch.source.valid)

    def check(self, batch: Batch) -> None:
        assert batch.source is not None
        self.encoder.check(batch.source.places, batch.source.places)
        super().check(batch)

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self.stack(batch.sequence, read=batch.read, memory=self.encode(batch)))

    @torch.inference_mode()
    def answer(self, batch: Batch) -> Tensor:
        step = stepwise(self.stack, self.head, batch.sequence, self.encode(batch))
        return greedy(step, batch, self.end)
