"""What a process does to a folder, seen from within: a kill before any event, power loss, a full or read-only disk.

Python reports every opened file, rename, removal, link and folder to audit hooks. `os.fsync` is replaced. So events
can be counted, and at any of them the process can end, or the operation can fail.

Power loss takes what was not synced. The content of a file is on the disk once the file was synced, its name once its
folder was synced; everything else may be there, be gone, be cut or be zeros.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHANGES = {
    "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.utime",
}  # fmt: skip
Handler = Callable[[int, str, str], None]  # the number of an event, its kind, its path


class Disk:
    """Watches the changes that this process makes below a folder, and calls `handler` before each."""

    def __init__(self, folder: Path, handler: Handler) -> None:
        self.folder, self.handler = str(folder.resolve()), handler
        self.events, self.busy, self.opened = 0, False, ""
        self.contents: dict[int, bytes] = {}  # of files by inode, as the disk has them
        # of folders by inode, as the disk has them: inodes by name, and what they held
        self.entries: dict[int, dict[str, tuple[int, bytes | None]]] = {}
        self.sync = os.fsync
        os.fsync = self._fsync
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if self.busy:
            return
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self._event("open", path)
        elif event in ("os.remove", "os.rmdir") and args[1] != -1:  # relative to a handle
            path = os.path.join(os.readlink(f"/proc/self/fd/{args[1]}"), os.fsdecode(args[0]))
            self._event(event, path)
        elif event in CHANGES:
            self._event(event, args[1] if event in ("os.rename", "os.link") else args[0])

    def _event(self, kind: str, path: Any) -> None:
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        path = os.path.abspath(os.fsdecode(path))
        if not path.startswith(self.folder):
            return
        self.events += 1
        self.busy = True
        try:
            self.handler(self.events, kind, path)
            if kind == "open":
                self.opened = path
            elif kind in ("os.remove", "os.rename") and os.path.isfile(path):
                known = os.stat(path)
                if known.st_nlink == 1:  # the number may soon be another file's
                    self.contents.pop(known.st_ino, None)
        finally:
            self.busy = False

    def _fsync(self, handle: int) -> None:
        """Not a real one, which would take most of the time: it is noted what the disk then has."""
        path = os.readlink(f"/proc/self/fd/{handle}")
        self._event("fsync", path)
        if not path.startswith(self.folder) and not self.folder.startswith(path):
            return
        self.busy = True
        try:
            known = os.fstat(handle)
            if stat.S_ISDIR(known.st_mode):
                with os.scandir(path) as entries:
                    inodes = {entry.name: entry.inode() for entry in entries}
                self.entries[known.st_ino] = {
                    n: (i, self.contents.get(i)) for n, i in inodes.items()
                }
            else:
                self.contents[known.st_ino] = Path(path).read_bytes()
                self.opened = ""  # written to its end
        finally:
            self.busy = False

    def die(self, torn: random.Random | None = None) -> None:
        """End this process at once; `torn`: within the last write, of which a part has happened."""
        if torn is not None and os.path.isfile(self.opened) and not os.path.islink(self.opened):
            os.truncate(self.opened, torn.randint(0, os.path.getsize(self.opened)))
        os.kill(os.getpid(), signal.SIGKILL)

    def lose_power(self, draw: random.Random) -> None:
        """End this process, and leave of the folder what the disk has."""
        self.busy = True
        top = Path(self.folder)
        if top.is_dir():
            self._lose(top, draw)
            above = self.entries.get(top.parent.stat().st_ino, {})
            if top.name not in above and draw.random() < 0.3:
                shutil.rmtree(top)
        os.kill(os.getpid(), signal.SIGKILL)

    def _lose(self, folder: Path, draw: random.Random) -> None:
        known = self.entries.get(folder.stat().st_ino, {})
        for path in sorted(folder.iterdir()):
            if path.is_dir():
                self._lose(path, draw)
            inode, before = known.get(path.name, (None, None))
            if inode != path.stat().st_ino and draw.random() < 0.5:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                if before is not None:  # of the file that had this name
                    path.write_bytes(before)
            elif path.is_file():
                self._lose_content(path, draw)
        for name, (_, before) in known.items():  # removed or renamed, and there again
            if before is not None and not (folder / name).exists() and draw.random() < 0.5:
                (folder / name).write_bytes(before)

    def _lose_content(self, path: Path, draw: random.Random) -> None:
        now, synced = path.read_bytes(), self.contents.get(path.stat().st_ino)
        if now == synced:
            return
        kept = len(synced) if synced is not None and now.startswith(synced) else 0
        cut = draw.randint(kept, len(now))
        path.write_bytes(
            draw.choice([now, now[:kept], now[:cut], now[:cut] + bytes(len(now) - cut)])
        )
