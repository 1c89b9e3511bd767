"""How many components of a kind there are, read from the source of their registry: nothing is imported, not even torch.

`Registry("encoding", "tenfold.pe", package="tenfold.encodings", base=PositionalEncoding)` counts the classes with a name
below that base in the files of the package, and what other packages add. `of=(shifted, randomized)` counts two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

from tenfold.runs.own_components import OWN

ROOT = Path(__file__).resolve().parents[1]


def component_count(reference: str) -> int:
    """The number of components of a registry such as `tenfold.encodings.encoding:ENCODINGS`."""
    module, name = reference.split(":")
    value = _assigned(_tree(_path(module)), name)
    listed = [node for node in ast.walk(value) if isinstance(node, ast.Tuple)]
    count = sum(len(each.elts) for each in listed if isinstance(each.elts[0], ast.Name))
    if not isinstance(value, ast.Call):
        return count
    group = _text(value.args[1])
    given = {keyword.arg: keyword.value for keyword in value.keywords}
    if "package" in given:
        base = given["base"]
        assert isinstance(base, ast.Name)
        count += _named_below(base.id, _path(_text(given["package"])))
    own = sum(each.registry.group == group for each in OWN.values())
    return count + len(entry_points(group=group)) + own


def first_line(path: Path) -> str:
    """The first line of the docstring of a Python file."""
    lines = (ast.get_docstring(_tree(path)) or "").strip().splitlines()
    return lines[0] if lines else ""


def _path(module: str) -> Path:
    """A module's file, or a package's folder; the package itself is read from its `__init__.py`."""
    path = ROOT.joinpath(*module.split(".")[1:])
    return path if path.is_dir() else path.with_suffix(".py")


def _tree(path: Path) -> ast.Module:
    return ast.parse((path / "__init__.py" if path.is_dir() else path).read_bytes())


def _text(node: ast.expr) -> str:
    return str(ast.literal_eval(node))


def _assigned(tree: ast.Module, name: str) -> ast.expr:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.target.id == name and node.value is not None:
                return node.value
    raise LookupError(name)


def _named_below(base: str, folder: Path) -> int:
    """The number of classes below a base class that state a `name` of their own."""
    classes = {node.name: node for path in folder.rglob("*.py") for node in _classes(_tree(path))}
    return sum(_below(base, name, classes) and _has_name(node) for name, node in classes.items())


def _classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in tree.body if isinstance(node, ast.ClassDef))


def _below(base: str, name: str, classes: dict[str, ast.ClassDef]) -> bool:
    if name == base:
        return True
    above = classes[name].bases if name in classes else []
    return any(isinstance(each, ast.Name) and _below(base, each.id, classes) for each in above)


def _has_name(node: ast.ClassDef) -> bool:
    targets = [t for each in node.body if isinstance(each, ast.Assign) for t in each.targets]
    stated = [e.target for e in node.body if isinstance(e, ast.AnnAssign) and e.value is not None]
    return any(isinstance(each, ast.Name) and each.id == "name" for each in [*targets, *stated])
