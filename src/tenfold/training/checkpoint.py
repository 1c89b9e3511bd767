"""Checkpoints that are whole or not there.

A checkpoint is a folder of safetensors and one JSON, written under a temporary name beside its place,
synced, given a manifest of sizes and SHA-256, and renamed. The newest that verifies is loaded, else the
one before, with a warning; when some exist and none verifies, that is an error.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import sync, write_synced

if TYPE_CHECKING:  # counting checkpoints does not need torch
    from torch import Tensor

Tensors = dict[str, "Tensor"]


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training after a step: tensors by file, and plain values."""

    step: int
    tensors: dict[str, Tensors]  # by file: model, optimizer, ...
    state: dict[str, Any]


class Checkpoints:
    """The checkpoints of a run in one folder; the newest `keep` stay."""

    def __init__(self, folder: Path, keep: int = 2) -> None:
        self.folder, self.keep = folder, keep

    def steps(self) -> list[int]:
        paths = self.folder.glob("step-*") if self.folder.is_dir() else ()
        numbers = (path.name.removeprefix("step-") for path in paths)
        return sorted(int(number) for number in numbers if number.isdecimal())

    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:09d}"

    def save(self, step: int, tensors: dict[str, Tensors], state: dict[str, Any]) -> None:
        import safetensors.torch

        files = {
            f"{name}.safetensors": safetensors.torch.save(
                {key: tensor.detach().cpu().contiguous() for key, tensor in group.items()}
            )
            for name, group in tensors.items()
        }
        files["state.json"] = json.dumps({**state, "step": step}, indent=1).encode()
        manifest = {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
        }
        files["manifest.json"] = json.dumps(manifest, indent=1).encode()
        place = self.path(step)
        temporary = self.folder / f".writing-{uuid.uuid4().hex}-{place.name}"
        try:
            temporary.mkdir(parents=True)
            for name, data in files.items():
                write_synced(temporary / name, data)
            sync(temporary)
            if place.exists():  # an invalid one that something else left
                shutil.rmtree(place)
            temporary.rename(place)
            sync(self.folder)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise TenfoldError(
                f"cannot write a checkpoint to {self.folder}: {error.strerror or error}; "
                f"the ones before it are kept"
            ) from None
        self._forget()

    def _forget(self) -> None:
        for step in self.steps()[: -self.keep]:
            shutil.rmtree(self.path(step), ignore_errors=True)
        for left in self.folder.glob(".writing-*"):
            shutil.rmtree(left, ignore_errors=True)

    def latest(self) -> Checkpoint | None:
        """The newest valid checkpoint; None when there has never been one."""
        problems = []
        for step in reversed(self.steps()):
            try:
                loaded = self._load(step)
            except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
                problems.append(f"{self.path(step).name}: {error}")
                continue
            for problem in problems:
                warnings.warn(f"skipped a damaged checkpoint, {problem}", stacklevel=2)
            return loaded
        if problems:
            raise TenfoldError(
                f"no valid checkpoint in {self.folder} ({'; '.join(problems)}); "
                "--fresh starts the run over"
            )
        return None

    def _load(self, step: int) -> Checkpoint:
        import safetensors.torch

        place = self.path(step)
        manifest = json.loads((place / "manifest.json").read_bytes())
        files = {}
        for name, expected in manifest.items():
            data = (place / name).read_bytes()
            if len(data) != expected["size"]:
                raise ValueError(f"{name} has {len(data)} bytes of {expected['size']}")
            if hashlib.sha256(data).hexdigest() != expected["sha256"]:
                raise ValueError(f"{name} was changed after it was written")
            files[name] = data
        tensors = {
            name.removesuffix(".safetensors"): safetensors.torch.load(data)
            for name, data in files.items()
            if name.endswith(".safetensors")
        }
        return Checkpoint(step, tensors, json.loads(files["state.json"]))
