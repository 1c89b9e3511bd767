"""Where and with what a run was made."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from tenfold import __version__
from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import read_json_mapping

RECIPE_HASH = "recipe_sha256"  # the key of the hash of recipe.yaml in environment.json


def environment() -> dict[str, Any]:
    """Where and with what a run was made."""
    import torch  # reading what is stored here does not need it

    return {
        "tenfold": __version__,
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "command": command_line(sys.argv),
    }


def processor() -> str:
    """The processor's name where the system gives it, and the instructions that torch uses, since other ones round differently."""
    import torch

    try:
        match = re.search(
            r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
    except OSError:  # not a Linux
        match = None
    name = match[1].strip() if match else platform.processor() or platform.machine()
    return f"{name}, {torch.backends.cpu.get_cpu_capability()}"


def command_line(words: Sequence[str]) -> str:
    """The command as it was called, with the last part of every absolute path, since results are read elsewhere.

    >>> command_line(
    ...     [".venv/bin/tenfold", "sweep", "/home/me/a.py", "--out=/home/me/runs", "--seed", "1"]
    ... )
    'tenfold sweep a.py --out=runs --seed 1'
    """
    rest = [re.sub(r"(?<![^=])/\S*/([^/\s]+)/?$", r"\1", word) for word in words[1:]]
    return " ".join([Path(words[0]).name, *rest])


def commit() -> str | None:
    """The commit of the source tree that tenfold runs from, if it is one; `+` where code or recipes were changed since."""
    here = Path(__file__).resolve()
    root = here.parents[3]
    try:
        _git(here.parent, "ls-files", "--error-unmatch", here.name)
        changed = _git(root, "status", "--porcelain", "--", "src", "papers", ":!*.md")
        return _git(root, "rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *words: str) -> str:
    """What git says. Without its locks, which it would leave behind if it were killed with this process."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()


def newer_version(folder: Path) -> str | None:
    """The message for a run that a newer tenfold made; None for any other run."""
    try:
        made = read_json_mapping(folder, "environment.json", "an environment").get("tenfold")
    except (OSError, TenfoldError):
        return None
    if isinstance(made, str) and version_numbers(made) > version_numbers(__version__):
        return f"{folder} was made by tenfold {made[:40]}, newer than this {__version__}"
    return None


def version_numbers(version: str) -> tuple[int, ...]:
    """
    >>> version_numbers("0.10.2") > version_numbers("0.9")
    True
    """
    match = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    return tuple(map(int, match[0].split("."))) if match else ()
