"""Checkpoints that are whole or not there.

A checkpoint is a folder of safetensors and one JSON, written under a temporary name beside its place,
synced, given a manifest of sizes and SHA-256, and renamed. The newest that verifies is loaded, else the
one before, with a warning; when some exist and none verifies, that is an error.
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import make_folder, sync, write_synced
from tenfold.core.stored_files import MANIFEST, check_inside, manifest, read_checked, read_manifest

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
        names = (path.name for path in paths)
        return sorted(int(name[5:]) for name in names if re.fullmatch(r"step-[0-9]{9,18}", name))

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
        files[MANIFEST] = manifest(files)
        place = self.path(step)
        check_inside(self.folder.parent, self.folder.name)
        temporary = self.folder / f".writing-{uuid.uuid4().hex}-{place.name}"
        try:
            make_folder(self.folder)
            temporary.mkdir()
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
            except (TenfoldError, OSError, ValueError, LookupError) as error:
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
        place = check_inside(self.folder.parent, f"{self.folder.name}/{self.path(step).name}")
        files = {
            name: read_checked(place, name, stated) for name, stated in read_manifest(place).items()
        }
        tensors = {
            name.removesuffix(".safetensors"): parse_tensors(data, place / name)
            for name, data in files.items()
            if name.endswith(".safetensors")
        }
        state = json.loads(files["state.json"])
        if not isinstance(state, dict) or state.get("step") != step:
            raise ValueError(f"state.json is not of step {step}")
        return Checkpoint(step, tensors, state)


def parse_tensors(data: bytes, path: Path) -> Tensors:
    """The tensors of a safetensors file by name; no such file can execute anything."""
    import safetensors
    import safetensors.torch

    try:
        return safetensors.torch.load(data)
    except (safetensors.SafetensorError, ValueError, LookupError, RuntimeError) as error:
        raise TenfoldError(
            f"{path} holds no tensors: {' '.join(str(error).split())[:160]}"
        ) from None
