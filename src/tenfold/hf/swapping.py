"""Take the positions out of a Hugging Face model and put an encoding in."""

from __future__ import annotations

import copy
import json
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.encodings.encoding import ENCODINGS, SIZES, Attends
from tenfold.hf.interface import NAME, keep_state
from tenfold.models.stack import Encodings, Shape

Model = TypeVar("Model", bound=PreTrainedModel)


class ModelFamily(NamedTuple):
    """Where a kind of model has its parts."""

    positions: str  # its own learned positions
    attention: str  # of a layer
    embeddings: str | None  # the module whose position ids are limited


FAMILIES = {
    "gpt2": ModelFamily("wpe", "h.{}.attn", None),
    "bert": ModelFamily(
        "embeddings.position_embeddings", "encoder.layer.{}.attention.self", "embeddings"
    ),
}
ONLY = {  # options of a config, and the value for which attention is q.k / sqrt(K) within one sequence
    "add_cross_attention": False,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "reorder_and_upcast_attn": False,
    "is_causal": True,
}


class NoPositions(nn.Module):
    """In place of learned positions: adds nothing, at any length."""

    def __init__(self, config: PreTrainedConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, position_ids: Tensor) -> Tensor:
        """Integer zeros (B|1, T, 1), which leave the dtype of what they are added to as it is."""
        if self.config._attn_implementation != NAME:
            raise TenfoldError(
                f'the attention of this model was set to "{self.config._attn_implementation}", which '
                f'knows nothing of encoding "{Spec.model_validate(self.config.tenfold).name}"; '
                f'set_attn_implementation("{NAME}")'
            )
        return torch.zeros_like(position_ids).unsqueeze(-1)


def swap(model: Model, encoding: str | dict[str, Any] | Spec) -> Model:
    """The model itself, with `encoding` as its only position: `swap(model, "alibi")`.

    `{"name": "pairwise", "relation": {"reach": 64, "clip": True}}` gives options. The encodings are
    `model.base_model.encodings`, one a layer or one for all, as in tenfold's own models.
    """
    family, spec = _family(model), Spec.of(encoding)
    base, recorded = model.base_model, _recorded(spec)
    layers: list[Any] = [
        base.get_submodule(family.attention.format(number))
        for number in range(model.config.num_hidden_layers)
    ]
    kind = Attends.CAUSAL if all(layer.is_causal for layer in layers) else Attends.TWO_WAY
    encodings = _encodings(spec, model.config, kind)

    _own_config(model)
    model.config.tenfold = recorded
    base.encodings = encodings.to(model.device, model.dtype).train(model.training)
    base.set_submodule(family.positions, NoPositions(model.config))
    if family.embeddings is not None:
        embeddings = base.get_submodule(family.embeddings)
        embeddings.register_forward_pre_hook(_no_position_ids, with_kwargs=True)
    for number, layer in enumerate(layers):  # in a tuple: it belongs to the base, and is saved once
        layer.encoding = (encodings[number],)
        if encodings[number].features:
            layer.register_forward_pre_hook(keep_state, with_kwargs=True)
    model.set_attn_implementation(NAME)
    return model


def _family(model: PreTrainedModel) -> ModelFamily:
    if not isinstance(model, PreTrainedModel):
        raise TenfoldError(f"{model!r} is no model of transformers; GPT2LMHeadModel(config) is one")
    kind = model.config.model_type
    if kind not in FAMILIES:
        raise TenfoldError(
            f'{type(model).__name__} is of the type "{kind}"; positions can be swapped in '
            f"{' and '.join(FAMILIES)}"
        )
    if hasattr(model.base_model, "encodings"):
        raise TenfoldError(
            f"the positions of this {type(model).__name__} are swapped already, for "
            f"{model.config.tenfold}; make or load the model anew"
        )
    for option, right in ONLY.items():
        value = getattr(model.config, option, right)
        if value != right:
            raise TenfoldError(
                f"{option} is {value} in the config of {type(model).__name__}; positions can be "
                f"swapped only with {right}"
            )
    return FAMILIES[kind]


def _recorded(spec: Spec) -> Any:
    """The spec in a form that a config can store."""
    recorded = spec.model_dump()
    try:
        json.dumps(recorded)
    except TypeError:
        raise TenfoldError(
            f'encoding "{spec.name}" with options {spec.options} cannot be written to a config; '
            "give names and numbers"
        ) from None
    return recorded


def _encodings(spec: Spec, config: PreTrainedConfig, kind: Attends) -> Encodings:
    shape = Shape(config.num_hidden_layers, config.hidden_size, config.num_attention_heads)
    encodings = Encodings(ENCODINGS.factory(spec, SIZES), shape, kind)
    first = encodings[0]
    if first.embeds:
        raise TenfoldError(
            f'encoding "{spec.name}" enters at the input, where a Hugging Face model does not know '
            "padding; only encodings that enter attention can be swapped in"
        )
    for axis in sorted(first.axes - {"index"}):
        raise TenfoldError(
            f'encoding "{spec.name}" reads the axis "{axis}"; a Hugging Face model has only "index"'
        )
    return encodings


def _own_config(model: PreTrainedModel) -> None:
    """Another model made from the same config keeps its own positions."""
    shared, own = model.config, copy.deepcopy(model.config)
    modules: list[Any] = list(model.modules())
    for module in modules:
        if getattr(module, "config", None) is shared:
            module.config = own


def _no_position_ids(
    embeddings: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Give zeros as position ids: nothing reads them, and BERT's own list of them is limited."""
    given = kwargs["input_ids"] if kwargs["input_ids"] is not None else kwargs["inputs_embeds"]
    zeros = torch.zeros(1, given.shape[1], dtype=torch.long, device=given.device)
    return args, {**kwargs, "position_ids": zeros}
