"""The rotary positions of a Hugging Face model as an encoding of tenfold, with the same angles."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedConfig, PreTrainedModel

from tenfold.core.errors import TenfoldError

NAMES = {  # of options: in the config of a model, and in tenfold
    "default": ("rotary", {}),
    "linear": ("rotary-linear", {"factor": "factor"}),
    "yarn": (
        "rotary-yarn",
        {
            "factor": "factor",
            "original_max_position_embeddings": "trained",
            "beta_fast": "fast",
            "beta_slow": "slow",
        },
    ),
}
EVERYWHERE = {"rope_theta": "base", "partial_rotary_factor": "share"}


def own_rotary(model: PreTrainedModel | PreTrainedConfig) -> dict[str, Any]:
    """The encoding whose logits are those of the model itself: `swap(model, own_rotary(model))`.

    With this as a start, one thing can be changed: `{**own_rotary(model), "base": 500_000.0}`.
    """
    config: Any = getattr(model, "config", model)
    given = dict(getattr(config, "rope_parameters", None) or {})
    if "rope_theta" not in given:
        raise TenfoldError(f'a model of the type "{config.model_type}" has no rotary positions')
    kind = given.pop("rope_type", "default")
    if kind not in NAMES:
        raise TenfoldError(
            f'the rotary positions of this model are scaled by "{kind}", which tenfold does not have; '
            f"it has {', '.join(NAMES)}"
        )
    name, options = NAMES[kind]
    known = {**EVERYWHERE, **options}
    for option in sorted(given.keys() - known):
        raise TenfoldError(
            f'the rotary positions of this model have the option "{option}", which tenfold\'s encoding '
            f'"{name}" does not have; it has {", ".join(known)}'
        )
    return {
        "name": name,
        **{known[key]: value for key, value in given.items() if value is not None},
    }
