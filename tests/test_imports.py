"""Imports point one way: the kernel by layer, then the laboratory, then features, which never import each other."""

import ast
import collections
import subprocess
import sys
from pathlib import Path

import pytest

import tenfold

ROOT = Path(tenfold.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
KERNEL = {  # folder: the folders right below it; it may import these and whatever lies below them
    "core": (),
    "data": ("core",),
    "encodings": ("data",),
    "models": ("encodings",),
    "training": ("models",),
    "evals": ("models",),
    "hf": ("models",),
}
LABORATORY = {
    "runs": ("training", "evals", "papers"),  # of the papers, the package that is walked
    "results": ("runs",),
    "sweeps": ("results",),
    "drawing": ("sweeps",),
    "ledger": ("drawing",),
}
TOP = {
    "features": ("ledger", "hf"),
    "league": ("ledger",),
    "demo": ("features",),
    "cli": ("features", "league", "demo"),
    "__main__": ("cli",),
    "__init__": ("features", "league"),  # the public names
    "papers": (),
}
BELOW = {**KERNEL, **LABORATORY, **TOP}
APP = "tenfold.cli.app"  # what the commands of a feature are added to


def name_of(path):
    return ".".join(("tenfold", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    )


NAMES = {name_of(path) for path in MODULES}


def part_of(name):
    """The folder of a module's name, a feature's own folder for what is in one: `features/proofs`."""
    parts = [*name.split("."), ""]
    return "/".join(parts[1:3]) if parts[1] == "features" and parts[2] else parts[1] or "__init__"


def all_below(part):
    return set(BELOW[part]).union(*(all_below(lower) for lower in BELOW[part]))


def imported(path):
    """Every module of tenfold that a module imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            first = name.partition(".")[0]
            assert not name.startswith("tenfold.papers."), f"{path} imports a paper by name"
            while first == "tenfold" and name not in NAMES:
                name = name.rpartition(".")[0]
            if first == "tenfold" and name != "tenfold":
                yield name


def allowed(part, module):
    """Whether a part of tenfold may import a module of it."""
    other = part_of(module)
    if other == part:
        return True
    if part.startswith("features/"):
        return module == APP or other in all_below("features")
    return other.partition("/")[0] in all_below(part)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    part = part_of(name_of(path))
    assert part.partition("/")[0] in BELOW, f"{part} is new: say in BELOW what it may import"
    wrong = [module for module in imported(path) if not allowed(part, module)]
    assert not wrong, f"{path.relative_to(ROOT)} ({part}) imports {wrong}"


def test_the_rule_itself():
    assert allowed("features/proofs", "tenfold.models.decoding")
    assert allowed("features/proofs", "tenfold.drawing.figures")
    assert not allowed("features/proofs", "tenfold.features.maps.run_maps")
    assert not allowed("runs", "tenfold.features.proofs.certify")
    assert not allowed("models", "tenfold.runs.recipe")
    assert all_below("training").isdisjoint({"evals", "runs"})


def test_this_test_sees_imports():
    seen = collections.defaultdict(set)
    for path in MODULES:
        part = part_of(name_of(path))
        seen[part] |= {part_of(module) for module in imported(path)}
    assert {"training", "evals", "models", "core"} <= seen["runs"]
    assert "data" in seen["encodings"]
    assert "runs" in seen["features/proofs"]


def test_no_file_name_stands_twice():
    counts = collections.Counter(path.name for path in MODULES if path.name != "__init__.py")
    assert [name for name, count in counts.items() if count > 1] == []


def test_no_class_name_stands_twice():
    classes = collections.Counter(
        node.name
        for path in MODULES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []


@pytest.mark.parametrize("module", ["tenfold", "tenfold.cli.app", "tenfold.core.errors"])
def test_torch_waits_until_it_is_needed(module):
    assert loaded(module, ["torch"]) == set()


@pytest.mark.parametrize("module", ["tenfold.runs.terminal", "tenfold.sweeps.sweep_progress"])
def test_showing_progress_needs_no_figures_and_no_tables(module):
    assert loaded(module, ["matplotlib", "duckdb"]) == set()


HEAVY = {"torch", "matplotlib", "duckdb"}
RUN_AND_SHOW = """
import sys
from tenfold.cli.app import main
try:
    main()
finally:
    print("loaded:", *sorted({heavy!r} & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "command",
    [
        "--help", "train --help", "ls", "ls recipes", "ls recipes symmetry --json", "ls experiments", "ls runs",
        "ls examples", "ls proved", "ls tasks", "ls formats", "ls samplers", "ls corpora", "claims --paper symmetry",
    ],
)  # fmt: skip
def test_commands_that_compute_nothing_are_light(command, tmp_path):
    for name, file in (("done", "result.json"), ("begun", "lease-0")):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "recipe.yaml").write_text("pe: alibi\n")
        (folder / file).write_text("{}")
    words = [sys.executable, "-c", RUN_AND_SHOW.format(heavy=HEAVY), *command.split()]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert done.stderr.splitlines()[-1] == "loaded:"


def loaded(module, others):
    """Which of these a new process has loaded after importing a module."""
    code = f"import sys, {module}; print(*({set(others)!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", tenfold.__all__)
def test_every_public_name_is_there(name):
    assert getattr(tenfold, name) is not None
    assert name in dir(tenfold)


def test_no_other_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tenfold.nothing
