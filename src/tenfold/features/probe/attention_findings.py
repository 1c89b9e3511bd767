"""What the sums of attention and of gradients say: receptive fields, sinks, local heads, mass by distance.

Shapes: L layers, H heads, S tokens, D bins of distance.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tenfold.evals.distance_sums import quantile
from tenfold.features.probe.attention_sums import FIRST, AttentionSums
from tenfold.features.probe.gradient_sums import GradientSums

LOCAL = 8  # a head is local if its field is at most one of so many parts of the length
SINK = 0.3  # a head has a sink if it puts at least this share on the first token


@dataclass(frozen=True)
class AttentionFindings:
    """At one length. A field is the number of nearest tokens that hold all but a share eps."""

    length: int
    eps: float
    fields: Tensor  # (L, H): by attention
    fields_without_sinks: Tensor  # (L, H): the first tokens of the text left out
    first: Tensor  # (L, H): the share of attention on the first token
    first_few: Tensor  # (L, H): on the first few
    edges: list[int]  # of bins of distance: the first distance of each, then the length
    mass: Tensor  # (L, H, D): the share of attention in each
    gradient_fields: Tensor | None = None  # (L, H)
    layer_fields: Tensor | None = None  # (L,): by gradient, of what enters a layer

    @property
    def local_heads(self) -> float:
        """The share of heads that look no further than an eighth of the text, sinks left out."""
        return float((self.fields_without_sinks * LOCAL <= self.length).double().mean())

    @property
    def sink_heads(self) -> float:
        """The share of heads that put much of their attention on the first token."""
        return float((self.first >= SINK).double().mean())

    @property
    def whole_field(self) -> int | None:
        """How far the prediction looks through all layers, by gradient."""
        return None if self.layer_fields is None else int(self.layer_fields[0])

    def as_json(self) -> dict[str, Any]:
        return {
            "eps": self.eps,
            "fields": self.fields.tolist(),
            "fields_without_sinks": self.fields_without_sinks.tolist(),
            "gradient_fields": None if self.gradient_fields is None else self.gradient_fields.tolist(),
            "layer_gradient_fields": None if self.layer_fields is None else self.layer_fields.tolist(),
            "model_gradient_field": self.whole_field,
            "share_on_first_token": _rounded(self.first),
            f"share_on_first_{FIRST}_tokens": _rounded(self.first_few),
            "local_heads": self.local_heads,
            "sink_heads": self.sink_heads,
            "distance_edges": self.edges,
            "mass_by_distance": _rounded(self.mass),
        }  # fmt: skip


def findings(
    sums: AttentionSums, gradient: GradientSums | None, eps: float = 0.05
) -> AttentionFindings:
    """Derive everything from sums."""
    length = sums.weights.shape[-1]
    total = sums.weights.sum(-1)
    edges = bin_edges(length)
    mass = [sums.weights[..., low:high].sum(-1) for low, high in itertools.pairwise(edges)]
    return AttentionFindings(
        length,
        eps,
        quantile(sums.weights, eps),
        quantile((sums.weights - sums.sinks).clamp(min=0), eps),
        sums.first / total,
        sums.sinks.sum(-1) / total,
        edges,
        torch.stack(mass, -1) / total[..., None],
        None if gradient is None else quantile(gradient.heads, eps),
        None if gradient is None else quantile(gradient.inputs, eps),
    )


def bin_edges(length: int) -> list[int]:
    """Bins of distance that double: 0, 1, 2-3, 4-7, ...

    >>> bin_edges(6), bin_edges(1)
    ([0, 1, 2, 4, 6], [0, 1])
    """
    edges = [0]
    while edges[-1] < length:
        edges.append(min(length, max(1, 2 * edges[-1])))
    return edges


def _rounded(values: Tensor) -> Any:
    """Six decimals are enough for a share."""
    return (values * 1e6).round().div(1e6).tolist()
