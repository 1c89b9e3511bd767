"""Attention made sharper or flatter while a model is measured: its logits times a factor, which may grow with the text.

The factor multiplies the whole logit, the bias too: weights b(n) become b(n)^f, so that 1/n, of which the sum diverges,
becomes n^-f, of which it converges where f stays above 1.

Shapes: B rows, H heads, T queries, S keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.models import Model, attention_in
from tenfold.models.layers import Attention

Factor = Callable[[Tensor], Tensor]  # keys in sight -> what their logits are multiplied by


def constant(factor: float) -> Factor:
    """The same at every place.

    >>> constant(0.5)(torch.tensor([1.0, 9.0]))
    tensor([0.5000, 0.5000])
    """
    return lambda keys: torch.full_like(keys, factor)


def log_length(trained: int) -> Factor:
    """ln(keys) / ln(trained) beyond the length of training, 1 up to it.

    >>> log_length(10)(torch.tensor([5.0, 10.0, 100.0]))
    tensor([1., 1., 2.])
    """
    if trained < 2:
        raise TenfoldError(f"a training length of {trained}; at least 2, its logarithm divides")
    return lambda keys: (keys.log() / math.log(trained)).clamp(min=1.0)


@contextmanager
def scaled(model: Model, factor: Factor) -> Iterator[Model]:
    """The model, its attention to its own sequence scaled as long as this lasts; of text, which has no pads."""

    def scale(_module: nn.Module, _given: object, logits: Tensor) -> Tensor:
        queries, keys = logits.shape[-2:]
        seen = torch.arange(keys - queries + 1, keys + 1, device=logits.device, dtype=logits.dtype)
        return logits * factor(seen)[:, None]  # (B, H, T, S)

    stack = attention_in(model, "scaled attention").stack
    own = [m for m in stack.modules() if isinstance(m, Attention) and not m.crossing]
    hooks = [attention.logits.register_forward_hook(scale) for attention in own]
    try:
        yield model
    finally:
        for hook in hooks:
            hook.remove()
