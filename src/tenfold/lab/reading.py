"""YAML files as mappings; what is wrong with one is a line that says where."""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from tenfold.errors import TenfoldError

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
    """What YAML says; nested too deep is a RecursionError, before a loader in C runs out of stack.

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
