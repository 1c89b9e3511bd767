"""Bring a swapped model back from the folder that `save_pretrained` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from huggingface_hub import load_torch_model
from transformers import AutoConfig, GenerationConfig, PreTrainedModel

from tenfold.core.errors import TenfoldError
from tenfold.hf.swapping import Model, swap


def load(kind: type[Model], folder: str | Path) -> Model:
    """The same model in evaluation mode: `load(GPT2LMHeadModel, "runs/alibi")`.

    Transformers' own `from_pretrained` does not know the encoding. Weights that are missing from the
    folder, or that the model has no place for, are an error.
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file() or not any(folder.glob("model*.safetensors")):
        raise TenfoldError(
            f"{folder} is no saved model: config.json and model.safetensors make one"
        )
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    encoding = getattr(config, "tenfold", None)
    if encoding is None:
        raise TenfoldError(
            f"the model in {folder} has its own positions; load it with "
            f"{kind.__name__}.from_pretrained, then swap"
        )
    if kind.__name__ not in config.architectures:
        raise TenfoldError(f"{folder} contains a {config.architectures[0]}, not a {kind.__name__}")
    model = swap(kind(config), encoding).to(config.dtype)
    _fill(model, folder)
    if (folder / "generation_config.json").is_file():
        model.generation_config = GenerationConfig.from_pretrained(folder, local_files_only=True)
    return model.eval()


def _fill(model: PreTrainedModel, folder: Path) -> None:
    loaded: Any = load_torch_model(model, folder, safe=True, weights_only=True)  # no pickles
    weights = model.state_dict(keep_vars=True)
    filled = {id(weights[name]) for name in weights.keys() - set(loaded.missing_keys)}
    # a weight that is tied to another is saved once
    missing = [name for name in loaded.missing_keys if id(weights[name]) not in filled]
    for what, names in (("lacks", missing), ("also has", loaded.unexpected_keys)):
        if names:
            raise TenfoldError(f"the model in {folder} {what} the weights {', '.join(names)}")
