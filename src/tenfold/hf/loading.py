"""Bring a swapped model back from the folder that `save_pretrained` wrote."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoConfig, GenerationConfig, PreTrainedModel

from tenfold.core.errors import TenfoldError
from tenfold.hf.families import FAMILIES
from tenfold.hf.swapping import Model, swap


def load(kind: type[Model], folder: str | Path) -> Model:
    """The same model in evaluation mode: `load(GPT2LMHeadModel, "runs/alibi")`.

    Transformers' own `from_pretrained` does not know the encoding. Only tensors are read, from safetensors:
    no pickle and no code. Weights that are missing from the folder, or that the model has no place for, are
    an error.
    """
    folder = Path(folder)
    _check(folder)
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


def _check(folder: Path) -> None:
    if (folder / "config.json").is_file() and any(folder.glob("model*.safetensors")):
        return
    for pickled in sorted([*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")]):
        raise TenfoldError(
            f"{pickled} is a pickle, which can run code when it is read; only safetensors are read "
            "(save_pretrained writes them)"
        )
    raise TenfoldError(f"{folder} is no saved model: config.json and model.safetensors make one")


def _fill(model: PreTrainedModel, folder: Path) -> None:
    own, saved = model.state_dict(keep_vars=True), _weights(folder)
    for before, after in FAMILIES[model.config.model_type].saved_as.items():
        saved = {after if name == before and after in own else name: saved[name] for name in saved}
    try:
        loaded = model.load_state_dict(saved, strict=False)
    except (
        RuntimeError
    ) as error:  # the first line names the class, the second the weight and both sizes
        reason = str(error).splitlines()[-1].strip()
        raise TenfoldError(f"the model in {folder} does not fit its config: {reason}") from None
    filled = {id(own[name]) for name in own.keys() - set(loaded.missing_keys)}
    # a weight that is tied to another is saved once
    missing = [name for name in loaded.missing_keys if id(own[name]) not in filled]
    for what, names in (("lacks", missing), ("also has", loaded.unexpected_keys)):
        if names:
            raise TenfoldError(f"the model in {folder} {what} the weights {', '.join(names)}")


def _weights(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder: of one file, or of those that its index names."""
    index, files = folder / "model.safetensors.index.json", ["model.safetensors"]
    if index.is_file():
        try:
            files = sorted(set(json.loads(index.read_text())["weight_map"].values()))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise TenfoldError(f"{index} is damaged: {error}") from None
    weights: dict[str, Tensor] = {}
    for name in files:
        try:
            weights |= load_file(folder / Path(name).name)
        except (OSError, SafetensorError) as error:
            raise TenfoldError(f"{folder / name} cannot be read as safetensors: {error}") from None
    return weights
