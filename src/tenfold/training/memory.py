"""Memory that a step frees is kept for the next one.

By default the C library hands the activations of each step back to the kernel, which clears every page when
the next step asks for it again: thousands of page faults, up to a tenth of a step's time on a CPU.
"""

from __future__ import annotations

import ctypes
import sys

TRIM, MAP = -1, -3  # malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
LARGE = 2**30  # bytes


def keep_memory() -> bool:
    """Ask the C library to keep what is freed, for the whole process; False where it cannot be asked."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    # Either setting alone ends the library's own adaptation of the other, and is worse than neither.
    return any(mallopt(MAP, size) for size in (LARGE, 2**25)) and bool(mallopt(TRIM, LARGE))
