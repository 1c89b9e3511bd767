"""Python runs only if a person named it: hostile files leave a mark if they are executed."""

from pathlib import Path

import pytest

import tenfold as library
from tenfold import TenfoldError
from tenfold.runs.recipe_files import recipe
from tenfold.sweeps.grid import grid

BASE = "symmetry/addition-relative"
MARK = "from pathlib import Path\nPath({mark!r}).write_text('executed')\n"
GOOD = "import tenfold\nrecipe = tenfold.recipe('symmetry/addition-relative', 'smoke')\n"


@pytest.fixture
def hostile(own, tmp_path):
    """`hostile("x.py")` writes a file that leaves a mark; `hostile.executed()` tells whether it did."""
    mark = tmp_path / "mark"

    def write(name):
        return own(name, MARK.format(mark=str(mark)) + GOOD)

    write.executed = mark.exists
    return write


@pytest.mark.parametrize("line", ["extends: evil.py", "include: [evil.py]", "pe: evil.py:Thing"])
def test_a_folder_one_happens_to_be_in(own, hostile, tenfold, line):
    hostile("papers/mine/evil.py")
    hostile("papers/mine/recipes.py")
    own("papers/mine/adder.yaml", f"{line}\n")
    code, out, err = tenfold("ls", "recipes")
    assert code == 0, err
    assert "mine/adder" in out
    assert "which is Python; it is executed only if you name it: --include" in out
    code, _, err = tenfold("train", "mine/adder", "--dry-run")
    assert code == 2
    assert err.count("\n") == 1
    assert not hostile.executed()


@pytest.mark.parametrize("line", ["extends: evil.py", "include: [evil.py]", "pe: evil.py:Thing"])
def test_a_file_that_another_file_names(own, hostile, line):
    path = hostile("evil.py")
    own("base.yaml", f"{line}\n")
    mine = own("mine.yaml", "extends: base.yaml\n")
    sheet = own("grid.yaml", "recipe: base.yaml\nscale: smoke\n")
    for read in (lambda: recipe(mine), lambda: grid(sheet)):
        with pytest.raises(TenfoldError, match=r"evil\.py, which is Python; .*: --include"):
            read()
    assert not hostile.executed()
    if line.startswith("extends"):
        library.include(path)
        assert recipe(mine, "laptop").name == BASE


def test_a_grid_that_names_python(own, hostile, tenfold):
    hostile("evil.py")
    own("grid.yaml", "recipe: evil.py\n")
    code, _, err = tenfold("sweep", "grid.yaml", "--dry-run")
    assert code == 2
    assert "grid.yaml names evil.py, which is Python" in err
    assert not hostile.executed()
    code, _, err = tenfold("sweep", "grid.yaml", "--dry-run", "--include", "evil.py")
    assert code == 0, err


@pytest.mark.parametrize(
    "lines",
    [
        "include: [evil.py]\n",
        "pe: evil.py:Thing\n",
        "task: {name: evil.py:Thing}\n",
        "pe: {name: compose, parts: [evil.py:Thing]}\n",
        "include: [{file: evil.py, sha256: '00'}]\n",
    ],
)
def test_a_run_folder_never_executes(own, hostile, tenfold, lines):
    hostile("evil.py")
    hostile("runs/bad/evil.py")
    hostile("runs/bad/own-files/evil-00.py")
    own("runs/bad/recipe.yaml", lines)
    for words in (
        ("show", "bad"), ("eval", "bad"), ("ask", "bad", "1+2"), ("ls", "runs"), ("results",),
        ("report",), ("certify", "bad"), ("export", "bad", "--out", "published"),
        ("train", BASE, "--scale", "smoke", "--from", "bad"),
        ("train", BASE, "--scale", "smoke", "--out", "runs/bad"),
        ("train", "runs/bad/recipe.yaml"),
    ):  # fmt: skip
        _, _, err = tenfold(*words)
        assert "Traceback" not in err
        assert not hostile.executed(), words
    assert not Path("published").exists()
