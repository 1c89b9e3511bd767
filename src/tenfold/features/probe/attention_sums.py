"""What is counted of attention: how much goes to each distance, and how much to the first tokens of the text.

The last eighth of the queries counts, as in `tenfold erf`: these have the most keys. All tokens before them are read in
large chunks that make no weights.

Shapes: B rows, L layers, H heads, S tokens.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tenfold.evals.distance_sums import by_distance
from tenfold.features.probe.chunked_model import CHUNK, ChunkedModel

LATE = 8  # one of so many queries counts: the last ones
FIRST = 4  # tokens at the beginning of a text that are counted by themselves


class AttentionSums(NamedTuple):
    """Sums over rows and late queries, in float64."""

    weights: Tensor  # (L, H, S): by distance
    sinks: Tensor  # (L, H, S): the part of it that goes to the first tokens of the text
    first: Tensor  # (L, H): to the very first token
    queries: Tensor  # (): how many there are

    def __add__(self, other: AttentionSums) -> AttentionSums:  # type: ignore[override]
        return AttentionSums(*(a + b for a, b in zip(self, other, strict=True)))


@torch.inference_mode()
def attention_sums(reader: ChunkedModel, tokens: Tensor) -> AttentionSums:
    """Count the attention of a model that reads tokens (B, S)."""
    rows, length = tokens.shape
    late = length - max(1, length // LATE)
    layers = len(reader.layers)
    weights, sinks = torch.zeros(2, layers, reader.heads, length, dtype=torch.float64)
    first = torch.zeros(layers, reader.heads, dtype=torch.float64)
    begin = 0

    def count(layer: int, seen: Tensor) -> None:
        """Of weights (B, H, T, S) of the chunk that begins at `begin`."""
        kept = seen[:, :, max(0, late - begin) :].float().sum(0)  # (H, T, S)
        queries, keys = kept.shape[1:]
        weights[layer, :, :keys] += by_distance(kept).cpu()
        first[layer] += kept[:, :, 0].sum(1).cpu()
        for key in range(min(FIRST, keys)):
            seeing = kept[:, max(0, key - (keys - queries)) :, key]  # by queries at it or after it
            sinks[layer, :, keys - key - seeing.shape[1] : keys - key] += seeing.cpu()

    cache = reader.cache()
    if reader.chunks:
        for part in reader.parts(late, CHUNK):
            reader.call(tokens[:, part], cache, head=False)
        begin = late
    with reader.watched(count):
        for part in reader.parts(length - begin, reader.weighed_chunk(length)):
            chunk = slice(begin, begin + part.stop - part.start)
            reader.call(tokens[:, chunk], cache, head=False)
            begin = chunk.stop
    return AttentionSums(weights, sinks, first, torch.tensor(float(rows * (length - late))))
