"""Perplexity against length: how well a model predicts one and the same text with more and more of it in sight.

At every length the same tokens are predicted, each once: those of passages that are spread evenly over the text. Slices:

- `uniform`: blocks of that length, one after another; the first token of a block sees one token, the last one the block;
- `sliding`: blocks that overlap by three quarters; every token sees at least three quarters of a block before it;
- `positions`: the loss of `uniform` by place in the block: `position-1`, `position-2`, `position-3-4`, `position-5-8`, ...

Shapes: P passages, W tokens of a passage that are predicted, B blocks of a batch, T tokens of a block, V vocabulary.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.batch import running_text
from tenfold.data.schemes import Scheme
from tenfold.encodings.exact_angles import exactly
from tenfold.evals.exact_match import MEMORY
from tenfold.evals.exact_match import MOST as LARGEST
from tenfold.evals.statistics import Measurement, bootstrap
from tenfold.models import Model

OVERLAP = 4  # a sliding block moves on by a fourth of itself
MOST = 512  # queries at a time: less of what lies ahead is computed, to be hidden

Losses = NDArray[np.float64]
Tokens = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class TextMemory:
    """What a block of text takes, in bytes, of a model of this size."""

    heads: int = 8
    width: int = 128
    layers: int = 3
    vocabulary: int = 256
    bytes: int = MEMORY  # that may be taken
    most: float = LARGEST  # that one block may take

    def query(self, length: int) -> int:
        """One token, of which all before it are seen: logits, weights, a bias and distances; then its own logits."""
        return length * (16 * self.heads + 32) + 64 * self.width + 28 * self.vocabulary

    def block(self, length: int) -> int:
        """One block that is read token by token: keys and values of all, and a query."""
        return 8 * self.layers * self.width * length + self.query(length)

    def plan(self, length: int) -> tuple[int, int]:
        """How many blocks at once, and how many tokens of each."""
        if self.block(length) > self.most:
            most = int(self.most // (8 * self.layers * self.width + 16 * self.heads + 32))
            raise TenfoldError(
                f"a length of {length:,} tokens needs about {self.block(length) / 2**30:.1f} GiB of memory, and one block "
                f"may take {self.most / 2**30:.1f} GiB; this model can read up to about {most:,} (--force goes on)"
            )
        keys = self.block(length) - self.query(length)  # and values, of one block
        part = max(1, min(length, MOST, self.bytes // self.query(length)))
        blocks = max(1, self.bytes // (part * self.query(length) + keys))
        return min(blocks, 256), part


@dataclass(frozen=True)
class Reader:
    """Lets a model predict a text: the same tokens for the same seed."""

    text: Tokens  # (M,) that is read, mapped or in memory
    widths: NDArray[np.int64] | None = None  # bytes of each token, for bits per byte: (V,)
    schemes: Sequence[Scheme] = ()
    passage: int = 1  # tokens of one, unless a longer length is requested
    seed: int = 0  # 0 reads from the beginning of the text on, another from elsewhere
    memory: TextMemory = TextMemory()
    device: str = "cpu"

    def rows(
        self,
        model: Model,
        lengths: Sequence[int],
        slices: Sequence[str] = ("uniform",),
        n: int = 1000,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Measurement]:
        """Perplexity, loss (nats a token) and bits per byte of n tokens; 95% intervals over passages of the text."""
        for name in slices:
            if name not in SLICES:
                raise unknown("slice of a text", name, SLICES)
        passages = self.passages(n, max(lengths))
        rows: list[Measurement] = []
        for done, length in enumerate(lengths):
            read = Read(self, model, passages, length)
            for name in slices:
                rows += SLICES[name](read)
            if progress is not None:
                progress(done + 1, len(lengths))
        return rows

    def passages(self, n: int, longest: int) -> NDArray[np.int64]:
        """What is read: of each passage all tokens but the first are predicted, n in all or a little less: (P, W + 1)."""
        there = len(self.text) - 1
        if not 1 <= longest <= min(n, there):
            raise TenfoldError(
                f"a length of {longest:,} tokens; at least 1, and at the most the {min(n, there):,} tokens that are "
                f"predicted (n is {n:,}, the text has {there + 1:,})"
            )
        width = min(max(longest, self.passage), n, there)
        count = min(n, there) // width
        room = there // count  # from the beginning of one passage to that of the next
        first = int(np.random.default_rng(self.seed).integers(room - width + 1)) if self.seed else 0
        starts = first + room * np.arange(count)
        return np.stack([self.text[s : s + width + 1] for s in starts]).astype(np.int64)

    def blocks(self, model: Model, passages: NDArray[np.int64], length: int) -> Losses:
        """The loss of every token, in blocks one after another, the last one as long as its passage: (P, W)."""
        width = passages.shape[1] - 1
        starts = range(0, width, length)
        parts = [self._losses(model, passages[:, s : s + length + 1]) for s in starts]
        return np.concatenate(parts, axis=1)

    def sliding(self, model: Model, passages: NDArray[np.int64], length: int) -> Losses:
        """The loss of every token in blocks that overlap, of each block only what no block before it had: (P, W)."""
        width, step = passages.shape[1] - 1, max(1, length // OVERLAP)
        parts, had = [], 0
        for start in [*range(0, width - length, step), width - length]:
            losses = self._losses(model, passages[:, start : start + length + 1])
            parts.append(losses[:, had - start :])
            had = start + length
        return np.concatenate(parts, axis=1)

    @torch.inference_mode()
    def _losses(self, model: Model, rows: NDArray[np.int64]) -> Losses:
        """Of the tokens of each row but its first: (rows, T)."""
        at_once, part = self.memory.plan(rows.shape[1] - 1)
        losses = np.empty((len(rows), rows.shape[1] - 1))
        for first in range(0, len(rows), at_once):
            tokens = torch.from_numpy(rows[first : first + at_once])
            batch = running_text(tokens, self.schemes).to(self.device)
            done = 0
            for logits in model.in_parts(batch, part):
                target = batch.target[:, done : done + logits.shape[1]]
                exact = exactly(logits.mT).double()  # (B, V, T)
                loss = F.cross_entropy(exact, exactly(target), reduction="none")
                losses[first : first + len(tokens), done : done + target.shape[1]] = loss.cpu()
                done += target.shape[1]
        return losses


@dataclass(frozen=True)
class Read:
    """A text as a model reads it at one length."""

    reader: Reader
    model: Model
    passages: NDArray[np.int64]
    length: int

    @functools.cached_property
    def blocks(self) -> Losses:
        return self.reader.blocks(self.model, self.passages, self.length)

    def uniform(self) -> Iterator[Measurement]:
        """Blocks one after another."""
        return self._told(self.blocks, "uniform")

    def sliding(self) -> Iterator[Measurement]:
        """Blocks that overlap by three quarters."""
        return self._told(self.reader.sliding(self.model, self.passages, self.length), "sliding")

    def positions(self) -> Iterator[Measurement]:
        """The loss by place in the block."""
        yield from by_position(self.blocks, self.length)

    def _told(self, losses: Losses, label: str) -> Iterator[Measurement]:
        n, mean, bounds = losses.size, float(losses.mean()), interval(losses)
        yield Measurement(self.length, label, "loss", mean, n, *bounds)
        yield Measurement(self.length, label, "perplexity", math.exp(mean), n, *map(_exp, bounds))
        if self.reader.widths is not None:
            scale = n / float(self.reader.widths[self.passages[:, 1:]].sum()) / math.log(2)
            bits = (None if bound is None else bound * scale for bound in bounds)
            yield Measurement(self.length, label, "bits-per-byte", mean * scale, n, *bits)


SLICES: dict[str, Callable[[Read], Iterator[Measurement]]] = {
    "uniform": Read.uniform,
    "sliding": Read.sliding,
    "positions": Read.positions,
}


def _exp(value: float | None) -> float | None:
    return None if value is None else math.exp(value)


def interval(losses: Losses) -> tuple[float | None, float | None]:
    """What the mean loss of other such text would be, 95%: bootstrap over passages, within which losses go together.

    >>> interval(np.array([[1.0, 3.0], [2.0, 2.0]]))
    (2.0, 2.0)
    >>> interval(np.array([[1.0, 3.0]]))
    (None, None)
    """
    return bootstrap(losses.mean(1).tolist(), np.mean) or (None, None)


def by_position(losses: Losses, length: int) -> list[Measurement]:
    """The mean loss of blocks by how many tokens are in sight, in steps that double.

    >>> rows = by_position(np.array([[4.0, 3.0, 2.0, 1.0, 4.0, 3.0, 2.0, 1.0]]), 4)
    >>> [(row.slice, row.value, row.n) for row in rows]
    [('position-1', 4.0, 2), ('position-2', 3.0, 2), ('position-3-4', 1.5, 4)]
    """
    place = np.arange(losses.shape[1]) % length + 1
    rows, low, high = [], 1, 1
    while low <= length:
        inside = losses[:, (place >= low) & (place <= high)]
        name = f"position-{low}" if low == high else f"position-{low}-{high}"
        rows.append(Measurement(length, name, "loss", float(inside.mean()), inside.size))
        low, high = high + 1, min(2 * high, length)
    return rows
