"""Imports point one way: the kernel by layer, then the laboratory, then features, which never import each other."""

import ast
import collections
import functools
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


@functools.cache
def tree(path):
    return ast.parse(path.read_text())


def imported(path):
    """Every module of tenfold that a module imports, wherever in the file."""
    for node in ast.walk(tree(path)):
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


PARTS = sorted({part_of(name_of(path)) for path in MODULES})


@pytest.mark.parametrize("part", PARTS)
def test_imports_point_one_way(part):
    assert part.partition("/")[0] in BELOW, f"{part} is new: say in BELOW what it may import"
    for path in MODULES:
        if part_of(name_of(path)) == part:
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
        node.name for path in MODULES for node in tree(path).body if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []


def test_torch_waits_until_it_is_needed():
    assert loaded("import tenfold, tenfold.cli.app, tenfold.core.errors", ["torch"]) == set()


def test_showing_progress_needs_no_figures_and_no_tables():
    modules = "import tenfold.runs.terminal, tenfold.sweeps.sweep_progress"
    assert loaded(modules, ["matplotlib", "duckdb"]) == set()


def test_building_needs_no_compiler():
    """PyTorch imports its own to draw numbers on the meta device, for longer than all else here takes."""
    code = """
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
for name in ("symmetry/addition-relative", "bias/addition-vanilla", "extrapolation/code-alibi"):
    build(recipe(name, "smoke")).model()
"""
    assert loaded(code, ["torch._dynamo"]) == set()


HEAVY = {"torch", "matplotlib", "duckdb"}
COMMANDS = [
    "--help", "train --help", "ls", "ls recipes", "ls recipes symmetry --json", "ls experiments", "ls runs",
    "ls examples", "ls proved", "ls tasks", "ls formats", "ls samplers", "ls corpora", "claims --paper symmetry",
]  # fmt: skip
RUN_AND_SHOW = """
import contextlib, io, sys
from tenfold.cli.app import main
for command in {commands!r}:
    sys.argv, said, code = ["tenfold", *command.split()], io.StringIO(), 0
    with contextlib.redirect_stdout(said):
        try:
            main()
        except SystemExit as done:
            code = done.code
    print(command, code, bool(said.getvalue()), *sorted({heavy!r} & set(sys.modules)), sep="|")
"""


def test_commands_that_compute_nothing_are_light(tmp_path):
    for name, file in (("done", "result.json"), ("begun", "lease-0")):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "recipe.yaml").write_text("pe: alibi\n")
        (folder / file).write_text("{}")
    words = [sys.executable, "-c", RUN_AND_SHOW.format(commands=COMMANDS, heavy=HEAVY)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{command}|0|True" for command in COMMANDS]


def loaded(code, others):
    """Which of these modules a new process has loaded after some code."""
    code = f"{code}\nimport sys\nprint(*({set(others)!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_every_public_name_is_there():
    for name in tenfold.__all__:
        assert getattr(tenfold, name) is not None, name
        assert name in dir(tenfold)


def test_no_other_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tenfold.nothing
