"""Decoder-only: the question, then the answer digit by digit, with a cache of keys and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from tenfold.data.batch import Batch, Tokens
from tenfold.models.model import AttentionModel
from tenfold.models.stack import Caches, EncodedSource, EncodingFactory, Shape, Stack


class Decoder(AttentionModel):
    """Question and answer in one sequence, each token seeing those before it."""

    name = "decoder"
    layout = "causal"

    def __init__(self, vocabulary: int, end: int, shape: Shape, pe: EncodingFactory) -> None:
        super().__init__()
        self.end = end
        self.stack = Stack(vocabulary, shape, pe, causal=True)
        self.head = nn.Linear(shape.width, vocabulary)

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self.stack(batch.sequence, read=batch.read))

    @torch.inference_mode()
    def answer(self, batch: Batch) -> Tensor:
        return self.write(batch, likeliest)

    @torch.inference_mode()
    def write(self, batch: Batch, choose: Choose) -> Tensor:
        """As `answer`, but each token is chosen from its logits."""
        return greedy(stepwise(self.stack, self.head, batch.sequence), batch, self.end, choose)

    def in_parts(self, batch: Batch, size: int) -> Iterator[Tensor]:
        """With a cache: memory for `size` queries at a time, not for all pairs of tokens."""
        sequence, count = batch.sequence, batch.sequence.tokens.shape[1]
        first = count - batch.read  # what stands before it is not read
        caches = Caches(self.stack, sequence)
        for start in range(0, count, size):
            here = stretch(sequence, start, min(start + size, count))
            hidden = self.stack(here, caches=caches)[:, max(0, first - start) :]
            if hidden.shape[1]:
                yield self.head(hidden)


Choose = Callable[[Tensor], Tensor]  # logits (B, V) -> tokens (B,)
Step = Callable[
    [Tokens], Tensor
]  # the tokens that follow those before -> logits (B, V) after the last


def likeliest(logits: Tensor) -> Tensor:
    return logits.argmax(-1)


def stretch(sequence: Tokens, start: int, stop: int, tokens: Tensor | None = None) -> Tokens:
    """A part of a sequence, or other tokens in its places."""
    valid = None if sequence.valid is None else sequence.valid[:, start:stop]
    tokens = sequence.tokens[:, start:stop] if tokens is None else tokens
    return Tokens(tokens, sequence.places.slice(start, stop), valid)


def stepwise(
    stack: Stack, head: nn.Linear, sequence: Tokens, memory: EncodedSource | None = None
) -> Step:
    """A stack that reads a sequence in steps, with caches."""
    caches = Caches(stack, sequence)
    return lambda tokens: head(stack(tokens, read=1, memory=memory, caches=caches)[:, -1])


def greedy(step: Step, batch: Batch, end: int, choose: Choose = likeliest) -> Tensor:
    """The most likely token at each place, one after another; stops when every row has ended: (B, A)."""
    answer = torch.full_like(batch.target, end)
    start, tokens = 0, batch.sequence.tokens[:, : batch.given]
    for place in range(batch.read):
        stop = start + tokens.shape[1]
        answer[:, place] = choose(step(stretch(batch.sequence, start, stop, tokens)))
        if (answer[:, : place + 1] == end).any(1).all():
            break
        start, tokens = stop, answer[:, place : place + 1]
    return closed(answer, batch, end)


def closed(answer: Tensor, batch: Batch, end: int) -> Tensor:
    """Answers (B, A) with nothing but `end` after their end, and beyond a row's last place."""
    if batch.sequence.valid is not None:
        there = batch.sequence.valid[:, batch.given - 1 : batch.given - 1 + batch.read]
        answer = answer.masked_fill(~there, end)
    return answer.masked_fill((answer == end).cumsum(1) > 0, end)
