"""Imports point one way, along the path of data."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tenfold

ROOT = Path(tenfold.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
BELOW = {  # part: the parts right below it; it may import these and whatever lies below them
    "errors": (),
    "registry": ("errors",),
    "roles": (),
    "places": ("registry", "roles"),
    "tasks": ("places",),
    "corpora": ("registry",),
    "batch": ("tasks", "corpora"),
    "pe": ("places",),
    "theory": ("pe", "tasks"),
    "models": ("batch", "pe"),
    "hf": ("models",),
    "training": ("models",),
    "evals": ("models",),
    "calibration": ("models",),
    "certify": ("models",),
    "lab": ("training", "evals", "calibration", "certify", "theory"),
    "report": ("lab",),
    "demo": ("report",),
    "web": ("report",),
    "cli": ("report", "demo", "web"),
    "__main__": ("cli",),
    "__init__": (),
}


def part_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def all_below(part):
    return set(BELOW[part]).union(*(all_below(lower) for lower in BELOW[part]))


def imported(path):
    """Every part of tenfold that a module imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names = [node.module]
            if node.module == "tenfold":
                names = [f"tenfold.{a.name}" for a in node.names if not a.name.startswith("__")]
        for name in names:
            first, _, rest = name.partition(".")
            assert first != "papers", f"{path} imports papers"
            if first == "tenfold" and rest:
                yield rest.split(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    part = part_of(path)
    assert part in BELOW, f"{part} is new: say in BELOW what it may import"
    assert set(imported(path)) <= all_below(part) | {part}


def test_training_and_proof_do_not_know_each_other():
    assert all_below("training").isdisjoint({"evals", "certify", "lab"})
    assert all_below("certify").isdisjoint({"training", "lab"})


def test_this_test_sees_imports():
    found = {part: set() for part in map(part_of, MODULES)}
    for path in MODULES:
        found[part_of(path)] |= set(imported(path))
    assert {"training", "evals", "models", "errors"} <= found["lab"]
    assert "places" in found["pe"]


@pytest.mark.parametrize("module", ["tenfold", "tenfold.cli", "tenfold.errors"])
def test_torch_waits_until_it_is_needed(module):
    code = f"import sys, {module}; print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


@pytest.mark.parametrize("name", tenfold.__all__)
def test_every_public_name_is_there(name):
    assert getattr(tenfold, name) is not None
    assert name in dir(tenfold)


def test_no_other_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tenfold.nothing
