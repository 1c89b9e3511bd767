"""What `import tenfold` promises, as the README shows it."""

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import tenfold


def test_a_public_name_stays_what_it_is():
    """Also after every module is imported: a subpackage of the same name would take its place."""
    import tenfold.cli
    import tenfold.runs.run

    for name in set(dir(tenfold)) - {"__version__"}:
        for _ in range(2):
            assert callable(getattr(tenfold, name)), name
            assert f"tenfold.{name}" not in sys.modules


def test_train_evaluate_ask(tmp_path):
    recipe = tenfold.recipe("symmetry/addition-relative", scale="smoke")
    run = tenfold.train(recipe.replace(pe="rotary"), tmp_path / "run")
    rows = run.evaluate(lengths=[2, 3], slices=["uniform"], n=10)
    assert [row.length for row in rows] == [2, 2, 3, 3]
    assert run.ask("12+34").truth == "46"
    assert run.model()(run.built.batch_at(0)).shape[0] == recipe.train.batch
    again = tenfold.Run.open(tmp_path / "run")
    assert again.recipe == run.recipe


def test_train_takes_a_name_and_refuses_what_it_does_not_know():
    with pytest.raises(tenfold.TenfoldError, match='did you mean "symmetry/addition-relative"'):
        tenfold.train("symmetry/addition-relativ")
    with pytest.raises(tenfold.TenfoldError, match='unknown recipe key "pee"; did you mean "pe"'):
        tenfold.Recipe(pee="alibi")


def test_no_other_name():
    with pytest.raises(AttributeError, match="trian"):
        _ = tenfold.trian


def test_type_checkers_know_every_public_name():
    tree = ast.parse(Path(tenfold.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    declared = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert declared == tenfold._WHERE


@pytest.mark.full
def test_mypy_knows_the_public_names(tmp_path):
    """A right use passes, and a wrong one is seen: the names are not `Any`."""
    (tmp_path / "use.py").write_text(
        "import tenfold\n"
        "run: tenfold.Run = tenfold.train('symmetry/addition-relative')\n"
        "runs: list[tenfold.Run] = tenfold.sweep([run.recipe], workers=1)\n"
        "recipe: tenfold.Recipe = tenfold.recipe('symmetry/addition-relative', scale='smoke')\n"
        "tenfold.train(recipe, pathience=3)\n"
        "wrong: int = tenfold.sweep([recipe])\n"
    )
    flags = ["--strict", "--follow-imports", "silent", "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", *flags, "use.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("use.py")]
    errors = [line for line in lines if "error" in line]
    assert [line.split(":")[1] for line in errors] == ["5", "6"], done.stdout
    assert "pathience" in errors[0]
    assert "list[Run]" in errors[1]


def test_the_least_cyclopts_is_one_that_takes_the_commands_of_the_readme():
    """4.20 is the first; what is installed here is not older than what is asked for."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    (stated,) = [each for each in project["dependencies"] if each.startswith("cyclopts")]
    least = tuple(map(int, stated.partition(">=")[2].split(".")))
    assert least >= (4, 20)
    assert tuple(map(int, version("cyclopts").split(".")[:2])) >= least
