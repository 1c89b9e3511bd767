"""Empirical receptive fields of a trained model, by attention and by gradient.

By attention: the weights of a head are averaged by distance, over rows and over the last graded queries. The field is the
number of nearest distances that hold more than 1 - eps of them, as in theory (`receptive_field.py`).

By gradient: |d logit / d x| of the largest logit at the last graded token, where x is a token's input vector of a layer.
The field of the first layer is the field of the whole model. For a head: |w d logit / d w| for each of its weights w.

No field is longer than the sequence. Distances count tokens of the sequence that contains the answer; attention to an
encoded source has no distances.

Shapes: B rows, H heads, T queries, S keys, L layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, Batch
from tenfold.evals.distance_sums import quantile
from tenfold.models import AttentionModel, Model, attention_in
from tenfold.models.layers import Attention
from tenfold.models.stack import Stack

MEMORY = 2**31  # bytes of weights and gradients in memory at a time
LATE = 0.125  # the last graded queries of a row, as a share: they count, having the most keys


@dataclass(frozen=True)
class Fields:
    """Receptive fields: of every head (L, H) by attention and by gradient, of every layer (L,) by gradient."""

    eps: float
    tokens: int  # in a sequence
    attention: Tensor
    head_gradient: Tensor
    layer_gradient: Tensor
    shares: Tensor  # (L, H, S): attention by distance

    @property
    def gradient(self) -> int:
        """The field of the whole model, by gradient at the input."""
        return int(self.layer_gradient[0])


def fields(
    model: Model,
    batch: Batch,
    eps: float = 0.05,
    progress: Callable[[int, int], None] | None = None,
) -> Fields:
    """Measure the fields of the stack that writes the answer, over the rows of a batch."""
    if not 0 < eps < 1:
        raise TenfoldError(f"a share eps of {eps}; above 0 and below 1")
    model = attention_in(model, "a receptive field")
    stack, tokens = model.stack, batch.sequence.tokens.shape[1]
    blocks = len(stack.blocks)
    if blocks == 0:
        raise TenfoldError("a model without layers has no receptive field")
    heads = _attention(stack, 0).heads
    call = 3 * 4 * blocks * heads * tokens**2  # weights, their logits and gradients
    if call > MEMORY:
        most = int((MEMORY / (3 * 4 * blocks * heads)) ** 0.5)
        raise TenfoldError(
            f"{tokens} tokens a row would take {call / 2**30:.1f} GB here; at most {most} tokens"
        )
    rows = max(1, MEMORY // call)
    weights, moved = torch.zeros(2, blocks, heads, tokens, dtype=torch.float64)
    inputs = torch.zeros(blocks, tokens, dtype=torch.float64)
    for start in range(0, len(batch), rows):
        for total, part in zip(
            (weights, moved, inputs),
            _looked(model, batch.rows(slice(start, start + rows))),
            strict=True,
        ):
            total += part
        if progress is not None:
            progress(min(start + rows, len(batch)), len(batch))
    return Fields(
        eps, tokens, quantile(weights, eps), quantile(moved, eps), quantile(inputs, eps),
        weights / weights.sum(-1, keepdim=True),
    )  # fmt: skip


def _looked(model: AttentionModel, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Sums over rows by distance: attention (L, H, S), its gradients (L, H, S) and gradients of inputs (L, S)."""
    stack, tokens = model.stack, batch.sequence.tokens.shape[1]
    was_training = model.training
    model.eval()
    with torch.enable_grad(), _recorded(stack) as (weights, inputs):
        logits = model(batch)  # (B, A, V)
        last = _last_graded(batch)
        picked = logits[torch.arange(len(batch)), last]
        moved = torch.autograd.grad(picked.amax(-1).sum(), [*_flat(weights), *_flat(inputs)])
    model.train(was_training)
    by_weight, by_input = moved[: len(_flat(weights))], moved[len(_flat(weights)) :]
    at = tokens - batch.read + last  # (B,)
    late = _late(batch, tokens)
    attended, flow = torch.zeros(
        2, len(weights), weights[0][0].shape[1], tokens, dtype=torch.float64
    )
    brought = torch.zeros(len(inputs), tokens, dtype=torch.float64)
    number = 0
    for layer, calls in enumerate(weights):
        for call in calls:  # more than one where layers loop
            queries = torch.arange(tokens)[-call.shape[2] :]
            seen = call.detach() * late[:, None, -call.shape[2] :, None]
            attended[layer] += _by_distance(seen.sum(0), queries)
            flow[layer] += _by_distance((call.detach() * by_weight[number]).abs().sum(0), queries)
            number += 1
    number = 0
    for layer, calls in enumerate(inputs):
        for _ in calls:
            sizes = by_input[number].norm(dim=-1)  # (B, T)
            away = (at[:, None] - torch.arange(sizes.shape[1])).abs()
            brought[layer].index_add_(0, away.flatten(), sizes.double().flatten())
            number += 1
    return attended, flow, brought


def _by_distance(amounts: Tensor, queries: Tensor) -> Tensor:
    """Sum by the distance between query and key: (H, T, S) -> (H, S)."""
    heads, _, keys = amounts.shape
    away = (queries[:, None] - torch.arange(keys)).abs().flatten()
    total = torch.zeros(heads, keys, dtype=torch.float64)
    return total.index_add_(1, away, amounts.double().flatten(1))


def _late(batch: Batch, tokens: int) -> Tensor:
    """(B, T): the last eighth of a row's graded queries, at least one. End tokens and padding do not count."""
    graded = batch.target != IGNORED
    number = graded.cumsum(1) - 1  # of a graded query in its row
    count = graded.sum(1, keepdim=True)
    first = torch.minimum(count * (1 - LATE), count - 1.0)
    late = torch.zeros(len(batch), tokens, dtype=torch.bool)
    late[:, tokens - batch.read :] = graded & (number >= first)
    return late


def _last_graded(batch: Batch) -> Tensor:
    """(B,): the last graded place of each answer."""
    graded = batch.target != IGNORED
    places = torch.arange(batch.read)
    return torch.where(graded, places, 0).amax(1)


def _attention(stack: Stack, layer: int) -> Attention:
    """The self-attention of a layer."""
    for module in stack.blocks[layer].modules():
        if isinstance(module, Attention) and not module.crossing:
            return module
    raise TenfoldError(f"layer {layer + 1} has no attention to its own sequence")


@contextmanager
def _recorded(stack: Stack) -> Iterator[tuple[list[list[Tensor]], list[list[Tensor]]]]:
    """Record the attention weights and the input vectors of each layer, with gradients enabled."""
    weights: list[list[Tensor]] = [[] for _ in stack.blocks]
    inputs: list[list[Tensor]] = [[] for _ in stack.blocks]
    hooks = []
    for layer, block in enumerate(stack.blocks):

        def keep(_module: nn.Module, _given: object, out: Tensor, layer: int = layer) -> None:
            weights[layer].append(out)

        def enter(_module: nn.Module, given: tuple[Tensor, ...], layer: int = layer) -> None:
            inputs[layer].append(given[0])

        hooks.append(_attention(stack, layer).weights.register_forward_hook(keep))
        hooks.append(block.register_forward_pre_hook(enter))
    try:
        yield weights, inputs
    finally:
        for hook in hooks:
            hook.remove()


def _flat(parts: list[list[Tensor]]) -> list[Tensor]:
    return [each for calls in parts for each in calls]
