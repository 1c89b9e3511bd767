"""Files: written whole or not at all, and YAML files read as mappings.

A YAML file that cannot be read gives an error of one line with the place.
"""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import yaml

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


def sync(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where it is there
DEEP = 500  # levels; the fast loader ends the process somewhere above 3,000


class _Strict(Loader):  # type: ignore[misc]  # which of the two it is, is known when it runs
    """YAML in which a key may stand once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":  # `<<: *other` is no key
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                mark = key_node.start_mark
                raise yaml.MarkedYAMLError(problem=f'"{key}" stands there twice', problem_mark=mark)
            seen.add(key if isinstance(key, Hashable) else None)
        return super().construct_mapping(node, deep)


def parsed(text: str, loader: Any = Loader) -> Any:
    """The value of a YAML text; nested too deep is a RecursionError, before a loader in C runs out of stack.

    >>> parsed("a: [1, {b: 2}]")
    {'a': [1, {'b': 2}]}
    """
    level = 0
    for mark in re.findall(r"[\[\]{}]", text):
        level += 1 if mark in "[{" else -1
        if level > DEEP:
            raise RecursionError
    if re.search(rf"^ {{{DEEP}}}|(?:[-?] +){{{DEEP}}}", text, re.MULTILINE):
        raise RecursionError
    return yaml.load(text, loader)


def read_mapping(path: Path, what: str) -> dict[str, Any]:
    """The keys and values of a YAML file; `what` it should hold is for the errors: "a recipe"."""
    try:
        values = parsed(path.read_bytes().decode(), _Strict)
    except UnicodeDecodeError:
        raise TenfoldError(f"{path} is not YAML: it is not text") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        problem = getattr(error, "problem", None)
        raise TenfoldError(f"{path} is not YAML{line}{': ' + problem if problem else ''}") from None
    except RecursionError:
        raise TenfoldError(f"{path} is not YAML for us: it is nested too deep") from None
    except OSError as error:
        raise TenfoldError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(values, dict):
        raise TenfoldError(f"{path} does not hold {what}: a mapping of keys to values is wanted")
    return values
