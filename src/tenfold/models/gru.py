"""A recurrent network: stacked gated recurrent units (Cho et al., arXiv 1406.1078), which read and write left to right.

It has no attention: all that it knows of the question is a state of fixed size. An encoding may add to its input.

Shapes: B rows, T tokens, A answer tokens, D width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn

from tenfold.data.batch import Batch, Tokens
from tenfold.encodings.encoding import Attends
from tenfold.models.decoder import Choose, greedy, likeliest, stretch
from tenfold.models.layers import Dropout
from tenfold.models.model import Model
from tenfold.models.stack import EncodingFactory, Encodings, Shape, check_places

States = list[Tensor | None]  # of each layer: (B, D) after the tokens so far; None before the first


class GRU(Model):
    """A gated recurrent network that reads the question and writes the answer; it uses layers, width and dropout."""

    name = "gru"
    layout = "causal"

    def __init__(self, vocabulary: int, end: int, shape: Shape, pe: EncodingFactory) -> None:
        super().__init__()
        self.end, width = end, shape.width
        self.embedding = nn.Embedding(vocabulary, width)
        self.encodings = Encodings(
            pe, replace(shape, layers=0), Attends.CAUSAL, f'a model of the kind "{self.name}"'
        )
        self.layers = nn.ModuleList(
            nn.GRU(width, width, batch_first=True) for _ in range(shape.layers)
        )
        embedding = shape.embedding_dropout
        self.embedding_dropout = Dropout(shape.dropout if embedding is None else embedding)
        self.dropout = Dropout(shape.dropout)
        self.head = nn.Linear(width, vocabulary)

    @property
    def attends(self) -> bool:
        return False

    def check(self, batch: Batch) -> None:
        check_places(self.encodings[0], batch.sequence.places, batch.sequence.places)

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self._hidden(batch.sequence)[:, -batch.read :])

    @torch.inference_mode()
    def answer(self, batch: Batch) -> Tensor:
        return self.write(batch, likeliest)

    @torch.inference_mode()
    def write(self, batch: Batch, choose: Choose) -> Tensor:
        """As `answer`, but each token is chosen from its logits."""
        states: States = [None] * len(self.layers)
        step = lambda tokens: self.head(self._hidden(tokens, states)[:, -1])  # noqa: E731
        return greedy(step, batch, self.end, choose)

    def in_parts(self, batch: Batch, size: int) -> Iterator[Tensor]:
        count = batch.sequence.tokens.shape[1]
        first = count - batch.read
        states: States = [None] * len(self.layers)
        for start in range(0, count, size):
            here = stretch(batch.sequence, start, min(start + size, count))
            hidden = self._hidden(here, states)[:, max(0, first - start) :]
            if hidden.shape[1]:
                yield self.head(hidden)

    def _hidden(self, tokens: Tokens, states: States | None = None) -> Tensor:
        """(B, T, D). With states, the tokens follow those that made the states, which are then brought up to date."""
        check_places(self.encodings[0], tokens.places, tokens.places)
        x = self.encodings[0].embed(self.embedding(tokens.tokens), tokens.places)
        x, order = self.embedding_dropout(x), None
        if tokens.valid is not None:  # padding goes to the end of its row, where it changes nothing
            valid = tokens.valid.expand(tokens.tokens.shape)
            order = (~valid).byte().argsort(dim=1, stable=True).unsqueeze(-1)  # (B, T, 1)
            x = x.gather(1, order.expand_as(x))
        for number, layer in enumerate(self.layers):
            before = None if states is None else states[number]
            before = x.new_zeros(len(x), x.shape[2]) if before is None else before
            out, _ = layer(x, before.unsqueeze(0))
            if states is not None:
                states[number] = out[:, -1]
                if tokens.valid is not None:
                    last = valid.sum(1)[:, None, None].expand(-1, 1, x.shape[2])
                    states[number] = torch.cat([before.unsqueeze(1), out], 1).gather(1, last)[:, 0]
            x = self.dropout(out)
        if order is None:
            return x
        x = x.gather(1, order.argsort(1).expand_as(x))
        return x.masked_fill(~valid.unsqueeze(-1), 0.0)
