"""The result of a probe: perplexity, loss by position and attention, for each length and each rotary scaling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.evals.perplexity import Losses, interval
from tenfold.features.probe.attention_findings import AttentionFindings
from tenfold.features.probe.stated_encoding import StatedEncoding

POINTS = 40  # of a curve by position
RISE = 1.05  # a perplexity that is more than so many times the one at the training length has risen


@dataclass(frozen=True)
class TextLoss:
    """The loss of the same tokens, read one way at one length; bounds of 95% over passages."""

    loss: float
    low: float | None
    high: float | None
    tokens: int

    @classmethod
    def of(cls, losses: Losses) -> TextLoss:
        return cls(float(losses.mean()), *interval(losses), losses.size)

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.loss, 700.0))

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the perplexity; itself where there is one passage alone."""
        low, high = (self.loss if each is None else each for each in (self.low, self.high))
        return math.exp(min(low, 700.0)), math.exp(min(high, 700.0))

    def as_json(self) -> dict[str, Any]:
        bounds = [None, None] if self.low is None else list(self.bounds)
        return {"perplexity": self.perplexity, "low": bounds[0], "high": bounds[1], "loss": self.loss, "tokens": self.tokens}  # fmt: skip


@dataclass(frozen=True)
class LengthResult:
    """What was measured at one length."""

    length: int
    plain: TextLoss
    sliding: TextLoss
    positions: list[tuple[int, int, float]]  # first and last number of tokens in sight, mean loss
    attention: AttentionFindings | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "length": self.length,
            "plain": self.plain.as_json(),
            "sliding": self.sliding.as_json(),
            "loss_by_position": [{"from": a, "to": b, "loss": loss} for a, b, loss in self.positions],
            "attention": None if self.attention is None else self.attention.as_json(),
        }  # fmt: skip


@dataclass(frozen=True)
class VariantResult:
    """A model as it is, or with one rotary scaling."""

    name: str
    encoding: StatedEncoding
    lengths: list[LengthResult]

    def rise(self, trained: int | None) -> float | None:
        """Perplexity at the longest length, as a multiple of that at the training length."""
        within = [each for each in self.lengths if trained is not None and each.length <= trained]
        beyond = [each for each in self.lengths if trained is not None and each.length > trained]
        return beyond[-1].plain.perplexity / within[-1].plain.perplexity if within and beyond else None  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "encoding": self.encoding.as_json(),
            "lengths": [each.as_json() for each in self.lengths],
        }


@dataclass(frozen=True)
class ProbeResult:
    """Everything that a probe found. `variants[0]` is the model as it is."""

    model: dict[str, Any]
    text: dict[str, Any]
    trained: int | None
    variants: list[VariantResult]
    notes: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "text": self.text,
            "trained": self.trained,
            "variants": [
                {**each.as_json(), "rise": each.rise(self.trained)} for each in self.variants
            ],
            "notes": list(self.notes),
        }

    def write(self, folder: str | Path, figures: str | Path | None = None) -> dict[str, Path]:
        """Write `probe.html` and `probe.json`; into `figures` every figure, as PNG and SVG."""
        from tenfold.features.probe.probe_page import write_probe  # which draws

        return write_probe(self, Path(folder), None if figures is None else Path(figures))[0]

    def answer(self) -> list[str]:
        """What was found, in sentences."""
        first = self.variants[0]
        last = first.lengths[-1]
        sentences = [self._perplexity(each) for each in self.variants]
        if last.attention is not None:
            sentences += _attention(last.attention)
        return [*sentences, *self.notes]

    def _perplexity(self, variant: VariantResult) -> str:
        last, rise = variant.lengths[-1], variant.rise(self.trained)
        who = "Perplexity" if len(self.variants) == 1 else f"{variant.name}: perplexity"
        if rise is None:
            return f"{who} is {last.plain.perplexity:.4g} at {last.length:,} tokens."
        base = next(each for each in reversed(variant.lengths) if each.length <= (self.trained or 0))  # fmt: skip
        verdict = "it rises" if rise > RISE else "it does not rise"
        return (
            f"{who} is {base.plain.perplexity:.4g} at {base.length:,} tokens and {last.plain.perplexity:.4g} at "
            f"{last.length:,}, {rise:.3g} times as much: {verdict} beyond the training length of {self.trained:,}."
        )


def _attention(found: AttentionFindings) -> list[str]:
    middle = float(np.median(found.fields.numpy()))
    lines = [
        f"At {found.length:,} tokens, the median head puts all but {found.eps:g} of its attention on the nearest {middle:,.0f}.",
        f"{found.local_heads:.0%} of the heads are local, and {found.sink_heads:.0%} have a sink at the first token.",
    ]
    if found.whole_field is not None:
        lines.append(f"By gradient, the last prediction depends on the nearest {found.whole_field:,} tokens.")  # fmt: skip
    return lines


def loss_by_position(losses: Losses, length: int) -> list[tuple[int, int, float]]:
    """The mean loss by how many tokens are in sight, in at most 40 bins whose widths grow evenly in ratio.

    >>> loss_by_position(np.array([[4.0, 3.0, 2.0, 1.0, 4.0, 3.0]]), 4)
    [(1, 1, 4.0), (2, 2, 3.0), (3, 3, 2.0), (4, 4, 1.0)]
    """
    place = np.arange(losses.shape[1]) % length + 1
    edges = np.unique(np.geomspace(1, length + 1, POINTS + 1).round().astype(int)).tolist()
    found = []
    for low, high in itertools.pairwise(edges):
        inside = losses[:, (place >= low) & (place < high)]
        if inside.size:
            found.append((low, high - 1, float(inside.mean())))
    return found
