"""Parts of a probe that are finished, in files: the same command again goes on after them.

A part is stored exactly as it was computed, and everything that a probe reports is made from stored parts. So a probe
that was stopped and resumed reports the same numbers, to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError
from tenfold.core.files import remove, write_atomically

HASH = "sha256"  # of a part, beside its tensors
SAMPLED = 256  # numbers of each weight that identify it


class FinishedParts:
    """Parts by name in a folder that belongs to one probe; in memory alone without a folder."""

    def __init__(
        self, folder: Path | None, identity: Mapping[str, Any], fresh: bool = False
    ) -> None:
        text = json.dumps(identity, sort_keys=True, default=str)
        self.name = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.folder = None if folder is None else folder / "parts" / self.name
        self.kept: dict[str, dict[str, Tensor]] = {}
        if self.folder is not None and fresh:
            remove(self.folder)

    def get(self, name: str) -> dict[str, Tensor] | None:
        """A part that is finished; None if it has still to be computed."""
        if self.folder is None:
            return self.kept.get(name)
        path = self.folder / f"{name}.safetensors"
        try:
            with safe_open(path, "pt") as file:
                found = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
                stated = (file.metadata() or {}).get(HASH)
        except FileNotFoundError:
            return None
        except (OSError, SafetensorError) as error:
            raise TenfoldError(f"{path} cannot be read ({error}); remove it, or use --fresh") from None  # fmt: skip
        if stated != _digest(found):
            raise TenfoldError(f"{path} was changed after it was written; remove it, or use --fresh")  # fmt: skip
        return found

    def has(self, name: str) -> bool:
        """Whether a part is finished."""
        if self.folder is None:
            return name in self.kept
        return (self.folder / f"{name}.safetensors").is_file()

    def make(self, name: str, compute: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
        """A part, computed and stored unless it is there."""
        found = self.get(name)
        if found is not None:
            return found
        made = {key: value.contiguous() for key, value in compute().items()}
        if self.folder is None:
            self.kept[name] = made
        else:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise TenfoldError(f"cannot write to {self.folder}: {error.strerror or error}") from None  # fmt: skip
            write_atomically(self.folder / f"{name}.safetensors", save(made, {HASH: _digest(made)}))
        return made


def _digest(tensors: Mapping[str, Tensor]) -> str:
    """The hash of all tensors, with their names and kinds."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


@torch.no_grad()
def weights_stamp(model: nn.Module) -> str:
    """A hash of some numbers of every weight, which any training step changes."""
    digest = hashlib.sha256()
    for name, weight in model.named_parameters():
        flat = weight.flatten()
        some = flat[:: max(1, flat.numel() // SAMPLED)].float().cpu()
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}".encode())
        digest.update(some.numpy().tobytes())
    return digest.hexdigest()[:16]
