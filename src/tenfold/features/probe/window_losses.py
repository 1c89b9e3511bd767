"""The loss of every token of a text at one length: in windows one after another, or in windows that overlap.

Both ways predict the same tokens, each once. A window of `length` tokens predicts the token after each of them.

Shapes: P passages, W tokens of a passage that are predicted, B windows, T tokens of a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tenfold.evals.perplexity import OVERLAP, Losses
from tenfold.features.probe.chunked_model import ChunkedModel


class TextWindow(NamedTuple):
    """Tokens of a passage that are read together. Those from `scored` on count; a window before had the others."""

    passage: int
    start: int
    length: int
    scored: int = 0


def plain_windows(passages: int, width: int, length: int) -> list[TextWindow]:
    """One after another; the last one of a passage may be shorter.

    >>> [tuple(window) for window in plain_windows(1, 5, 2)]
    [(0, 0, 2, 0), (0, 2, 2, 0), (0, 4, 1, 0)]
    """
    return [
        TextWindow(passage, start, min(length, width - start))
        for passage in range(passages)
        for start in range(0, width, length)
    ]


def sliding_windows(passages: int, width: int, length: int) -> list[TextWindow]:
    """Each moves on by a fourth of the length, so that all tokens but the first have three fourths in sight.

    >>> [tuple(window) for window in sliding_windows(1, 7, 4)]
    [(0, 0, 4, 0), (0, 1, 4, 3), (0, 2, 4, 3), (0, 3, 4, 3)]
    """
    windows, step = [], max(1, length // OVERLAP)
    for passage in range(passages):
        had = 0
        for start in [*range(0, width - length, step), width - length]:
            windows.append(TextWindow(passage, start, length, had - start))
            had = start + length
    return windows


WAYS = {"plain": plain_windows, "sliding": sliding_windows}


def window_losses(
    reader: ChunkedModel,
    passages: NDArray[np.int64],
    windows: Sequence[TextWindow],
    batch: int = 1,
    start_token: int | None = None,
) -> list[Losses]:
    """The losses, in nats, of the tokens of each window that count. `start_token` stands in place of its first token."""
    losses: list[Losses] = []
    for first in range(0, len(windows), batch):
        group = windows[first : first + batch]
        longest = max(window.length for window in group)
        rows = np.zeros(
            (len(group), longest + 1), np.int64
        )  # a shorter one is followed by any token
        for row, window in zip(rows, group, strict=True):
            row[: window.length + 1] = passages[window.passage, window.start :][: window.length + 1]
        found = row_losses(reader, torch.from_numpy(rows), start_token)
        losses += [
            row[window.scored : window.length] for row, window in zip(found, group, strict=True)
        ]
    return losses


@torch.inference_mode()
def row_losses(reader: ChunkedModel, rows: Tensor, start_token: int | None = None) -> Losses:
    """The loss of all tokens but the first of each row: (B, T + 1) -> (B, T)."""
    tokens, targets = rows[:, :-1].clone(), rows[:, 1:]
    if start_token is not None:
        tokens[:, 0] = start_token
    tokens, targets = tokens.to(reader.model.device), targets.to(reader.model.device)
    parts, done = [], 0
    for logits in reader.logits(tokens):
        target = targets[:, done : done + logits.shape[1], None]
        wide = logits.float() if logits.dtype.itemsize < 4 else logits
        loss = wide.logsumexp(-1) - wide.gather(-1, target).squeeze(-1)
        parts.append(loss.cpu().double().numpy())
        done += logits.shape[1]
    return np.concatenate(parts, axis=1)


def assembled(
    passages: int, width: int, windows: Sequence[TextWindow], losses: Sequence[Losses]
) -> Losses:
    """The losses by passage and place in it: (P, W)."""
    whole = np.full((passages, width), np.nan)
    for window, found in zip(windows, losses, strict=True):
        first = window.start + window.scored
        whole[window.passage, first : first + len(found)] = found
    return whole
