"""An encoding outside of tenfold's models: everything that it adds to the logits, as one additive mask.

Shapes: B batch, H heads, T queries, S keys, K head size.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places, in_order
from tenfold.encodings.encoding import Attends, PositionalEncoding


def additive_mask(
    pe: PositionalEncoding,
    q: Tensor,  # (B, H, T, K), before pe.rotate
    k: Tensor,  # (B, H, S, K), after pe.rotate
    q_at: Places,
    k_at: Places,
    kind: Attends = Attends.CAUSAL,
    allowed: Tensor | None = None,
) -> Tensor | None:
    """The `attn_mask` of `scaled_dot_product_attention`: scores / sqrt(K) + bias, and -inf for what is not seen.

    It is (B|1, H|1, T, S), or None where nothing is to be added. In self-attention the queries are the
    last T of the S keys; a query always sees itself. `allowed` (B|1, 1, T, S) leaves out padding.

    >>> from tenfold.encodings import ALiBi
    >>> at = Places(index=torch.arange(3)[None])
    >>> q = k = torch.zeros(1, 8, 3, 16)
    >>> additive_mask(ALiBi(heads=8), q, k, at, at)[0, 0].tolist()
    [[-0.0, -inf, -inf], [-0.5, -0.0, -inf], [-1.0, -0.5, -0.0]]
    """
    pe.serve(kind)
    pe.check(q_at, k_at)
    if "values" in pe.ways:
        raise TenfoldError(
            f'encoding "{pe.name}" also adds to the values, for which a mask is not enough; '
            "use tenfold.encodings.attend.attend"
        )
    mask = _merged(pe, q, k, q_at, k_at, kind, allowed)
    if mask is not None and mask.dim() == 4 and mask.shape[1] not in (1, q.shape[1]):
        raise TenfoldError(
            f'encoding "{pe.name}" is for {mask.shape[1]} heads, the queries have {q.shape[1]}'
        )
    return mask


def attend(
    pe: PositionalEncoding,
    q: Tensor,  # (B, H, T, K)
    k: Tensor,  # (B, H, S, K)
    v: Tensor,  # (B, H, S, K)
    q_at: Places,
    k_at: Places,
    kind: Attends = Attends.CAUSAL,
    allowed: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """All of attention, in plain steps: the output (B, H, T, K) and the weights (B, H, T, S)."""
    pe.serve(kind)
    pe.check(q_at, k_at)
    return attended(pe, q, k, v, q_at, k_at, kind, allowed, dropout)


def attended(
    pe: PositionalEncoding,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_at: Places,
    k_at: Places,
    kind: Attends,
    allowed: Tensor | None,
    dropout: float,
) -> tuple[Tensor, Tensor]:
    """As `attend`, where all is known to be in order."""
    turned, k = pe.rotate(q, k, q_at, k_at)
    logits = turned @ k.mT / math.sqrt(q.shape[-1])  # (B, H, T, S)
    mask = _merged(pe, q, k, q_at, k_at, kind, allowed)
    weights = (logits if mask is None else logits + mask).softmax(-1)
    if mask is not None and kind is Attends.CROSS:  # who sees nothing takes nothing
        weights = torch.where(mask.isinf().all(-1, keepdim=True), 0.0, weights)
    weights = F.dropout(weights, dropout) if dropout else weights
    mixed, extra = weights @ v, pe.values(weights, q_at, k_at)
    return mixed if extra is None else mixed + extra, weights


def _merged(
    pe: PositionalEncoding,
    q: Tensor,
    k: Tensor,
    q_at: Places,
    k_at: Places,
    kind: Attends,
    allowed: Tensor | None,
) -> Tensor | None:
    scores, bias = pe.scores(q, k, q_at, k_at), pe.bias(q_at, k_at)
    seen = _seen(pe.visible(q_at, k_at), allowed, q.shape[2], k.shape[2], kind, q.device)
    total = None if scores is None else scores / math.sqrt(q.shape[-1])
    if bias is not None:
        bias = bias.to(q.dtype)
        total = bias if total is None else total + bias
    if seen is not None:
        total = q.new_zeros(()) if total is None else total
        total = torch.where(seen, total, -math.inf)
    return total


def _seen(
    window: Tensor | None,
    allowed: Tensor | None,
    queries: int,
    keys: int,
    kind: Attends,
    device: torch.device,
) -> Tensor | None:
    """Which keys each query sees, (B|1, H|1, T, S); None: all."""
    query, key = in_order(queries, keys, device)
    given = (window, allowed, (key <= query)[None, None] if kind is Attends.CAUSAL else None)
    seen = None
    for some in given:
        seen = some if seen is None else seen if some is None else seen & some
    return seen if seen is None or kind is Attends.CROSS else seen | (key == query)
