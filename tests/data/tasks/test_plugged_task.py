"""A sequence task of another package: the example of `docs/tasks.md`, as one file, registered by entry point."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

RECIPE = """
name: rotated
task: {name: rotating, alphabet: 5}
format: in-order
data: {length: 3, sampler: lengths}
pe: none
model: {kind: decoder, layers: 1, width: 16, heads: 2}
train: {steps: 5, batch: 8, warmup: 2}
eval: {lengths: [3, 6], slices: [uniform, hard], n: 10, every: 5}
"""


@pytest.fixture
def plugged(tmp_path):
    """A folder with the package and a recipe; the environment to use it."""
    page = (ROOT / "docs" / "tasks.md").read_text()
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "class Rotating" in block]  # fmt: skip
    (tmp_path / "my_package.py").write_text(code.split("\n\n\ntask = ")[0] + "\n")
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tenfold.tasks]\nrotating = my_package:Rotating\n")
    (tmp_path / "rotated.yaml").write_text(RECIPE)
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def run(environment, cwd, *words):
    command = [sys.executable, "-m", *words]
    return subprocess.run(
        command, env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )


def test_it_trains_from_a_recipe_and_answers(plugged, tmp_path):
    trained = run(plugged, tmp_path, "tenfold", "train", "rotated.yaml", "--out", "run")
    assert trained.returncode == 0, trained.stderr
    answered = run(plugged, tmp_path, "tenfold", "ask", "run", "a b c d")
    assert answered.stdout.startswith("abcd = ")
    assert "bcda" in answered.stdout
    wrong = run(plugged, tmp_path, "tenfold", "ask", "run", "a z")
    assert wrong.returncode == 2
    assert wrong.stderr == 'error: unknown symbol "z"; known: a, b, c, d, e\n'


@pytest.mark.full
def test_the_laws_hold_for_it(plugged):
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    tested = run(plugged, ROOT, "pytest", "tests/laws/test_tasks.py", *options, "-k", "rotating")
    assert "failed" not in tested.stdout
    assert int(tested.stdout.split(" passed")[0].split()[-1]) >= 15, tested.stdout
