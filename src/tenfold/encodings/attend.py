"""Attention with an encoding: the one function of tenfold's own models, and the same for anybody's tensors.

`mix` is what tenfold's models and the Hugging Face adapter call. `attend` prepares plain tensors for it.
`additive_mask` gives an encoding to PyTorch's `scaled_dot_product_attention`.

Shapes: B batch, H heads, T queries, S keys, K head size, D width, F features of a state.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places, in_order
from tenfold.encodings.encoding import Attends, PositionalEncoding


class Projections(NamedTuple):
    """What attention is computed from. Keys, values and states may come from a cache."""

    q: Tensor  # (B, H, T, K), before pe.rotate
    turned: Tensor  # (B, H, T, K), after pe.rotate
    k: Tensor  # (B, H, S, K), after pe.rotate
    v: Tensor  # (B, H, S, K)
    state: Tensor | None = None  # (B, H|1, S, F), of pe.state


def _unchanged(x: Tensor) -> Tensor:
    return x


def mix(
    pe: PositionalEncoding,
    given: Projections,
    q_at: Places,
    k_at: Places,
    allowed: Tensor | None,  # (B|1, 1, T, S) bool; in self-attention, with every query itself
    *,
    crossing: bool = False,
    on_logits: Callable[[Tensor], Tensor] = _unchanged,
    on_weights: Callable[[Tensor], Tensor] = _unchanged,
) -> tuple[Tensor, Tensor]:
    """Attend: the mixed values (B, H, T, K) and the weights (B, H, T, S).

    `on_logits` and `on_weights` are called on the way: for named activations and for dropout.
    """
    seen, blind = _seen(pe, q_at, k_at, allowed, crossing), None
    if seen is not None and crossing:  # in self-attention every query sees itself
        blind = ~seen.any(-1, keepdim=True)
        seen = seen | blind
    scores, bias = pe.scores(given.q, given.k, q_at, k_at), _bias(pe, given, q_at, k_at)
    scale = 1 / math.sqrt(given.q.shape[-1])
    logits = (given.turned * scale) @ given.k.mT  # (B, H, T, S)
    if scores is not None:
        logits.add_(scores, alpha=scale)
    mask = _mask(bias, seen, logits)
    logits = on_logits(logits if mask is None else logits.add_(mask))
    weights = pe.normalise(logits, seen)
    if blind is not None:  # a query that sees nothing takes nothing
        weights = weights.masked_fill(blind, 0.0)
    weights = on_weights(weights)
    mixed, extra = weights @ given.v, pe.values(weights, q_at, k_at)
    return mixed if extra is None else mixed + extra, weights


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
    state: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """All of attention: the output (B, H, T, K) and the weights (B, H, T, S).

    `allowed` (B|1, 1, T|1, S) leaves out padding. `state` is `pe.state(x, k_at)` of the layer's input x,
    for encodings that have one.
    """
    pe.serve(kind)
    pe.check(q_at, k_at)
    _check_state(pe, state)
    turned, k = pe.rotate(q, k, q_at, k_at)
    given = Projections(q, turned, k, v, state)
    return mix(
        pe,
        given,
        q_at,
        k_at,
        visible_keys(allowed, q.shape[2], k.shape[2], kind, q.device),
        crossing=kind is Attends.CROSS,
        on_weights=lambda weights: F.dropout(weights, dropout) if dropout else weights,
    )


def additive_mask(
    pe: PositionalEncoding,
    q: Tensor,  # (B, H, T, K), before pe.rotate
    k: Tensor,  # (B, H, S, K), after pe.rotate
    q_at: Places,
    k_at: Places,
    kind: Attends = Attends.CAUSAL,
    allowed: Tensor | None = None,
    state: Tensor | None = None,
) -> Tensor | None:
    """The `attn_mask` of `scaled_dot_product_attention`: scores / sqrt(K) + bias, and -inf for what is not seen.

    It is (B|1, H|1, T, S), or None where nothing is to be added. In self-attention the queries are the
    last T of the S keys; a query always sees itself. `allowed` and `state` are as in `attend`. Where an encoding
    lengthens turned queries and keys (`pope`), also give PyTorch's function `scale=1 / sqrt(K)`.

    >>> from tenfold.encodings import ALiBi
    >>> at = Places(index=torch.arange(3)[None])
    >>> q = k = torch.zeros(1, 8, 3, 16)
    >>> additive_mask(ALiBi(heads=8), q, k, at, at)[0, 0].tolist()
    [[-0.0, -inf, -inf], [-0.5, -0.0, -inf], [-1.0, -0.5, -0.0]]
    """
    pe.serve(kind)
    pe.check(q_at, k_at)
    _check_state(pe, state)
    for way, what in (("values", "adds to the values"), ("normalise", "replaces the softmax")):
        if way in pe.ways:
            raise TenfoldError(
                f'encoding "{pe.name}" also {what}, for which a mask is not enough; '
                "use tenfold.encodings.attend.attend"
            )
    crossing = kind is Attends.CROSS
    allowed = visible_keys(allowed, q.shape[2], k.shape[2], kind, q.device)
    seen = _seen(pe, q_at, k_at, allowed, crossing)
    total = _bias(pe, Projections(q, q, k, k, state), q_at, k_at)
    scores = pe.scores(q, k, q_at, k_at)
    if scores is not None:
        scores = scores / math.sqrt(q.shape[-1])
        total = scores if total is None else scores + total
    mask = _mask(total, seen, q)
    if mask is not None and mask.dim() == 4 and mask.shape[1] not in (1, q.shape[1]):
        raise TenfoldError(
            f'encoding "{pe.name}" is for {mask.shape[1]} heads, the queries have {q.shape[1]}'
        )
    return mask


def visible_keys(
    allowed: Tensor | None, queries: int, keys: int, kind: Attends, device: torch.device
) -> Tensor | None:
    """Which keys a kind of attention shows to each query, (B|1, 1, T, S); None: all.

    `allowed` (B|1, 1, T|1, S) leaves out padding; in self-attention every query sees itself nevertheless.
    """
    query, key = in_order(queries, keys, device)
    if kind is Attends.CAUSAL:
        causal = (key <= query)[None, None]
        allowed = causal if allowed is None else causal & allowed
    return allowed if allowed is None or kind is Attends.CROSS else allowed | (key == query)


def _seen(
    pe: PositionalEncoding, q_at: Places, k_at: Places, allowed: Tensor | None, crossing: bool
) -> Tensor | None:
    """What the encoding and the kind of attention let be seen; in self-attention a token always sees itself."""
    window = pe.visible(q_at, k_at)
    if window is None:
        return allowed
    if not crossing:
        query, key = in_order(window.shape[-2], window.shape[-1], window.device)
        window = window | (key == query)
    return window if allowed is None else window & allowed


def _bias(pe: PositionalEncoding, given: Projections, q_at: Places, k_at: Places) -> Tensor | None:
    """All that is added to the logits after the division by sqrt(K)."""
    bias = pe.bias(q_at, k_at)
    if given.state is None:
        return bias
    more = pe.state_bias(given.state, given.q, given.k, q_at, k_at)
    return more if bias is None else bias if more is None else bias + more


def _mask(bias: Tensor | None, seen: Tensor | None, like: Tensor) -> Tensor | None:
    """One addition for bias and mask, which is faster than `masked_fill`."""
    mask = None if bias is None else bias.to(like.dtype)
    if seen is None:
        return mask
    return torch.where(seen, like.new_zeros(()) if mask is None else mask, -math.inf)


def _check_state(pe: PositionalEncoding, state: Tensor | None) -> None:
    if "state" in pe.ways and state is None:
        raise TenfoldError(
            f'encoding "{pe.name}" needs features of the layer\'s input x; give state=pe.state(x, k_at)'
        )
