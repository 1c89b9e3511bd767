"""The memory that there is and that is free: of the machine, and within the limit (cgroup 2) of this process."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")


def available(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int | None:
    """Bytes that can be taken without swapping; None where the system does not show it."""
    limits = _read(meminfo, "MemAvailable")
    with suppress(OSError, ValueError, KeyError):  # "max" is no number: no limit
        limit = int((cgroup / "memory.max").read_text())
        parts = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        used = int((cgroup / "memory.current").read_text()) - int(parts["inactive_file"])
        limits.append(max(0, limit - used))
    return min(limits) if limits else None


def total(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int | None:
    """Bytes that there are, used or not; None where the system does not show it."""
    limits = _read(meminfo, "MemTotal")
    with suppress(OSError, ValueError):
        limits.append(int((cgroup / "memory.max").read_text()))
    if not limits:
        with suppress(OSError, ValueError):  # other systems than Linux
            limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(limits) if limits else None


def _read(meminfo: Path, key: str) -> list[int]:
    """The bytes that a line of /proc/meminfo states, where there is one."""
    with suppress(OSError, ValueError, LookupError):
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        return [int(lines[key].split()[0]) * 1024]
    return []


def taken(pid: int) -> int:
    """Bytes that a process uses; 0 where the system does not show it."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0
