"""Is this machine fit to train on: versions, cores, memory, disk, devices, speed."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import torch

from tenfold import __version__
from tenfold.runs.cost import matmul_rate
from tenfold.sweeps.local_pool import cores


@dataclass(frozen=True)
class Finding:
    what: str
    result: str
    ok: bool = True


def checkup() -> list[Finding]:
    free = shutil.disk_usage(".").free / 2**30
    torch.set_num_threads(1)
    rate = matmul_rate() / 1e9
    return [
        Finding("tenfold", f"{__version__} in {Path(__file__).parents[1]}"),
        Finding(
            "python", f"{platform.python_version()}; 3.11 or newer", sys.version_info >= (3, 11)
        ),
        Finding("torch", torch.__version__),
        Finding("cores", f"{cores()}; a sweep runs one single-threaded process on each"),
        Finding("memory", _memory()),
        Finding("disk", f"{free:.1f} GiB free here; 1 is enough for a start", free > 1),
        Finding("folder", f"{Path.cwd()} can be written to", os.access(".", os.W_OK)),
        Finding("speed", f"{rate:.0f} GFLOPS in a large product on one core"),
        Finding("devices", _devices()),
    ]


def _memory() -> str:
    if not hasattr(os, "sysconf"):
        return "unknown"
    page = os.sysconf("SC_PAGE_SIZE")
    free, whole = os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    return f"{free / 2**30:.1f} of {whole / 2**30:.1f} GiB free"


def _devices() -> str:
    devices = ["cpu"]
    if torch.cuda.is_available():
        devices += [f"cuda ({torch.cuda.get_device_name(0)})"]
    if torch.backends.mps.is_available():
        devices += ["mps"]
    return ", ".join(devices)
