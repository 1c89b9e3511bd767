"""What a probe takes in memory, known before it starts: the cache, a chunk of logits, a chunk of attention weights."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import torch

from tenfold.core.errors import TenfoldError
from tenfold.features.probe.chunked_model import CHUNK, TRIED, ChunkedModel
from tenfold.runs.machine_memory import available

GIB = 2**30
WEIGHT_COPIES = 4  # of a chunk of weights: logits, masked, after the softmax, by distance
CACHE_COPIES = 5  # in a backward pass: keys and values, their gradients so far, of a chunk its past with gradients


@dataclass(frozen=True)
class ProbeMemory:
    """Bytes that each kind of pass takes beyond the model itself."""

    reader: ChunkedModel
    batch: int
    gradient: bool

    def cache(self, length: int) -> float:
        """Keys and values of all layers for one row."""
        return length * self._token

    @functools.cached_property
    def _token(self) -> float:
        """Bytes of keys and values of a token, from a cache that the model itself filled."""
        cache = self.reader.cache()
        if cache is None:
            return float(2 * self.reader.config.hidden_size * 4)
        with torch.inference_mode():
            self.reader.call(self.reader.trial, cache, head=False)
        size = sum(each.nbytes for keys, values, _ in cache for each in (keys, values) if each is not None)  # fmt: skip
        return size / (len(self.reader.trial) * TRIED)

    def need(self, length: int) -> float:
        """The most that a pass over so many tokens takes."""
        reader, cache = self.reader, self.cache(length)
        chunk = min(length, CHUNK) if reader.chunks else length
        logits = 12 * self.batch * chunk * reader.config.vocab_size
        passes = [2 * self.batch * cache + logits + 8 * self.batch * reader.heads * chunk * length]
        if reader.attention is not None:
            each = 4 * reader.heads * length * WEIGHT_COPIES
            weighed = reader.weighed_chunk(length) if reader.chunks else length
            passes.append(2 * cache + each * weighed)
            if self.gradient:
                kept = reader.graph_chunk(length) if reader.chunks else length
                passes.append(CACHE_COPIES * cache + each * kept * len(reader.layers))
        return max(passes)

    def check(self, longest: int, memory: float | None = None) -> None:
        """An error if the longest length does not fit, with the length that would. `memory` in GiB; else what is free."""
        room = free_memory(self.reader.model.device) if memory is None else memory * GIB
        if room is None or self.need(longest) <= room:
            return
        low, high = 0, longest
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.need(middle) <= room else (low, middle)
        fits = f"up to about {_rounded(low):,} tokens would fit" if low else "no length would fit"
        raise TenfoldError(
            f"a length of {longest:,} tokens needs about {self.need(longest) / GIB:.3g} GiB beyond the model, and "
            f"{room / GIB:.3g} GiB can be used; {fits}"
        )


def free_memory(device: torch.device) -> float | None:
    """Bytes that can be taken on a device; None where it does not say."""
    if device.type == "cpu":
        return available()
    backend: Any = getattr(torch, device.type, None)
    if hasattr(backend, "mem_get_info"):
        return float(backend.mem_get_info(device)[0])
    if hasattr(backend, "recommended_max_memory"):
        return float(backend.recommended_max_memory())
    return None


def _rounded(length: int) -> int:
    """
    >>> _rounded(12_345), _rounded(97)
    (12000, 97)
    """
    step = 10 ** max(0, len(str(length)) - 2)
    return length // step * step
