"""The examples that come with tenfold: recipes, grids, and a component of one's own.

In a source checkout they stand in `examples/` beside `src/`; a wheel has them in the package. `examples/NAME` means
such a file wherever there is no local file of that name. Python among them is executed only if a person names it.
"""

from __future__ import annotations

from pathlib import Path

from tenfold.core.errors import unknown

FOLDER = "examples"
SUFFIXES = (".yaml", ".py")
_HERE = Path(__file__).resolve().parents[1]
_SOURCE = _HERE.parents[1] / FOLDER
SHELF = _SOURCE if _HERE.parent.name == "src" and _SOURCE.is_dir() else _HERE / FOLDER


def examples() -> dict[str, Path]:
    """Every example by the name that commands take: `examples/recipes/copying.yaml`."""
    paths = sorted(path for path in SHELF.rglob("*") if path.suffix in SUFFIXES)
    return {f"{FOLDER}/{path.relative_to(SHELF).as_posix()}": path for path in paths}


def example_recipes() -> dict[str, Path]:
    """The recipes in YAML by their own names: `examples/copying`."""
    return {f"{FOLDER}/{path.stem}": path for path in sorted(SHELF.glob("recipes/*.yaml"))}


def located(path: Path) -> Path:
    """The path itself, or the example of that name where there is no such file here."""
    if path.is_absolute() or path.parts[:1] != (FOLDER,) or path.exists():
        return path
    known = examples()
    if path.as_posix() not in known:
        raise unknown("example", path, known)
    return known[path.as_posix()]
