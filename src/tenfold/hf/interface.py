"""The functions that transformers calls: one function for the mask of a forward pass, one for the attention of a layer.

Both are registered under the name "tenfold" in the library's own interfaces. Transformers hands the
attention mask of the user to the first and its result, untouched, to the second in every layer; so
places are counted once, where the padding is known.

Shapes: B batch, H heads, G query heads for one key head, T queries, S keys, K head size, F features of a state.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.attend import Projections, mix, visible_keys
from tenfold.encodings.encoding import Attends

NAME = "tenfold"
STATE = "_tenfold_state"  # of a layer, while it is computed
CACHES = ("past_key_values", "layer_past")  # what families call the cache


class AttentionView(NamedTuple):
    """Which keys each query may see, and the places of both."""

    allowed: Tensor | None  # (B, 1, T, S)
    q_at: Places
    k_at: Places
    start: int  # the number of tokens before the first query, padding among them


def view(
    *,
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int | Tensor = 0,
    kv_offset: int = 0,
    attention_mask: Tensor | None = None,
    device: torch.device | str = "cpu",
    **more: Any,
) -> AttentionView:
    """A token's place is the number of tokens before it that are no padding: `pad pad a b` -> - - 0 1."""
    total = kv_offset + kv_length  # a sliding window has dropped the first `kv_offset` keys
    if isinstance(q_offset, Tensor) or total != q_offset + q_length:
        raise TenfoldError(
            f"a cache of {kv_length} keys for {int(q_offset)} + {q_length} tokens; a swapped model "
            'needs one that grows with them (cache_implementation "dynamic", the default)'
        )
    if attention_mask is not None and attention_mask.shape != (batch_size, total):
        raise TenfoldError(
            f"an attention_mask of shape {tuple(attention_mask.shape)}; a swapped model needs one "
            f"number for each of all {total} tokens, {(batch_size, total)}"
        )
    index = torch.arange(total, device=device)[None]  # (1, S): all rows alike
    if attention_mask is not None and not bool(attention_mask.all()):
        index = torch.where(attention_mask, attention_mask.cumsum(-1) - 1, -1)  # (B, S)
    more |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    allowed = sdpa_mask(
        batch_size=batch_size,
        q_length=q_length,
        kv_length=kv_length,
        q_offset=q_offset,
        kv_offset=kv_offset,
        attention_mask=attention_mask,
        device=device,
        **more,
    )
    at = Places(index=index[:, kv_offset:])
    return AttentionView(allowed, at.last(q_length), at, total - q_length)


def attention(
    module: nn.Module,
    query: Tensor,  # (B, H, T, K)
    key: Tensor,  # (B, H or H / G, S, K); from the cache, not rotated
    value: Tensor,
    attention_mask: AttentionView | Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    position_ids: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """(B, T, H, K), and the weights (B, H, T, S).

    In grouped-query attention G query heads read one key head. `scaling` is what the model multiplies q.k
    with; where that is not 1 / sqrt(K), as in OPT, the queries are brought to it.
    """
    encoding: Any = getattr(module, "encoding", None)
    if encoding is None:
        raise TenfoldError(
            f"the config of this model names the attention of {NAME}, but its positions are still "
            "its own; call tenfold.hf.swap, or tenfold.hf.load for a saved model"
        )
    if not isinstance(attention_mask, AttentionView):
        raise TenfoldError(
            "a four-dimensional attention_mask does not show padding, from which places are counted; "
            "give one of shape (batch, tokens)"
        )
    (pe,), (allowed, q_at, k_at, start) = encoding, attention_mask
    if module.layer_idx == 0:
        pe.check(q_at, k_at)
        check_ids(position_ids, q_at["index"], start)
    kind = Attends.CAUSAL if module.is_causal else Attends.TWO_WAY
    query = _for_usual_scale(query, scaling)
    key, value = (_for_each_query_head(x, query.shape[1]) for x in (key, value))
    state = module.__dict__.pop(STATE, None)
    turned, key = pe.rotate(query, key, q_at, k_at)
    mixed, weights = mix(
        pe,
        Projections(query, turned, key, value, state),
        q_at,
        k_at,
        visible_keys(allowed, query.shape[2], key.shape[2], kind, query.device),
        on_weights=lambda weights: F.dropout(weights, dropout) if dropout else weights,
    )
    return mixed.transpose(1, 2), weights


def _for_usual_scale(query: Tensor, scaling: float | None) -> Tensor:
    """Queries whose products with keys are to be divided by sqrt(K)."""
    usual = query.shape[-1] ** -0.5
    if scaling is None or math.isclose(scaling, usual):
        return query
    return query * (scaling / usual)


def _for_each_query_head(x: Tensor, heads: int) -> Tensor:
    """(B, H / G, S, K) -> (B, H, S, K): every key head as often as query heads read it."""
    return x if x.shape[1] == heads else x.repeat_interleave(heads // x.shape[1], 1)


class StatefulCache:
    """A cache of transformers for one layer, with the states of an encoding behind the values.

    Where the library reorders, crops or moves its values, for a beam search say, states go with them. The
    states of all G query heads that read one key head stand side by side behind its values.
    """

    def __init__(self, cache: Any, module: nn.Module, state: Tensor) -> None:
        self.cache, self.module, self.state = cache, module, state

    def update(self, key: Tensor, value: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Append keys and values of new tokens; all of them, and the states left for `attention`."""
        rows, heads, _, size = value.shape
        state = self.state.expand(rows, -1, -1, -1)
        groups = max(state.shape[1] // heads, 1)
        if state.shape[1] == 1:
            state = state.expand(-1, heads, -1, -1)
        beside = (
            state.unflatten(1, (heads, groups)).transpose(2, 3).flatten(3)
        )  # (B, H / G, S, G F)
        key, both = self.cache.update(key, torch.cat([value, beside], -1), layer)
        kept = both[..., size:].unflatten(3, (groups, -1)).transpose(2, 3).flatten(1, 2)
        self.module.__dict__[STATE] = kept[:, : self.state.shape[1]]
        return key, both[..., :size]


def keep_state(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Before the attention of a layer: make the states of its input, where `attention` finds them."""
    (pe,), seen = module.encoding, kwargs["attention_mask"]  # type: ignore[misc]
    if not isinstance(seen, AttentionView):
        return args, kwargs  # which `attention` refuses
    state = pe.state(args[0] if args else kwargs["hidden_states"], seen.q_at)
    module.__dict__[STATE] = state
    for name in CACHES:
        if kwargs.get(name) is not None:
            own = getattr(kwargs[name], "self_attention_cache", kwargs[name])
            kwargs = {**kwargs, name: StatefulCache(own, module, state)}
    return args, kwargs


def check_ids(position_ids: Tensor | None, place: Tensor, start: int) -> None:
    """Refuse position_ids that contradict the attention mask, from which places are counted."""
    if position_ids is None:
        return
    plain = start + torch.arange(place.shape[1], device=place.device)  # what models fill in
    agrees = (position_ids == place) | (place < 0)  # (B|1, T)
    if not bool(agrees.all()) and not bool((position_ids == plain).all()):
        row = int((~agrees).any(-1).nonzero()[0])
        ids = position_ids.expand_as(agrees)[row].tolist()
        raise TenfoldError(
            f"position_ids {ids} are not the places that the attention_mask gives; leave them "
            "out (packed sequences are not supported)"
        )


AttentionInterface.register(NAME, attention)
AttentionMaskInterface.register(NAME, view)
