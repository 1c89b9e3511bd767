"""The kinds of Hugging Face models whose positions can be swapped: where their parts are, how positions leave.

A family is one line of `FAMILIES`. Learned positions and rotations are replaced by modules that do nothing.
Bloom computes its ALiBi inside its attention, so there the attention is replaced by one with the same weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PreTrainedConfig
from transformers.models.bloom.modeling_bloom import BloomAttention

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.hf.interface import NAME, attention


class ModelFamily(NamedTuple):
    """Where a kind of model has the attention of a layer, and how its own positions are taken out."""

    attention: str
    take_out: Callable[[Any], None]  # of the base model, whose config is its own
    saved_as: dict[str, str] = {}  # noqa: RUF012 (never changed) names in a checkpoint that the model renames


def check_attention(config: PreTrainedConfig) -> None:
    """Refuse a swapped model whose attention was set to another one, which would run without positions."""
    if config._attn_implementation != NAME:
        raise TenfoldError(
            f'the attention of this model was set to "{config._attn_implementation}", which '
            f'knows nothing of encoding "{Spec.model_validate(config.tenfold).name}"; '
            f'set_attn_implementation("{NAME}")'
        )


class NoPositions(nn.Module):
    """In place of learned positions: adds nothing, at any length."""

    def __init__(self, config: PreTrainedConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, given: Tensor, *_: Any, **__: Any) -> Tensor:
        """Integer zeros (1, 1, 1), which leave the dtype of what they are added to as it is."""
        check_attention(self.config)
        return torch.zeros(1, 1, 1, dtype=torch.long, device=given.device)


class NoRotation(nn.Module):
    """In place of rotary positions: cosines of one and sines of zero, which leave queries and keys as they are."""

    def __init__(self, config: PreTrainedConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, x: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """One number each, (1, 1, 1), for every token and every component."""
        check_attention(self.config)
        return x.new_ones(1, 1, 1), x.new_zeros(1, 1, 1)


class InterfaceBloomAttention(BloomAttention):
    """Bloom's attention without its ALiBi, computed by the function that the other families call."""

    is_causal = True

    def __init__(self, own: BloomAttention, config: Any) -> None:
        with torch.device("meta"):  # its weights are those of `own`
            super().__init__(config, own.layer_idx)
        self.config, self.training = config, own.training
        for name, module in own.named_children():
            setattr(self, name, module)

    def forward(  # type: ignore[override]
        self,
        hidden_states: Tensor,  # (B, T, D)
        residual: Tensor,
        attention_mask: Any = None,
        layer_past: Any = None,
        **_: Any,
    ) -> tuple[Tensor, Tensor]:
        """The output (B, T, D) with the residual added, and the weights (B, H, T, S)."""
        check_attention(self.config)
        query, key, value = self._reshape(self.query_key_value(hidden_states))
        if layer_past is not None:
            key, value = layer_past.update(key, value, self.layer_idx)
        dropout = self.attention_dropout.p if self.training else 0.0
        mixed, weights = attention(self, query, key, value, attention_mask, dropout)
        output = F.dropout(self.dense(mixed.flatten(2)), self.hidden_dropout, self.training)
        return residual + output, weights


def _no_learned_positions(place: str, embeddings: str = "") -> Callable[[Any], None]:
    """Take out learned positions; `embeddings` names the module whose list of position ids is limited."""

    def take_out(base: Any) -> None:
        base.set_submodule(place, NoPositions(base.config))
        if embeddings:
            base.get_submodule(embeddings).register_forward_pre_hook(
                _no_position_ids, with_kwargs=True
            )

    return take_out


def _no_rotation(base: Any) -> None:
    base.set_submodule("rotary_emb", NoRotation(base.config))


def _no_own_alibi(base: Any) -> None:
    for block in base.h:
        block.self_attention = InterfaceBloomAttention(block.self_attention, base.config)


def _no_position_ids(
    embeddings: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Give zeros as position ids: nothing reads them, and BERT's own list of them is limited."""
    given = kwargs["input_ids"] if kwargs["input_ids"] is not None else kwargs["inputs_embeds"]
    zeros = torch.zeros(1, given.shape[1], dtype=torch.long, device=given.device)
    return args, {**kwargs, "position_ids": zeros}


ROTARY = ModelFamily("layers.{}.self_attn", _no_rotation)
FAMILIES = {
    "gpt2": ModelFamily("h.{}.attn", _no_learned_positions("wpe")),
    "bert": ModelFamily(
        "encoder.layer.{}.attention.self",
        _no_learned_positions("embeddings.position_embeddings", "embeddings"),
    ),
    "llama": ROTARY,
    "mistral": ROTARY,
    "qwen2": ROTARY,
    "qwen3": ROTARY,
    "gpt_neox": ModelFamily(
        "layers.{}.attention", _no_rotation, saved_as={"embed_out.weight": "lm_head.weight"}
    ),
    "opt": ModelFamily(
        "decoder.layers.{}.self_attn", _no_learned_positions("decoder.embed_positions")
    ),
    "bloom": ModelFamily("h.{}.self_attention", _no_own_alibi),
}
