"""Test on a model what `locality` takes from its declarations: tokens out of sight change no bit of a logit.

Shapes: B rows, T tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batch, Batcher, Tokens
from tenfold.data.roles import Role
from tenfold.data.tasks import samplers
from tenfold.data.tasks.task import Ints
from tenfold.models.locality import AXIS, Local
from tenfold.models.model import Model, attention_in

COLUMNS = (10, 100, 1000)  # of the problems on which a model is tested
PAIRS = 2**22  # of tokens, up to which layers before the last compute all queries at once
PART = 256  # queries at a time beyond that


@torch.inference_mode()
def leak(model: Model, batcher: Batcher, local: Local) -> str | None:
    """Where a token that should be out of sight changes a logit, in a sentence; None if it was found nowhere.

    At 10, 100 and 1,000 columns, every token outside `local` is replaced by another one, and the logits of a digit
    are compared bit by bit. A format that holds fewer columns is tested with as many as it holds.
    """
    training = model.training
    model.eval()
    generator = torch.Generator().manual_seed(0)
    try:
        for columns, batch in long_batches(model, batcher):
            for place in tested_places(columns, batch.read):
                other = unseen_replaced(batch, place, local, len(batcher.vocabulary), generator)
                if not _same_bits(logits_at(model, batch, place), logits_at(model, other, place)):
                    return (
                        f"the model declares that a digit depends on {local.columns + 1} column(s), but at {columns} "
                        f"columns other tokens further away change the logits of the digit at column {place}"
                    )
    finally:
        model.train(training)
    return None


def long_batches(model: Model, batcher: Batcher) -> Iterator[tuple[int, Batch]]:
    """Problems of 10, 100 and 1,000 columns, or of as many as the format and the model take."""
    rng, limit = np.random.default_rng(0), batcher.format.longest() or max(COLUMNS)
    for columns in sorted({min(columns, limit) for columns in COLUMNS}):
        examples = batcher.task.sample(max(1, 40 // columns), columns, rng, samplers.exact)
        batch = batcher(examples).to(model.device)
        try:
            model.check(batch)
        except TenfoldError:
            return
        yield columns, batch


def tested_places(columns: int, read: int) -> list[int]:
    """Answer places to test: all of short answers; of long ones the middle, and the last column of digits."""
    return list(range(read)) if columns < 20 else [columns // 2, min(columns, read) - 1]


def unseen_replaced(
    batch: Batch, place: int, local: Local, vocabulary: int, generator: torch.Generator
) -> Batch:
    """The batch with other tokens wherever the digit at this place should not see."""

    def replaced(side: Tokens, behind: int) -> Tokens:
        unseen = out_of_sight(side, place, behind, local)
        by = torch.randint(1, vocabulary, side.tokens.shape, generator=generator)
        tokens = (side.tokens + by.to(side.tokens.device)) % vocabulary
        return replace(side, tokens=torch.where(unseen, tokens, side.tokens))

    source = None if batch.source is None else replaced(batch.source, local.columns)
    return replace(batch, sequence=replaced(batch.sequence, local.start), source=source)


def out_of_sight(side: Tokens, place: int, behind: int, local: Local) -> Tensor:
    """Which tokens the digit at this place does not depend on, (B, T): no hub, and not of columns in sight."""
    column, role = torch.broadcast_tensors(side.places[AXIS], side.places["role"])
    unseen = (column < 0) | (column > place) | (column < place - behind)
    unseen = unseen | (role == Role.ANSWER) & (column <= place - local.answers)
    for hub in local.hubs:
        unseen = unseen & (role != hub)
    return unseen.expand(side.tokens.shape)


@torch.inference_mode()
def logits_at(model: Model, batch: Batch, place: int, before: Ints | None = None) -> Tensor:
    """The logits (B, V) at one answer place, given the true answer tokens before it, or `before` (B, place)."""
    whole, stop = batch.sequence, batch.given + place  # later tokens are not visible
    tokens = whole.tokens[:, :stop].clone()
    if before is not None and place:
        tokens[:, batch.given :] = torch.from_numpy(before)
    valid = None if whole.valid is None else whole.valid[:, :stop]
    here = Tokens(tokens, whole.places.slice(0, stop), valid)
    target = batch.target[:, place : place + 1]
    cut = replace(batch, sequence=here, target=target).to(model.device)
    layers = len(attention_in(model, "logits at a place").stack.blocks)
    if layers > 1 and tokens.shape[1] ** 2 > PAIRS:
        *_, last = model.in_parts(cut, PART)
        return last[:, -1]
    return model(cut)[:, -1]


def _same_bits(first: Tensor, second: Tensor) -> bool:
    return bool(((first == second) | (first.isnan() & second.isnan())).all())
