"""How much the last prediction depends on what stands at each distance, by gradient, chunk by chunk.

Of a layer: |d logit / d x| of the largest logit at the last token, where x is a token's input vector of the layer. Of a
head: |w d logit / d w| for each of its attention weights w, by the distance between query and key.

The text is read once in chunks to fill the cache. Then the chunks are read again from last to first, each with the keys
and values of all before it as inputs. Its backward pass gives the gradients of those, which are added up and enter the
chunk that made them. So the gradients are exact, and the graph of one chunk at a time is in memory.

Shapes: B rows, L layers, H heads, T tokens of a chunk, S tokens, K head size.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import DynamicCache

from tenfold.core.errors import TenfoldError
from tenfold.evals.distance_sums import by_distance
from tenfold.features.probe.chunked_model import CHUNK, ChunkedModel


class GradientSums(NamedTuple):
    """Sums over rows by distance, in float64."""

    heads: Tensor  # (L, H, S)
    inputs: Tensor  # (L, S): from the last token

    def __add__(self, other: GradientSums) -> GradientSums:  # type: ignore[override]
        return GradientSums(*(a + b for a, b in zip(self, other, strict=True)))


def gradient_sums(reader: ChunkedModel, tokens: Tensor) -> GradientSums:
    """Measure the gradients of a model that reads tokens (B, S)."""
    length, layers = tokens.shape[1], len(reader.layers)
    sums = GradientSums(
        torch.zeros(layers, reader.heads, length, dtype=torch.float64),
        torch.zeros(layers, length, dtype=torch.float64),
    )
    known = _filled(reader, tokens)
    owed = [torch.zeros_like(each) for each in known]  # gradients of keys and values so far
    with _frozen(reader.model), torch.enable_grad():
        for part in reversed(reader.parts(length, reader.graph_chunk(length))):
            _backward(reader, tokens, part, known, owed, sums)
    return sums


def _backward(
    reader: ChunkedModel,
    tokens: Tensor,
    part: slice,
    known: Sequence[Tensor],
    owed: Sequence[Tensor],
    sums: GradientSums,
) -> None:
    """Read one chunk and go back through it; add to `owed` what its past is owed, and to the sums."""
    length, last = tokens.shape[1], part.stop == tokens.shape[1]
    past = [each[:, :, : part.start].detach().requires_grad_() for each in known]
    cache = _cache(past) if reader.chunks else None
    weights: list[Tensor] = []
    with reader.watched(lambda _, seen: weights.append(seen)), _inputs(reader.layers) as inputs:
        out = reader.call(tokens[:, part], cache, head=last)
    targets, given = [], []
    if cache is not None:
        made = [each[:, :, part.start :] for each in _flat(cache)]
        targets, given = made, [each[:, :, part] for each in owed]
    if last:
        targets = [*targets, out.logits[:, -1].float().amax(-1).sum()]
        given = [*given, torch.ones_like(targets[-1])]
    live = [(t, g) for t, g in zip(targets, given, strict=True) if t.requires_grad]
    wanted = [*weights, *inputs, *(past if part.start else [])]
    found = torch.autograd.grad([t for t, _ in live], wanted, [g for _, g in live], allow_unused=True)  # fmt: skip
    layers = len(reader.layers)
    for layer in range(layers):
        moved, brought = found[layer], found[layers + layer]
        if moved is not None:
            flow = (weights[layer].detach() * moved).float().abs().sum(0)  # (H, T, S)
            sums.heads[layer, :, : part.stop] += by_distance(flow).cpu()
        if brought is not None:
            sizes = brought.float().norm(dim=-1).sum(0).flip(0).cpu()  # (T,), the nearest first
            sums.inputs[layer, length - part.stop : length - part.start] += sizes
    for total, more in zip(owed, found[2 * layers :], strict=False):
        if more is not None:
            total[:, :, : part.start] += more


@torch.no_grad()
def _filled(reader: ChunkedModel, tokens: Tensor) -> list[Tensor]:
    """The keys and values of all tokens but the last chunk's, which makes its own: [(B, H, S, K)], by layer."""
    cache = reader.cache()
    if cache is None:
        return []
    for part in reader.parts(tokens.shape[1], CHUNK):
        reader.call(tokens[:, part], cache, head=False)
    return _flat(cache)


def _flat(cache: DynamicCache) -> list[Tensor]:
    """Keys and values of every layer that has them."""
    return [each for keys, values, _ in cache if keys is not None for each in (keys, values)]


def _cache(past: Sequence[Tensor]) -> DynamicCache:
    """A cache that holds these keys and values."""
    cache = DynamicCache()
    if past[0].shape[2]:
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
    return cache


@contextlib.contextmanager
def _frozen(model: nn.Module) -> Iterator[None]:
    """Ask for no gradient of parameters, which would take as much memory as they do."""
    learned = [each for each in model.parameters() if each.requires_grad]
    for each in learned:
        each.requires_grad_(False)
    try:
        yield
    finally:
        for each in learned:
            each.requires_grad_(True)


@contextlib.contextmanager
def _inputs(layers: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """Record the input vectors of every layer. Those of the first have no past in the graph, which begins there."""
    seen: list[Tensor] = []

    def keep(_module: nn.Module, args: Any, kwargs: Any) -> tuple[Any, Any]:
        x = args[0] if args else kwargs.get("hidden_states")
        if not isinstance(x, Tensor):
            raise TenfoldError("a layer of this model takes its input by another name; use --no-gradient")  # fmt: skip
        x = x if seen else x.detach().requires_grad_()
        seen.append(x)
        return ((x, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": x})

    with contextlib.ExitStack() as hooks:
        for layer in layers:
            hooks.callback(layer.register_forward_pre_hook(keep, with_kwargs=True).remove)
        yield seen
