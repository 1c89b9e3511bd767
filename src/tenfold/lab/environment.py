"""Where and with what a run was made."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tenfold import __version__


def environment() -> dict[str, Any]:
    """Where and with what a run was made."""
    return {
        "tenfold": __version__,
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def commit() -> str | None:
    """The commit of the source tree that tenfold runs from, if it is one; `+` where files were changed."""
    here, own = Path(__file__).resolve().parent, Path(__file__).name
    tracked = ["git", "-C", str(here), "ls-files", "--error-unmatch", own]
    try:
        subprocess.run(tracked, capture_output=True, timeout=10, check=True)
        told = subprocess.run(
            [
                "git",
                "-C",
                str(here),
                "describe",
                "--always",
                "--dirty=+",
                "--abbrev=12",
                "--exclude=*",
            ],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip()
