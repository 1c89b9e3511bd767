"""What a positional encoding is: up to six ways for places to enter a transformer, each doing nothing by default.

Shapes: B batch, H heads, T queries, S keys, K head size, D width.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from tenfold.places import Places


class PositionalEncoding(nn.Module):
    """Override what the encoding does; leave the rest.

    A pair of tokens without a place on the axis is unrelated. A model makes one instance a layer, or a
    single one where `shared`; constructor parameters called `width`, `heads`, `head_size` are filled in
    by the model, the others are the encoding's options.
    """

    name: ClassVar[str]
    shared: ClassVar[bool] = False
    shift_invariant: ClassVar[bool] = False  # moving every place by the same amount changes nothing

    def __init__(self, *axes: str) -> None:
        super().__init__()
        self.axes: frozenset[str] = frozenset(axes)  # what it reads

    @property
    def embeds(self) -> bool:
        """Whether places enter at the input."""
        return type(self).embed is not PositionalEncoding.embed

    @property
    def attends(self) -> bool:
        """Whether places enter attention; what only embeds has no part in cross-attention."""
        ways = ("rotate", "scores", "bias", "visible", "values")
        return any(getattr(type(self), way) is not getattr(PositionalEncoding, way) for way in ways)

    def check(self, q_at: Places, k_at: Places) -> None:
        """Raise one clear error where a place is beyond what this encoding can represent."""

    def embed(self, x: Tensor, at: Places) -> Tensor:
        """The input (B, T, D) with places added."""
        return x

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        """Queries (B, H, T, K) and keys (B, H, S, K), turned by their places."""
        return q, k

    def scores(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        """(B, H, T, S), added to q.k before the division by sqrt(K)."""
        return None

    def bias(self, q_at: Places, k_at: Places) -> Tensor | None:
        """(B|1, H|1, T, S), added to the logits after the division."""
        return None

    def visible(self, q_at: Places, k_at: Places) -> Tensor | None:
        """(B|1, H|1, T, S) bool: which keys a query may see; every query sees at least itself."""
        return None

    def values(self, weights: Tensor, q_at: Places, k_at: Places) -> Tensor | None:
        """(B, H, T, K), added to the output of attention with these weights (B, H, T, S)."""
        return None
