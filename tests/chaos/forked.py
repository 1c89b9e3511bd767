"""A case of an attack: a forked process with its own folder, output, limits of time and memory."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HANG = 30.0  # seconds
SHOWN = (0.2, 0.5, 1.0)  # seconds, after which a command that says what it does is interrupted
MEMORY = 4 * 2**30  # bytes
Action = Callable[[], None]


@dataclass(frozen=True)
class Ended:
    """How a process ended; `code` is negative for a signal."""

    code: int
    out: str
    err: str
    seconds: float  # of all computing
    memory: int  # bytes, the most that it had
    hung: bool

    def problem(self) -> str | None:
        """What no command may do, whatever it was given."""
        errors = [line for line in self.err.splitlines() if line.startswith("error:")]
        if self.hung:
            return f"no end after {HANG:.0f} s"
        if self.memory > MEMORY or "more memory than there is" in self.err:
            return f"took {self.memory / 2**30:.1f} GB"
        if "Traceback (most recent call last)" in self.err:
            return "traceback: " + self.err.strip().splitlines()[-1][:200]
        if self.code < 0:
            return f"ended by {signal.Signals(-self.code).name}"
        if len(errors) > 1:
            return f"{len(errors)} lines of errors"
        if self.code in (2, 3) and not errors and "not checked:" not in self.out:
            return f"exit code {self.code} without an error: {self.err.strip()[-200:]}"
        return None


def run(
    action: Action,
    folder: Path,
    *,
    during: Callable[[int], None] | None = None,
    shown: float | None = None,
    hang: float = HANG,
) -> Ended:
    """Run `action` in a forked process in `folder`; `during` is called with the process's number meanwhile.

    A process hangs if it does not end within `hang` seconds of its own time. With `shown`, it is watched for so many seconds
    first. One that shows by then, or later, what it does is interrupted, as a person would, and has 30 seconds to end.
    """
    out, err = folder / ".out", folder / ".err"
    for path in (out, err):
        path.touch()  # a process may be killed before it opens them
    sys.stdout.flush()
    sys.stderr.flush()
    if (pid := os.fork()) == 0:
        _become(action, folder, out, err)
    handle = os.pidfd_open(pid)

    def says() -> bool:
        return out.stat().st_size + err.stat().st_size > 0

    try:
        if during is not None:
            during(pid)
        hung = not _ends(pid, handle, hang if shown is None else shown)
        if hung and shown is not None:
            hung = not _ends(pid, handle, hang - shown, says)
            if hung and says():
                os.kill(pid, signal.SIGINT)
                hung = not _ends(pid, handle, hang)
        if hung:
            os.killpg(pid, signal.SIGKILL)
        _, status, used = os.wait4(pid, 0)
    except BaseException:  # whoever stops the harness stops its case
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    finally:
        os.close(handle)
    text = [path.read_bytes().decode(errors="replace") for path in (out, err)]
    for path in (out, err):
        path.unlink(missing_ok=True)
    seconds, code = used.ru_utime + used.ru_stime, os.waitstatus_to_exitcode(status)
    return Ended(code, *text, seconds, used.ru_maxrss * 1024, hung)


def signal_after(pid: int, seconds: float, number: int) -> None:
    """Send a signal once a process has computed so long, however busy the machine is, unless it ends before."""
    began = _computed(pid)
    while _computed(pid) - began < seconds and not has_ended(pid):
        time.sleep(0.001)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _ends(
    pid: int, handle: int, seconds: float, unless: Callable[[], bool] = lambda: False
) -> bool:
    """Whether a process ends within so many seconds of its own time, or two minutes and more without waits for a core."""
    began, used, waited = time.monotonic(), _used(pid), _waited(pid)
    while not select.select([handle], [], [], 0.5)[0]:
        idle = time.monotonic() - began - (_waited(pid) - waited)
        if _used(pid) - used > seconds or idle > 4 * max(seconds, HANG) or unless():
            return False
    return True


def _computed(pid: int) -> float:
    """Seconds that a process's main thread has computed, to the nanosecond."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def _waited(pid: int) -> float:
    """Seconds that a process was ready, and no core was free."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def has_ended(pid: int) -> bool:
    """Whether a child has ended, and nobody has waited for it yet."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _used(pid: int) -> float:
    """Seconds that a process and its children have computed."""
    process = Path(f"/proc/{pid}")
    numbers = (process / "stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, numbers[11:15])) / os.sysconf("SC_CLK_TCK")
    with contextlib.suppress(OSError):  # one that has just ended; its time is its parent's now
        children = (process / "task" / str(pid) / "children").read_text().split()
        return own + sum(_used(int(child)) for child in children)
    return own


def _become(action: Action, folder: Path, out: Path, err: Path) -> None:
    """What the child does: it never returns."""
    code = 70
    try:
        os.setpgid(0, 0)  # no new session, in which Linux would not heed `nice`
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for number, path in ((1, out), (2, err)):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, number)
            os.close(handle)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.chdir(folder)
        used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, used + MEMORY))
        action()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        try:  # an interrupt that came while the command's objects were freed is raised here
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
        finally:
            os._exit(code & 255)


def tenfold(*words: str) -> Action:
    """A command of tenfold, as an action."""

    def command() -> None:
        from tenfold.cli.app import main

        sys.argv = ["tenfold", *words]
        main()

    return command
