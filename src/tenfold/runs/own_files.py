"""A user's own Python files: reading, hashing and executing them.

Python runs only if a person named it: on the command line, in a call from Python, or in a recipe or grid file that the
person named. `NAMED` holds these files. Nothing else in tenfold executes a file, so a run's folder never does.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pydantic

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.stored_files import LARGEST_TEXT, read_stored
from tenfold.runs.shipped_examples import located

NAMED: set[Path] = set()  # files that a person named, and that may therefore be executed
SHOWN = 12  # characters of a hash in messages and file names


class Included(pydantic.BaseModel):
    """What a recipe states about an own file: its name for the reader, and the hash that decides."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")
    file: str
    sha256: str


@dataclass(frozen=True)
class OwnSource:
    """The source code that own components are made of.

    `origin` tells versions of one file apart from other files. Where `whole` is false, this is one class of a notebook,
    which cannot be executed by itself.
    """

    file: str
    code: bytes
    origin: str
    package: str | None = None
    whole: bool = True

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.code).hexdigest()

    @property
    def copy_name(self) -> str:
        """The name of a copy of it in the folder of a run."""
        return f"{Path(self.file).stem}-{self.sha256[:SHOWN]}.py"


_sources: dict[str, OwnSource] = {}  # by the name of the module that was made of them
executing: list[str] = []  # files that are being executed right now


def read_own(path: Path | str) -> OwnSource:
    """Read a file that a person named. Nothing is executed."""
    path = located(Path(path))
    if path.suffix != ".py":
        raise TenfoldError(
            f'"{path}" is no Python file; own components stand in a file such as my.py'
        )
    try:
        code = read_stored(path.resolve().parent, path.resolve().name, LARGEST_TEXT)
    except FileNotFoundError:
        beside = [str(each) for each in path.parent.glob("*.py")]
        raise unknown("Python file", path, beside) if beside else _missing(path) from None
    NAMED.add(path.resolve())
    return OwnSource(_displayed(path), code, str(path.resolve()))


def _missing(path: Path) -> TenfoldError:
    return TenfoldError(f"there is no Python file {path}")


def _displayed(path: Path) -> str:
    """The path from here, or only the name of a file elsewhere: recipes are read on other machines."""
    resolved, here = path.resolve(), Path.cwd()
    return str(resolved.relative_to(here)) if resolved.is_relative_to(here) else path.name


def execute(source: OwnSource) -> ModuleType:
    """Execute a file as a module of its own; whatever it raises becomes one line."""
    name = f"{Path(source.file).name}@{source.sha256[:SHOWN]}"
    module = ModuleType(name)
    module.__file__, module.__package__ = source.origin, source.package or ""
    _sources[name], sys.modules[name] = source, module
    executing.append(source.file)
    try:
        exec(compile(source.code, source.origin, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        del _sources[name], sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        if isinstance(error, TenfoldError):
            raise TenfoldError(f"{source.file} failed: {error}") from error
        raise TenfoldError(f"{source.file} failed: {_told(error, source)}") from error
    finally:
        executing.pop()
    return module


def _told(error: BaseException, source: OwnSource) -> str:
    """The type and the text of an error, and the line of the file that it came through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == source.origin
    ]
    if isinstance(error, SyntaxError) and error.lineno is not None:
        lines, error = [error.lineno], SyntaxError(error.msg)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" + (f" (line {lines[-1]})" if lines else "")


def does_too_much(what: str) -> TenfoldError:
    """The error for a file that does more than define something while it is being executed."""
    return TenfoldError(f'it {what} when it is read; put that below `if __name__ == "__main__":`')


def source_of(component: Any) -> OwnSource:
    """The source of a class or a function: the file that defines it, or the class alone where there is no file."""
    if component.__module__ in _sources:
        return _sources[component.__module__]
    module = sys.modules.get(component.__module__)
    path = Path(getattr(module, "__file__", None) or "")
    if path.suffix == ".py" and path.is_file():
        package = getattr(module, "__package__", None)
        return OwnSource(_displayed(path), path.read_bytes(), str(path.resolve()), package)
    text = _text_of(component)
    if text is None:
        raise TenfoldError(
            f"the source of {component.__qualname__} cannot be read, and without it no run could be named; "
            "write it in a file"
        )
    return OwnSource(component.__module__, text.encode(), component.__module__, whole=False)


def _text_of(component: Any) -> str | None:
    """The text of a class or function of a notebook or a prompt, whose cells Python keeps as lines."""
    functions = [component] if inspect.isfunction(component) else vars(component).values()
    for function in filter(inspect.isfunction, map(_unwrapped, functions)):
        lines = linecache.getlines(function.__code__.co_filename)
        try:
            nodes = ast.walk(ast.parse("".join(lines)))
        except SyntaxError:  # a cell with a command of the notebook itself
            continue
        for node in nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == component.__name__:
                return "".join(lines[node.lineno - 1 : node.end_lineno])
    return None


def _unwrapped(thing: Any) -> Any:
    return inspect.unwrap(thing) if callable(thing) else thing
