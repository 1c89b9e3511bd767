"""A folder belongs to one process at a time, on whichever machine that shares it.

The holder of a lease has the file `lease-N` in the folder and renews it by touching it. When its process
is gone (on this machine), or nobody renewed it for a minute (on another), it may be taken over by creating
`lease-N+1`, which one process alone can do: numbers only grow, a released lease stays until the next is
taken. Whoever finds a higher number has lost the folder, so a process that slept through its lease cannot
go on writing over its successor's work.

A lease can look ended while its holder is well: the clock jumped, or the file was copied. So who takes over a lease
by its time alone waits before it writes. In this time a holder that is well renews, finds the higher number, and
stops. A lease from the future, which no renewal explains, has ended too.

A lease is written whole under another name before it has its own, and it is released in the same way. So a process
that dies at any moment leaves a lease that names it, or none.
"""

from __future__ import annotations

import json
import os
import platform
import re
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import make_folder, sync, write_synced
from tenfold.core.stored_files import read_json_mapping

LIFE = 60.0  # seconds after which a lease that is not renewed has ended
RENEWALS = 6  # in a life
GRACE = 2  # renewals that a holder has to find out, before its successor writes
POLL = 0.2  # seconds between two looks at a lease that another holds
HIDDEN = ".lease-"  # how the names of files begin that are there for a moment only
UNKNOWN = "unknown"  # when a process began, where the system does not show it


class Lost(TenfoldError):
    """Another process has taken the folder over; this one must not write to it any more."""


class InUse(TenfoldError):
    """Another process works in the folder."""


class Lease:
    """`with Lease(folder) as lease: ...; lease.check()` raises `Lost` once the folder is another's."""

    def __init__(self, folder: Path, patience: float = 0.0, life: float = LIFE) -> None:
        self.folder, self.patience, self.life = folder, patience, life
        self.attempt = uuid.uuid4().hex
        self.path = folder
        self._renewed = 0.0
        self._lost = self._doubtful = False
        self._ended = threading.Event()

    def __enter__(self) -> Lease:
        deadline = _clock() + self.patience
        try:
            make_folder(self.folder)
            while not self._take():
                if _clock() >= deadline:
                    raise InUse(
                        f"{self.folder} is in use by {_holder(self.path)}; wait for it, or use --out"
                    )
                time.sleep(POLL)
            self._renewed = _clock()
            if self._doubtful:
                self._wait_for_holder()
        except OSError as error:
            raise TenfoldError(
                f"cannot write to {self.folder}: {error.strerror or error}"
            ) from None
        threading.Thread(target=self._keep, name=f"lease of {self.folder}", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        with suppress(OSError):
            if not self._lost and self._ours():
                self._release()

    def _release(self) -> None:
        temporary, content = (
            _temporary(self.folder),
            _json({"attempt": self.attempt, "released": True}),
        )
        try:
            temporary.write_bytes(content)
            temporary.replace(self.path)
        except OSError:  # no room for another file
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            self.path.write_bytes(content)

    def check(self) -> None:
        """Raise `Lost` if the folder is no longer ours."""
        if not self._lost and _clock() - self._renewed > self.life / 2:
            self._renew()  # we slept, or the thread that renews did
        if self._lost:
            raise Lost(f"{self.folder} was taken over by another process; this one stops")

    def confirm(self) -> None:
        """As `check`, but looks at the folder now."""
        self._renew()
        self.check()

    def _take(self) -> bool:
        """Create the next lease, if there is none or the last has ended."""
        existing = leases(self.folder)
        if existing and not ended(existing[-1], self.life):
            self.path = existing[-1]
            return False
        self._doubtful = bool(existing) and _by_time(_read(existing[-1]))
        number = _number(existing[-1]) + 1 if existing else 1
        path = self.folder / f"lease-{number:06d}"
        self.path = path
        if not _create(path, _json({"attempt": self.attempt, **_self()})):  # another was faster
            return False
        highest = leases(self.folder)[-1]
        if (
            highest != path
        ):  # we looked long ago: others came and went, and a higher one is in force
            path.unlink(missing_ok=True)
            self.path = highest
            return False
        for left in (*existing, *self.folder.glob(f"{HIDDEN}*")):
            with suppress(OSError):  # a folder of this name stays, below ours
                left.unlink()
        return True

    def _wait_for_holder(self) -> None:
        """Let the holder before us, if it is well, find out that the folder is ours."""
        until = _clock() + GRACE * self.life / RENEWALS
        while _clock() < until and not self._lost:
            time.sleep(min(POLL, self.life / RENEWALS))
            self._renew()
        self.check()

    def _keep(self) -> None:
        while not self._ended.wait(self.life / RENEWALS) and not self._lost:
            self._renew()

    def _renew(self) -> None:
        if self._lost or self._ended.is_set():
            return
        try:
            if self._ours():
                os.utime(self.path)
                self._renewed = _clock()
            else:
                self._lost = True
        except OSError:  # the folder cannot be reached; it may be again before our time is up
            self._lost = _clock() - self._renewed > self.life

    def _ours(self) -> bool:
        existing = leases(self.folder)
        return (
            bool(existing)
            and existing[-1] == self.path
            and _read(self.path).get("attempt") == self.attempt
        )


def _create(path: Path, content: bytes) -> bool:
    """Create a lease, whole; False if its number is taken."""
    temporary = _temporary(path.parent)
    try:
        write_synced(temporary, content)
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            return False
        except FileNotFoundError:  # who has the folder removed our file
            return False
        except (OSError, NotImplementedError):  # a file system without second names
            return _create_in_place(path, content)
        sync(path.parent)
        return True
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _create_in_place(path: Path, content: bytes) -> bool:
    """Create a lease that is empty for a moment; if its process dies in it, its time has to pass."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return False
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    return True


def _temporary(folder: Path) -> Path:
    """A name of our own beside the leases, which whoever takes the folder next removes."""
    return folder / f"{HIDDEN}{uuid.uuid4().hex}"


def _json(lease: dict[str, Any]) -> bytes:
    return json.dumps(lease).encode()


def leases(folder: Path) -> list[Path]:
    """The leases of a folder; the last is in force. A folder that cannot be looked into is an error."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    paths = [folder / name for name in names if re.fullmatch(r"lease-[0-9]{6,}", name)]
    return sorted(paths, key=_number)


def _number(path: Path) -> int:
    return int(path.name.removeprefix("lease-"))


def ended(path: Path, life: float = LIFE) -> bool:
    """Whether another may take over: on this machine the process decides, elsewhere the time since the last renewal."""
    lease = _read(path)
    if lease.get("released"):
        return True
    if _visible(lease):
        return _gone(lease)
    try:
        return abs(_now(path.parent) - path.lstat().st_mtime) > life
    except FileNotFoundError:
        return True


def _by_time(lease: dict[str, Any]) -> bool:
    """Whether only its time says that a lease has ended."""
    return not lease.get("released") and not _visible(lease)


def here(path: Path) -> bool:
    """Whether the holder is a process of this machine, which we can see."""
    return _visible(_read(path))


def _visible(lease: dict[str, Any]) -> bool:
    pid = lease.get("pid")
    return lease.get("machine") == _machine() and isinstance(pid, int) and 0 < pid < 2**31


def _read(path: Path) -> dict[str, Any]:
    """The content of a lease; empty while it is being written."""
    try:
        return read_json_mapping(path.parent, path.name, "a lease")
    except (FileNotFoundError, TenfoldError):
        return {}


def _now(folder: Path) -> float:
    """The time by the clock of the file system, which the machines that share it may not agree with."""
    probe = _temporary(folder)
    with probe.open("xb") as file:
        probe.unlink(missing_ok=True)
        return os.fstat(file.fileno()).st_mtime


def _self() -> dict[str, Any]:
    pid = os.getpid()
    return {
        "host": platform.node(),
        "machine": _machine(),
        "pid": pid,
        "started": _started(pid),
    }


def _machine() -> str:
    """A name for all processes that see each other's numbers: this boot, these process numbers."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return f"{platform.node()} {uuid.getnode()}"


def _gone(lease: dict[str, Any]) -> bool:
    """Whether the process of a lease has ended; another one may have its number by now."""
    try:
        os.kill(int(lease["pid"]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # another user's: it is there, and we may not know more
        return False
    return _started(int(lease["pid"])) not in (lease.get("started"), UNKNOWN)


def _started(pid: int) -> str | None:
    """When a process began, by its own clock; None of a zombie, which does nothing any more."""
    try:
        state, *numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if state in "ZX" else numbers[18]
    except (OSError, ValueError, IndexError):
        return UNKNOWN


def _clock() -> float:
    """Seconds; they go on while the machine sleeps, where the system has such a clock."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _holder(path: Path) -> str:
    lease = _read(path)
    if "pid" not in lease:
        return "another process"
    return f"process {lease['pid']}" + ("" if here(path) else f" on {lease.get('host')}")
