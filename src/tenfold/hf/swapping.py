"""Take the positions out of a Hugging Face model and put an encoding in."""

from __future__ import annotations

import copy
import json
from typing import Any, TypeVar

from transformers import PreTrainedConfig, PreTrainedModel

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.encodings.encoding import ENCODINGS, SIZES, Attends
from tenfold.hf.families import FAMILIES, ModelFamily
from tenfold.hf.interface import NAME, keep_state
from tenfold.models.stack import Encodings, Shape

Model = TypeVar("Model", bound=PreTrainedModel)


ONLY = {  # options of a config, and the value for which attention is q.k / sqrt(K) within one sequence
    "add_cross_attention": False,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "reorder_and_upcast_attn": False,
    "is_causal": True,
}


def swap(model: Model, encoding: str | dict[str, Any] | Spec) -> Model:
    """The model itself, with `encoding` as its only position: `swap(model, "alibi")`.

    `{"name": "pairwise", "relation": {"reach": 64, "clip": True}}` gives options. The encodings are
    `model.base_model.encodings`, one a layer or one for all, as in tenfold's own models.
    """
    family, spec = _family(model), Spec.of(encoding)
    base, recorded = model.base_model, _recorded(spec)
    kind = Attends.CAUSAL if all(_is_causal(layer) for layer in _layers(model)) else Attends.TWO_WAY
    encodings = _encodings(spec, model.config, kind)

    _own_config(model)
    model.config.tenfold = recorded
    base.encodings = encodings.to(model.device, model.dtype).train(model.training)
    family.take_out(base)
    for number, layer in enumerate(_layers(model)):
        layer.encoding = (
            encodings[number],
        )  # in a tuple: it belongs to the base, and is saved once
        if encodings[number].features:
            layer.register_forward_pre_hook(keep_state, with_kwargs=True)
    model.config._attn_implementation = NAME
    return model


def _family(model: PreTrainedModel) -> ModelFamily:
    if not isinstance(model, PreTrainedModel):
        raise TenfoldError(f"{model!r} is no model of transformers; GPT2LMHeadModel(config) is one")
    kind = model.config.model_type
    if kind not in FAMILIES:
        raise TenfoldError(
            f'{type(model).__name__} is of the type "{kind}"; positions can be swapped in '
            f"{', '.join(FAMILIES)}"
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


def _layers(model: PreTrainedModel) -> list[Any]:
    """The attention of every layer."""
    place = FAMILIES[model.config.model_type].attention
    numbers = range(model.config.num_hidden_layers)
    return [model.base_model.get_submodule(place.format(number)) for number in numbers]


def _is_causal(layer: Any) -> bool:
    return getattr(layer, "is_causal", True)  # Bloom, which is always, does not say so


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
    encodings = Encodings(
        ENCODINGS.factory(spec, SIZES),
        shape,
        kind,
        head_size=getattr(config, "head_dim", None),  # where it is not width / heads
    )
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
    window = getattr(config, "sliding_window", None)
    if window is not None and any(
        getattr(part, "reads_first", False) for part in encodings.modules()
    ):
        raise TenfoldError(
            f'encoding "{spec.name}" needs the first token, which the sliding window of {window} tokens drops '
            "from the cache; sliding_window=None in the config is right"
        )
    return encodings


def _own_config(model: PreTrainedModel) -> None:
    """Another model made from the same config keeps its own positions."""
    shared, own = model.config, copy.deepcopy(model.config)
    modules: list[Any] = list(model.modules())
    for module in modules:
        if getattr(module, "config", None) is shared:
            module.config = own
