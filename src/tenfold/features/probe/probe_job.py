"""The work of a probe: its parts, each computed by itself, and what is reported from them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tenfold import __version__
from tenfold.features.probe.attention_findings import AttentionFindings, findings
from tenfold.features.probe.attention_sums import AttentionSums, attention_sums
from tenfold.features.probe.chunked_model import ChunkedModel
from tenfold.features.probe.finished_parts import FinishedParts, weights_stamp
from tenfold.features.probe.gradient_sums import GradientSums, gradient_sums
from tenfold.features.probe.probe_result import LengthResult, TextLoss, loss_by_position
from tenfold.features.probe.window_losses import WAYS, TextWindow, assembled, window_losses

GROUP = 2**16  # tokens of windows that are one part of a probe
Parts = dict[str, Tensor]
Progress = Callable[[int, int], None]  # thousands of tokens that are done, and of all


@dataclass(frozen=True)
class ProbePart:
    """A piece of work: what it is called, what it costs (tokens), and how it is done."""

    name: str
    cost: float
    compute: Callable[[], Parts]


class Watching:
    """Reports how much is done, in thousands of tokens; what was finished before counts from the start."""

    def __init__(self, progress: Progress | None, total: float, done: float) -> None:
        self.progress, self.total, self.done = progress, total, done
        self._report()

    def make(self, parts: FinishedParts, part: ProbePart) -> Parts:
        """A part, and a report if it was not finished before."""
        new = not parts.has(part.name)
        made = parts.make(part.name, part.compute)
        if new:
            self.done += part.cost
            self._report()
        return made

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(round(self.done / 1000), round(self.total / 1000))


@dataclass(frozen=True)
class ProbeJob:
    """What is measured of a model on the passages of a text."""

    reader: ChunkedModel
    passages: NDArray[np.int64]  # (P, W + 1)
    lengths: Sequence[int]
    samples: int
    batch: int
    gradient: bool
    start: int | None  # the token before every window, if the tokenizer puts one there

    def parts(self, label: str) -> Iterator[ProbePart]:
        """All parts in the order in which they are done."""
        for length in self.lengths:
            for way in WAYS:
                for name, group in self._windows(label, way, length):
                    cost = sum(window.length for window in group) * (1 + length / 4096)
                    yield ProbePart(name, cost, partial(self._losses, group))
            for name, row in self._rows(label, "attention", length):
                yield ProbePart(name, length * (1 + length / 1024), partial(self._attention, row))
            for name, row in self._rows(label, "gradient", length):
                yield ProbePart(
                    name, 4 * length * (1 + length / 1024), partial(self._gradient, row)
                )

    def results(self, label: str, made: dict[str, Parts], eps: float) -> list[LengthResult]:
        """Put the parts of all lengths together."""
        found = []
        for length in self.lengths:
            losses = {way: self._assembled(made, label, way, length) for way in WAYS}
            found.append(
                LengthResult(
                    length,
                    TextLoss.of(losses["plain"]),
                    TextLoss.of(losses["sliding"]),
                    loss_by_position(losses["plain"], length),
                    self._findings(made, label, length, eps),
                )
            )
        return found

    def _windows(self, label: str, way: str, length: int) -> Iterator[tuple[str, list[TextWindow]]]:
        """The windows of a length, in groups that are stored as one part each."""
        windows = WAYS[way](len(self.passages), self.passages.shape[1] - 1, length)
        size = max(1, GROUP // length // self.batch) * self.batch
        for number, first in enumerate(range(0, len(windows), size)):
            yield _name(label, length, way, number), windows[first : first + size]

    def _rows(self, label: str, what: str, length: int) -> Iterator[tuple[str, Tensor]]:
        """The texts on which attention is measured, each by itself."""
        if self.reader.attention is None or (what == "gradient" and not self.gradient):
            return
        for number in range(min(self.samples, len(self.passages))):
            row = torch.from_numpy(self.passages[number : number + 1, :length]).clone()
            if self.start is not None:
                row[:, 0] = self.start
            yield _name(label, length, what, number), row.to(self.reader.model.device)

    def _losses(self, windows: list[TextWindow]) -> Parts:
        found = window_losses(self.reader, self.passages, windows, self.batch, self.start)
        return {"losses": torch.from_numpy(np.concatenate(found))}

    def _attention(self, row: Tensor) -> Parts:
        return attention_sums(self.reader, row)._asdict()

    def _gradient(self, row: Tensor) -> Parts:
        return gradient_sums(self.reader, row)._asdict()

    def _assembled(
        self, made: dict[str, Parts], label: str, way: str, length: int
    ) -> NDArray[np.float64]:
        windows, losses = [], []
        for name, group in self._windows(label, way, length):
            ends = np.cumsum([window.length - window.scored for window in group])[:-1]
            windows += group
            losses += np.split(made[name]["losses"].numpy(), ends)
        return assembled(len(self.passages), self.passages.shape[1] - 1, windows, losses)

    def _findings(
        self, made: dict[str, Parts], label: str, length: int, eps: float
    ) -> AttentionFindings | None:
        attention = [AttentionSums(**made[name]) for name, _ in self._rows(label, "attention", length)]  # fmt: skip
        gradient = [GradientSums(**made[name]) for name, _ in self._rows(label, "gradient", length)]
        if not attention:
            return None
        total = attention[0]
        for more in attention[1:]:
            total = total + more
        moved = gradient[0] if gradient else None
        for each in gradient[1:]:
            assert moved is not None
            moved = moved + each
        return findings(total, moved, eps)

    def identity(self, trained: int | None) -> dict[str, Any]:
        """Everything that the numbers depend on."""
        model = self.reader.model
        return {
            "tenfold": __version__,
            "weights": weights_stamp(model),
            "config": model.config.to_json_string(),
            "device": str(model.device),
            "passages": hashlib.sha256(self.passages.tobytes()).hexdigest(),
            "batch": self.batch,
            "start": self.start,
            "trained": trained,
        }

    def about(self, name: str | None) -> dict[str, Any]:
        """The model, for the report."""
        model = self.reader.model
        return {
            "name": Path(name).name if name and Path(name).exists() else name,
            "class": type(model).__name__,
            "parameters": sum(each.numel() for each in model.parameters()),
            "layers": len(self.reader.layers),
            "heads": self.reader.heads,
            "dtype": str(model.dtype).removeprefix("torch."),
            "device": str(model.device),
        }

    def about_text(self) -> dict[str, Any]:
        passages, width = self.passages.shape
        samples = min(self.samples, passages) if self.reader.attention is not None else 0
        return {
            "predicted_tokens": passages * (width - 1),
            "passages": passages,
            "attention_samples": samples,
            "start_token": self.start,
        }

    def notes(self) -> list[str]:
        """What could not be measured."""
        notes = []
        if not self.reader.chunks:
            notes.append("The model has no cache that grows with the text, so each window is read in one pass.")  # fmt: skip
        if self.reader.attention is None and self.samples:
            notes.append("The model's layers return no attention weights, so attention is not measured.")  # fmt: skip
        return notes


def _name(label: str, length: int, what: str, number: int) -> str:
    """Of a part, which is also that of its file."""
    return f"{label.replace(' ', '-')}-{length}-{what}-{number}"
