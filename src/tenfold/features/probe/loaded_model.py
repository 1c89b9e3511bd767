"""Load a causal language model and its tokenizer: from a folder or from the hub, safetensors alone, no remote code."""

from __future__ import annotations

import contextlib
import logging as std_logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging

from tenfold import hf
from tenfold.core.errors import TenfoldError, unknown
from tenfold.models.usable_device import usable_device

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "float64": torch.float64}  # fmt: skip
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def load_model(name: str, dtype: str = "float32", device: str = "cpu") -> PreTrainedModel:
    """The model of a folder or of a name on the hub, in evaluation mode. Its code is that of transformers."""
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    where = usable_device(device)
    folder = Path(name).expanduser()
    local = folder.is_dir()
    if not local and (name.startswith((".", "/", "~")) or name.count("/") > 1 or folder.exists()):
        raise TenfoldError(f"{name} is no folder of a model; one has config.json, model.safetensors and a tokenizer")  # fmt: skip
    place = str(folder) if local else name
    if local:
        _check_folder(folder)
    with _quiet(), _one_line(name):
        config = AutoConfig.from_pretrained(place, trust_remote_code=False)
    kind = _causal(config, name)
    with _quiet(), _one_line(name):
        if getattr(config, "tenfold", None) is not None:
            model: Any = hf.load(kind, place)
        else:
            model = AutoModelForCausalLM.from_pretrained(
                place, trust_remote_code=False, use_safetensors=True, dtype=DTYPES[dtype]
            )
        return model.to(device=where, dtype=DTYPES[dtype]).eval()


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a folder or of a name on the hub."""
    folder = Path(name).expanduser()
    place = str(folder) if folder.is_dir() else name
    missing = f"{name} has no tokenizer; save it there with tokenizer.save_pretrained, or name another with --tokenizer"
    if folder.is_dir() and not any(folder.glob("*token*")) and not any(folder.glob("vocab*")):
        raise TenfoldError(missing)
    try:
        with _quiet():
            return AutoTokenizer.from_pretrained(place, trust_remote_code=False)
    except Exception as error:  # of many kinds, by the kind of tokenizer
        reason = " ".join(str(error).split())[:160]
        raise TenfoldError(f"{missing} ({reason})") from None


def _check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise TenfoldError(f"{folder} is no model: it has no config.json")
    if any(folder.glob("*.safetensors")):
        return
    pickles = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
    if pickles:
        raise TenfoldError(
            f"the weights of {folder} are pickles ({pickles[0]}), which can execute code and are refused; "
            "save them with model.save_pretrained, which writes safetensors"
        )
    raise TenfoldError(f"{folder} has no weights; model.safetensors is wanted")


def _causal(config: Any, name: str) -> Any:
    """The class of the model; an error if it predicts no next token."""
    known = {each for each in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values() if isinstance(each, str)}
    stated = list(getattr(config, "architectures", None) or [])
    causal = [each for each in stated if each in known]
    if not causal:
        what = ", ".join(stated) or f'a model of the type "{config.model_type}"'
        raise TenfoldError(f"{name} is {what}, no causal language model; LlamaForCausalLM is one")
    return getattr(transformers, causal[0])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without bars and advice of the library; what matters is an error."""
    level = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    hub = std_logging.getLogger("huggingface_hub")
    loud, bars = hub.level, logging.is_progress_bar_enabled()
    hub.setLevel(std_logging.ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(level)
        hub.setLevel(loud)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def _one_line(name: str) -> Iterator[None]:
    """What the library raises for a name, as one line."""
    try:
        yield
    except TenfoldError:
        raise
    except (
        Exception
    ) as error:  # of many kinds: the network, a missing or gated name, a damaged file
        raise TenfoldError(_reason(name, error)) from None


def _reason(name: str, error: Exception) -> str:
    text, chain = " ".join(str(error).split()), list[str]()
    link: BaseException | None = error
    while link is not None and len(chain) < 10:
        chain.append(f"{type(link).__name__} {link}")
        link = link.__cause__ or link.__context__
    every = " ".join(chain)
    if "trust_remote_code" in text:
        return f"{name} needs code of its own, which is not executed; a model of transformers itself is right"
    if "does not appear to have a file named" in text and "safetensors" in text:
        return f"{name} has no safetensors; pickled weights can execute code and are refused"
    if any(sign in every for sign in ("RepositoryNotFound", "404", "not a valid model identifier")):
        return f'there is no folder "{name}", and the hub has no model of that name'
    if any(sign in every for sign in ("ConnectError", "ConnectionError", "OfflineMode", "couldn't connect", "LocalEntryNotFound", "Timeout", "resolve")):  # fmt: skip
        return f'there is no folder "{name}", and the hub cannot be reached; download the model and name its folder'
    return f"cannot load {name}: {text[:200]}"
