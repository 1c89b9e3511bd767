"""The wheel: small, without figures; from it, in an empty folder, the commands work as in the repository."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tenfold as package
from tenfold.ledger.statuses import ledger

pytestmark = pytest.mark.full
ROOT = Path(package.__file__).parents[2]
MOST = 5_000_000  # bytes


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def call(wheel, tmp_path_factory):
    """The command line of the installed wheel, in an empty folder."""
    installed, folder = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("empty")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)

    def call(*words, code=0):
        environment = os.environ | {"PYTHONPATH": str(installed)}
        done = subprocess.run(
            [sys.executable, "-m", "tenfold", *words],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    call.folder = folder
    return call


def test_what_is_in_it(wheel):
    assert wheel.stat().st_size < MOST
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.endswith((".png", ".svg", ".html"))]
    assert not [name for name in names if "/tests/" in name or "/." in name]
    assert "tenfold/py.typed" in names
    committed = {path.relative_to(ROOT / "results") for path in ROOT.glob("results/*/*/*/r*s.*")}
    rows = {path for path in committed if path.suffix in (".csv", ".json")}
    assert rows
    assert {f"tenfold/committed/{path.as_posix()}" for path in rows} < set(names)


def test_examples(wheel, call):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    files = [path for path in (ROOT / "examples").rglob("*") if path.suffix in (".yaml", ".py")]
    assert files
    here = {path.relative_to(ROOT).as_posix() for path in files}
    assert {f"tenfold/{name}" for name in here} <= names
    assert {each["name"] for each in json.loads(call("ls", "examples", "--json"))} == here
    call("train", "examples/recipes/sorting.yaml", "--scale", "smoke", "--dry-run")
    call("sweep", "examples/log-bias.grid.yaml", "--scale", "smoke", "--dry-run")


def test_claims_and_recipes(call):
    claims = json.loads(call("claims", "--json"))
    assert claims == json.loads(json.dumps([entry.as_json() for entry in ledger()]))
    assert "symmetry/addition-relative" in call("ls", "recipes")


def test_models_that_are_shipped(call):
    assert "99+1 = 100" in call("ask", "addition", "99+1")
    assert "proved" in call("certify", "successor")


def test_train_reproduce_and_report(call):
    call("train", "symmetry/addition-relative", "--scale", "smoke")
    assert "symmetry/addition-relative" in call("results")
    assert "runs/tried" in call("reproduce", "principled/two-operations", "--scale", "smoke")
    call("report", "--paper", "symmetry", "--out", "page")
    page = (call.folder / "page" / "symmetry.html").read_text()
    assert "addition/accuracy: not drawn here" in page


def test_redraw(call):
    assert "name a folder with --out" in call("redraw", code=2)
    assert "symmetry/long-addition" in call("redraw", "symmetry/long-addition", "--out", "drawn")
    assert (call.folder / "drawn/symmetry/long-addition/laptop/figure-2b.svg").is_file()
