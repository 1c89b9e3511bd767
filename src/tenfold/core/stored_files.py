"""Files that somebody else may have written, read as data: nothing in them is executed, nothing outside is opened.

Every file of a run's folder is read here. A link that leads out of the folder, a pipe, a device and a file that is
too large are refused before their content is read. JSON may carry a seal, a hash of its own content. A folder of
weights has a manifest with the size and the hash of each file. YAML is limited in depth and in what it expands to.

Whatever is wrong is one line that names the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tenfold.core.errors import TenfoldError

LARGEST_TEXT = 2**28  # bytes of a JSON file
LARGEST_YAML = 2**22
try:  # bytes of weights, which a manifest limits further: half of the memory
    LARGEST_DATA = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
except (AttributeError, ValueError, OSError):  # not a Unix
    LARGEST_DATA = 2**34
MANIFEST = "manifest.json"
SEAL = "seal"  # the key of the hash in a JSON file
DEEP = 64  # levels of YAML; no recipe has ten
NODES = 200_000  # values of YAML, each counted as often as it is referred to


def check_inside(folder: Path, name: str = "") -> Path:
    """The path of `name` in the folder; an error if a link leads out of the folder."""
    path = folder / name
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), "")):
        raise TenfoldError(f"{path} leads out of the folder {folder}, and is not followed")
    return path


def check_no_way_out(folder: Path) -> None:
    """An error if anything in a folder that will be written to is a link that leads out of it, a pipe or a device."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                check_inside(folder, entry.name)
            elif not (entry.is_file() or entry.is_dir()):
                raise TenfoldError(f"{entry.path} is no regular file; remove it")


def read_stored(folder: Path, name: str, most: int = LARGEST_DATA) -> bytes:
    """The content of a file in a folder. `FileNotFoundError` if there is none; any other problem is one line."""
    path = check_inside(folder, name)
    try:
        # without waiting: a pipe that nobody writes to would be waited for
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            known = os.fstat(file.fileno())
            if not stat.S_ISREG(known.st_mode):
                raise TenfoldError(f"{path} is no regular file, and is not read")
            if known.st_size > most:
                raise TenfoldError(f"{path} has {known.st_size:,} bytes; {most:,} at the most")
            return file.read(known.st_size)  # not `most`, for which room would be made
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"there is no {path}") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in a name
        reason = getattr(error, "strerror", None) or error
        raise TenfoldError(f"{path} cannot be read: {reason}") from None


def read_json(folder: Path, name: str) -> Any:
    """The value of a JSON file in a folder, its seal checked if it has one. `FileNotFoundError` if there is none."""
    data = read_stored(folder, name, LARGEST_TEXT)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise TenfoldError(f"{folder / name} is damaged: {reason}") from None
    if isinstance(value, dict) and SEAL in value and value[SEAL] != _seal(value):
        raise TenfoldError(f"{folder / name} is damaged: it was changed after it was written")
    return value


def read_json_mapping(folder: Path, name: str, what: str) -> dict[str, Any]:
    """As `read_json`, for a file that holds keys and values; `what` they are is for the error: "a result"."""
    value = read_json(folder, name)
    if not isinstance(value, dict):
        raise TenfoldError(f"{folder / name} is damaged: it does not hold {what}")
    return value


def sealed(values: Mapping[str, Any]) -> bytes:
    """Keys and values as JSON, with a hash of them as the last key.

    >>> print(sealed({"a": 1}).decode())
    {
     "a": 1,
     "seal": "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    }
    """
    return json.dumps({**values, SEAL: _seal(values)}, indent=1).encode()


def _seal(values: Mapping[str, Any]) -> str:
    """The hash of all values but the seal, in the order and with the digits in which they stand there."""
    rest = {key: value for key, value in values.items() if key != SEAL}
    return hashlib.sha256(json.dumps(rest, separators=(",", ":")).encode()).hexdigest()


def manifest(files: Mapping[str, bytes]) -> bytes:
    """The content of a manifest: size and hash of each file."""
    known = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in files.items()
    }
    return json.dumps(known, indent=1).encode()


def size_and_hash(folder: Path, name: str) -> dict[str, Any]:
    """Size and hash of a file of any size, as a manifest states them."""
    with check_inside(folder, name).open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return {"size": os.fstat(file.fileno()).st_size, "sha256": sha256}


def read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """The files that a manifest names. `FileNotFoundError` if there is none."""
    known = read_json_mapping(folder, MANIFEST, "files with their hashes")
    for name, stated in known.items():
        plain = name not in ("", ".", "..") and not re.search(r"[/\\\0]", name)
        if not (plain and isinstance(stated, dict) and isinstance(stated.get("size"), int)):
            raise TenfoldError(
                f"{folder / MANIFEST} is damaged: {name!r} is no file of this folder"
            )
    return known


def read_checked(folder: Path, name: str, stated: Mapping[str, Any]) -> bytes:
    """The content of a file that must have the size and the hash that a manifest states."""
    path = check_inside(folder, name)
    if path.is_file() and path.stat().st_size != stated["size"]:
        raise TenfoldError(f"{path} has {path.stat().st_size} bytes of {stated['size']}")
    data = read_stored(folder, name)
    if hashlib.sha256(data).hexdigest() != stated.get("sha256"):
        raise TenfoldError(f"{path} was changed after it was written")
    return data


PLAIN = {
    f"tag:yaml.org,2002:{name}"
    for name in ("map", "seq", "str", "int", "float", "bool", "null", "merge")
}
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where it is there


class _Guarded(Loader):  # type: ignore[misc]  # which of the two it is, is known when it runs
    """YAML of plain values, as JSON has them, in which a key may stand once. A day is text.

    Anchors and aliases are allowed, as far as what they expand to is not much larger than a file.
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag == "tag:yaml.org,2002:timestamp":
            return node.value
        if node.tag not in PLAIN:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            raise yaml.MarkedYAMLError(
                problem=f"{tag} is no plain value", problem_mark=node.start_mark
            )
        return super().construct_object(node, deep)

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

    def get_single_data(self) -> Any:
        node = self.get_single_node()
        if node is None:
            return None
        _check_size(node)
        return self.construct_document(node)


def _check_size(root: yaml.Node) -> None:
    """Raise if a value contains itself, is nested too deep, or refers to so much that it cannot be written out.

    Depth first, children before parents: the size and the depth of a node that is referred to often are found once.
    """
    known: dict[int, tuple[int, int]] = {}  # by node: values within it, levels within it
    above: set[int] = set()
    waiting = [(root, False)]
    while waiting:
        node, done = waiting.pop()
        inner = _children(node)
        if done:
            above.discard(id(node))
            sizes = [known[id(each)] for each in inner]
            size = 1 + sum(size for size, _ in sizes)
            level = 1 + max((level for _, level in sizes), default=0)
            if size > NODES:
                raise yaml.MarkedYAMLError(problem=f"it stands for more than {NODES:,} values")
            if level > DEEP:
                raise yaml.MarkedYAMLError(problem="it is nested too deep")
            known[id(node)] = size, level
        elif id(node) in above:
            raise yaml.MarkedYAMLError(problem="a value contains itself")
        elif id(node) not in known:
            above.add(id(node))
            waiting.append((node, True))
            waiting += [(each, False) for each in inner]


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def parse_yaml(text: str, where: str) -> Any:
    """The value of a YAML text; `where` it stands is for the error, one line.

    >>> parse_yaml("a: [1, {b: 2}]", "here")
    {'a': [1, {'b': 2}]}
    >>> parse_yaml("about: 2020-99-99", "here")
    {'about': '2020-99-99'}
    >>> parse_yaml("pe: !!python/name:os.system", "recipe.yaml")
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: recipe.yaml is not YAML (line 1): !!python/name:os.system is no plain value
    """
    try:
        if _looks_deep(text):  # a loader in C would run out of stack
            raise yaml.MarkedYAMLError(problem="it is nested too deep")
        return yaml.load(text, _Guarded)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        problem = getattr(error, "problem", None)
        raise TenfoldError(
            f"{where} is not YAML{line}{f': {problem}' if problem else ''}"
        ) from None
    except (ValueError, OverflowError) as error:  # a day or a number that there is not
        raise TenfoldError(f"{where} is not YAML: {str(error)[:160]}") from None
    except RecursionError:
        raise TenfoldError(f"{where} is not YAML: it is nested too deep") from None


def _looks_deep(text: str) -> bool:
    level = 0
    for mark in re.findall(r"[\[\]{}]", text):
        level += 1 if mark in "[{" else -1
        if level > 8 * DEEP:
            return True
    return bool(re.search(rf"^ {{{8 * DEEP}}}|(?:[-?] +){{{DEEP}}}", text, re.MULTILINE))


def read_mapping(path: Path, what: str) -> dict[str, Any]:
    """The keys and values of a YAML file that a person named; `what` it should hold is for the errors: "a recipe"."""
    real = path.resolve()
    return _mapping(real.parent, real.name, what, str(path))


def stored_mapping(folder: Path, name: str, what: str, sha256: str | None = None) -> dict[str, Any]:
    """The keys and values of a YAML file in a folder that a program wrote, with the hash of the file if it is known."""
    return _mapping(folder, name, what, f"{folder / name} is damaged: it", sha256)


def _mapping(
    folder: Path, name: str, what: str, where: str, sha256: str | None = None
) -> dict[str, Any]:
    try:
        data = read_stored(folder, name, LARGEST_YAML)
        text = data.decode()
    except FileNotFoundError:
        raise TenfoldError(f"cannot read {folder / name}: No such file or directory") from None
    except UnicodeDecodeError:
        raise TenfoldError(f"{where} is not YAML: it is not text") from None
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise TenfoldError(f"{folder / name} is damaged: it was changed after it was written")
    values = parse_yaml(text, where)
    if not isinstance(values, dict):
        raise TenfoldError(f"{where} does not hold {what}: a mapping of keys to values is wanted")
    return values
