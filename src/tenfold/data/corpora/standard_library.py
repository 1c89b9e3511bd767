"""Python's standard library: code and prose that every machine has. The text depends on the version of Python."""

from __future__ import annotations

import ast
import inspect
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.data.corpora.corpus import Corpus, Document
from tenfold.data.corpora.text_files import distinct, stamped

# Excluded: installed packages, tests, nearly identical tables of characters, and generated help texts.
LEFT_OUT = {
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idle_test",
    "encodings",
    "pydoc_data",
}
SHORTEST = 40  # characters of the shortest docstring that is kept


def modules() -> dict[str, Path]:
    """Every module by its path: `json/decoder.py`."""
    root = Path(sysconfig.get_path("stdlib"))
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    files = {
        name: path
        for name, path in sorted(files.items())
        if LEFT_OUT.isdisjoint(Path(name).parts) and not name.startswith(("config-", "_sysconfig"))
    }
    if not files:
        raise TenfoldError(f"the standard library's source is not in {root}; use the corpus files")
    return files


class PythonCode(Corpus):
    """The source of the standard library's modules."""

    name = "python-code"
    private = False

    def stamp(self) -> str:
        return stamped(modules())

    def documents(self) -> Iterator[Document]:
        yield from distinct(modules())


class PythonProse(Corpus):
    """The docstrings of the standard library; the docstrings of one module form one document."""

    name = "python-prose"
    private = False

    def stamp(self) -> str:
        return stamped(modules())

    def documents(self) -> Iterator[Document]:
        for source in distinct(modules()):
            if (text := prose(source.text)).strip():
                yield Document(source.name, text, source.part)


def prose(source: str) -> str:
    """The distinct docstrings of a module, separated by empty lines.

    >>> prose(
    ...     'def f():\\n    "Short."\\n\\nclass A:\\n    '
    ...     + repr("Says what it is and what it is for, in words.")
    ... )
    'Says what it is and what it is for, in words.\\n'
    """
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = (
        inspect.cleandoc(ast.get_docstring(node) or "")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, kinds)
    )
    return "\n\n".join(dict.fromkeys(text for text in texts if len(text) >= SHORTEST)) + "\n"
