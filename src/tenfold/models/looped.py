"""A looped encoder: one stack, applied again and again to the question and to its own last answer.

Every loop reads the question anew (input injection), beside what the loop before gave: the answer that it wrote, as
tokens (`guess`), the hidden vectors that it left (`state`), or both. Loops end when no answer changes, so a carry may
run through as many columns as there are, whatever the depth of the stack.

Shapes: B rows, T tokens of a question, A answer places, D width, V vocabulary.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.data.batch import Batch
from tenfold.models.layers import Stochastic
from tenfold.models.model import AttentionModel
from tenfold.models.stack import EncodingFactory, Shape, Stack

Feedback = Literal["guess", "state", "both"]


class LoopInput(NamedTuple):
    """The input of a loop that the loop before made."""

    answer: Tensor  # (B, A) tokens
    state: Tensor | None  # (B, T, D)

    def rows(self, which: Tensor) -> LoopInput:
        return LoopInput(self.answer[which], None if self.state is None else self.state[which])


class Looped(Stochastic, AttentionModel):
    """Trained on 1 to `loops` loops, drawn for every step; gradients flow through the last one, or through `through`.

    At evaluation it loops until its answer stays the same, at most as often as there are places, plus `loops`.
    """

    name = "looped"
    layout = "in_place"
    gives = "loops"

    def __init__(
        self,
        vocabulary: int,
        end: int,
        shape: Shape,
        pe: EncodingFactory,
        loops: PositiveInt = 6,
        feedback: Feedback = "guess",
        through: PositiveInt = 1,
    ) -> None:
        super().__init__()
        self.stack = Stack(vocabulary, shape, pe, causal=False)
        self.head = nn.Linear(shape.width, vocabulary)
        self.nothing, self.loops, self.through = vocabulary, loops, through
        self.guess = nn.Embedding(vocabulary + 1, shape.width) if feedback != "state" else None
        self.state = nn.LayerNorm(shape.width) if feedback != "guess" else None
        if self.guess is not None:
            nn.init.normal_(self.guess.weight, std=0.02)

    def forward(self, batch: Batch) -> Tensor:
        """Logits after a random number of loops in training, else after `loops`; `settled` goes on until nothing changes."""
        count = self.loops
        if self.training:
            count = int(torch.randint(count, (), generator=self.generator)) + 1
        given = self._nothing(batch)
        with torch.no_grad():
            for _ in range(count - self.through):
                _, given = self._loop(batch, given)
        for _ in range(min(count, self.through)):
            logits, given = self._loop(batch, given)
        return logits

    @torch.inference_mode()
    def answer(self, batch: Batch) -> Tensor:
        return self.settled(batch)[0].argmax(-1)

    def settled(self, batch: Batch, most: int | None = None) -> tuple[Tensor, Tensor]:
        """Logits (B, A, V) of the loop after which a row's answer stayed the same, and the number of loops (B,).

        Each row continues as long as its answer changes, at most for `most` loops. Where the answer is all that
        a loop passes on, it would never change again; hidden vectors may still drift.
        """
        most = batch.read + self.loops if most is None else most
        logits, given = self._loop(batch, self._nothing(batch))
        counts = torch.ones(len(batch), dtype=torch.long, device=logits.device)
        going, rest = torch.arange(len(batch), device=logits.device), batch
        for count in range(2, most + 1):
            before = given.answer
            fresh, given = self._loop(rest, given)
            logits[going], counts[going] = fresh, count
            changed = (given.answer != before).any(1)
            if not changed.any():
                break
            if not changed.all():
                going, rest, given = going[changed], rest.rows(changed), given.rows(changed)
        return logits, counts

    def after(self, batch: Batch, loops: int) -> Tensor:
        """Logits (B, A, V) after exactly this number of loops."""
        given = self._nothing(batch)
        for _ in range(loops):
            logits, given = self._loop(batch, given)
        return logits

    def _nothing(self, batch: Batch) -> LoopInput:
        return LoopInput(torch.full_like(batch.target, self.nothing), None)

    def _loop(self, batch: Batch, given: LoopInput) -> tuple[Tensor, LoopInput]:
        """One pass: the logits, and the input of the next loop."""
        extra = None
        if self.guess is not None:
            ahead = batch.sequence.tokens.shape[1] - batch.read
            extra = F.pad(self.guess(given.answer), (0, 0, ahead, 0))
        if self.state is not None and given.state is not None:
            kept = self.state(given.state)
            extra = kept if extra is None else extra + kept
        x = self.stack(batch.sequence, extra=extra)
        logits = self.head(x[:, -batch.read :])
        return logits, LoopInput(logits.argmax(-1), x)
