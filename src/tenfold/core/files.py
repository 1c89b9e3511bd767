"""Files written whole or not at all. `stored_files.py` reads."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

from tenfold.core.errors import TenfoldError


def write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_atomically(path: Path, data: bytes) -> None:
    """The file is there whole, or as it was."""
    _place(path, data, Path.replace)


def replace_text(path: Path, text: str) -> None:
    """Write a text file atomically; an error is one line."""
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise TenfoldError(f"cannot write {path}: {error.strerror or error}") from None


def write_once(path: Path, data: bytes) -> bool:
    """Create the file, whole; False, and nothing done, if it is there already."""
    try:
        _place(path, data, _link)
    except FileExistsError:
        return False
    return True


def _link(temporary: Path, place: Path) -> None:
    """A second name, which is refused where there is one; not every file system has them."""
    try:
        place.hardlink_to(temporary)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        if place.exists():
            raise FileExistsError(place) from None
        temporary.replace(place)


def _place(path: Path, data: bytes, put: Callable[[Path, Path], object]) -> None:
    """Write under a name of our own, on any machine that shares the folder; then put it in its place."""
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        write_synced(temporary, data)
        put(temporary, path)
        sync(path.parent)
    except FileExistsError:
        raise
    except OSError as error:
        raise TenfoldError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there. Of a link, the link goes and what it leads to stays."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise TenfoldError(f"cannot remove {path}: {error.strerror or error}") from None


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, as far as they are not there, so that they survive a power cut."""
    if folder.is_dir():
        return
    if folder.exists():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if folder != folder.parent:
        make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(PermissionError):  # of a folder that we may write to and not list
        sync(folder.parent)


def sync(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
