"""Own components: named as a file, as a class, or included; in recipes, runs, sweeps and listings."""

import json
import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import tenfold as library
from tenfold import Recipe, TenfoldError
from tenfold.encodings import ENCODINGS, ALiBi
from tenfold.runs.build import build
from tenfold.runs.own_components import OWN, include, register
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import Run, open_run
from tenfold.sweeps.grid import grid
from tenfold.sweeps.sweep import run_sweep

BASE = "symmetry/addition-relative"
ENVIRONMENT = {**os.environ, "PYTHONPATH": ""}


def tiny(**changes):
    return recipe(BASE, "smoke", train={"steps": 2}, eval={"lengths": [2], "n": 4}, **changes)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"pe": "my.py:LogBias"}, "log-bias"),
        ({"pe": "my.py:log-bias"}, "log-bias"),
        ({"pe": {"name": "my.py:LogBias", "start": 0.5}}, "log-bias"),
        ({"pe": {"name": "compose", "parts": ["alibi", {"name": "my.py:LogBias"}]}}, "log-bias"),
        ({"pe": {"name": "per-head", "parts": ["none", "my.py:LogBias"]}}, "log-bias"),
        ({"pe": {"name": "pairwise", "relation": {"name": "my.py:Near", "reach": 40}}}, "near"),
        ({"task": "my.py:Sums"}, "sums"),
        ({"task": {"name": "truncated", "of": "my.py:Sums", "digits": 2}}, "sums"),
        ({"data": {"sampler": "my.py:full_length"}}, "full-length"),
        ({"data": {"lengths": {"name": "my.py:halved", "share": 0.9}}}, "halved"),
        ({"schemes": ["my.py:doubled"]}, "doubled"),
        (
            {"model": "my.py:MyDecoder", "format": "my.py:Backwards", "pe": "my.py:LogBias"},
            "my-decoder",
        ),
        (
            {
                "model": {"kind": "decoder", "mixer": "my.py:MyMixer"},
                "format": "reversed",
                "pe": "none",
            },
            "my-mixer",
        ),
        (
            {
                "model": {"kind": "seq2seq"},
                "format": "reversed",
                "encoder_pe": "my.py:LogBias",
                "cross_pe": "none",
            },
            "log-bias",
        ),
    ],
)
def test_a_component_of_every_kind_by_its_file(own, changes, name):
    path = own()
    made = tiny(**changes)
    assert OWN[name].source.origin == str(path)
    assert "my.py:" not in made.as_yaml()
    assert [each.file for each in made.include] == ["my.py"]
    build(made).model()


def test_the_fingerprint_depends_on_the_content_alone(own):
    plain = tiny(pe="alibi").fingerprint
    first = tiny(pe=f"{own()}:LogBias")
    elsewhere = tiny(pe=f"{own('folder/other.py')}:LogBias")
    assert elsewhere.fingerprint == first.fingerprint
    assert tiny(pe="alibi").fingerprint == first.replace(pe="alibi").fingerprint == plain
    assert first.replace(seed=0) == first
    path = own(text=own("folder/other.py").read_text() + "# changed\n")
    assert tiny(pe=f"{path}:LogBias").fingerprint != first.fingerprint


def test_a_changed_file_takes_the_place_of_its_earlier_version(own):
    path = own()
    first = tiny(pe="my.py:LogBias")
    path.write_text(path.read_text().replace("class Near", "class Nearer"))
    second = tiny(pe="my.py:LogBias")
    build(second)
    with pytest.raises(TenfoldError, match=r"made with my.py of the sha256 \w{12}\.\.\., but"):
        build(first)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("nowhere.py:LogBias", 'unknown Python file "nowhere.py"; known: my.py'),
        ("none/nowhere.py:LogBias", "there is no Python file none/nowhere.py"),
        ("my.py", "my.py is a file; name the encoding in it: my.py:CLASS"),
        ("my.py:LogBia", 'unknown component of my.py "LogBia"; did you mean "LogBias"?'),
        ("my.py:Plain", "Plain of my.py is no component; a subclass of "),
        ("my.py:helper", "helper of my.py is no component; a subclass of "),
        (
            "my.py:Nameless",
            'Nameless of my.py has no name; write `name = "nameless"` in the class',
        ),
        ("my.py:Addition", 'unknown component of my.py "Addition"'),
        ("my.py:Sums", '"sums" is of the kind task, not encoding'),
        ("my.py:full_length", '"full-length" is of the kind sampler, not encoding'),
    ],
)
def test_wrong_names_are_one_line(own, tenfold, reference, message):
    own()
    code, out, err = tenfold("train", BASE, "--pe", reference, "--dry-run")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nowhere_at_all\n", "my.py failed: ModuleNotFoundError: No module named 'nowhere"),
        ("\nx = 1 / 0\n", "my.py failed: ZeroDivisionError: division by zero (line 2)"),
        ("\n\ndef f(:\n", "my.py failed: SyntaxError: invalid syntax (line 3)"),
        ("raise SystemExit('bye')\n", "my.py failed: SystemExit: bye (line 1)"),
        ("raise BaseException('x')\n", "my.py failed: BaseException: x (line 1)"),
        ("x = 1\n", "my.py defines no component; a subclass of "),
        (
            "from tenfold import ALiBi\nclass Mine(ALiBi):\n    name = 'alibi'\n",
            'tenfold has the encoding "alibi" already; give Mine of my.py another name',
        ),
        (
            "import tenfold\ntenfold.train('symmetry/addition-relative')\n",
            "my.py failed: it trains when it is read; put that below",
        ),
        (
            "import tenfold\ntenfold.sweep(['symmetry/addition-relative'])\n",
            "my.py failed: it starts a sweep when it is read; put that below",
        ),
    ],
)
def test_files_that_cannot_be_used_are_one_line(own, tenfold, text, message):
    own(text=text)
    code, _, err = tenfold("train", BASE, "--pe", "my.py:Mine", "--dry-run")
    assert code == 2
    assert err.count("\n") == 1
    assert message in err
    assert not Path("runs").exists()


def test_two_files_with_one_name_are_refused(own):
    include(own())
    text = own().read_text() + "# another\n"
    with pytest.raises(
        TenfoldError, match=r'a component "log-bias" of my.py already; give LogBias'
    ):
        include(own("other.py", text))


def test_a_class_in_a_recipe(own):
    include(own())
    log_bias = OWN["log-bias"].component
    assert Recipe(pe=log_bias).pe.name == "log-bias"
    assert Recipe(pe=(log_bias, {"start": 0.5})).pe.options == {"start": 0.5}
    assert Recipe(pe={"name": log_bias, "start": 0.5}).pe.options == {"start": 0.5}
    assert Recipe().replace(pe=log_bias) == Recipe(pe="log-bias") == Recipe(pe="my.py:LogBias")
    nested = Recipe(pe={"name": "compose", "parts": [log_bias, ALiBi]})
    assert nested.pe.options == {"parts": ["log-bias", "alibi"]}
    assert Recipe(model=OWN["my-decoder"].component).model.kind == "my-decoder"
    assert Recipe(pe=ALiBi) == Recipe(pe="alibi")
    assert Recipe(pe=ALiBi).include == ()


def test_register_is_a_decorator_and_works_by_the_base_class():
    class Mine(ALiBi):
        name = "mine"

    assert register(Mine) is Mine
    try:
        assert ENCODINGS["mine"] is Mine
        assert library.register(Mine) is Mine
        assert OWN["mine"].source.file.endswith("test_own_components.py")

        class Another(ALiBi):
            name = "mine"

        with pytest.raises(TenfoldError, match=r'a component "mine" of .* already; give .*Another'):
            register(Another)
        with pytest.raises(TenfoldError, match="3 is no component"):
            register(3)
    finally:
        del OWN["mine"], ENCODINGS.own["mine"]


CELL = """
from tenfold import ALiBi

class Mine(ALiBi):
    name = "mine"

    def __init__(self, heads: int, axis: str = "index") -> None:
        super().__init__(heads, axis)
"""


def cell(number, text, namespace, *, seen=True):
    """Run text as a notebook does: there is no file, but Python keeps the lines."""
    name = f"<cell {number}>"
    if seen:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return namespace["Mine"]


def test_a_class_of_a_notebook(own, monkeypatch):
    own()
    build(recipe(BASE, "smoke"))  # torch imports a compiler here, which looks at the main module
    monkeypatch.setattr(sys.modules["__main__"], "__file__", None, raising=False)
    space = {"__name__": "__main__"}
    first = Recipe(pe=cell(1, CELL, space))
    assert Recipe(pe=cell(2, f"print()\n{CELL}", space)) == first  # ran again in another cell
    changed = Recipe(pe=cell(3, CELL.replace("axis)", "axis)\n        self.x = 1"), space))
    assert changed.fingerprint != first.fingerprint
    assert ENCODINGS["mine"] is space["Mine"]
    with pytest.raises(
        TenfoldError, match=r'"mine" is defined in a notebook .* write it in a file'
    ):
        run_sweep([changed], "runs")
    with pytest.raises(TenfoldError, match="source of Mine cannot be read"):
        Recipe(pe=cell(4, CELL, space, seen=False))


def test_include_in_a_recipe_file(own):
    own("folder/my.py")
    file = own("folder/mine.yaml", f"extends: {BASE}\ninclude: [my.py]\npe: log-bias\n")
    made = recipe(file, "smoke")
    assert [each.file for each in made.include] == ["folder/my.py"]
    assert recipe(file, "smoke", pe="alibi").include == ()
    by_name = own(
        "folder/other.yaml", f"extends: {BASE}\npe: {{name: my.py:LogBias, start: 2.0}}\n"
    )
    assert recipe(by_name, "smoke").pe.options == {"start": 2.0}
    assert Recipe(include=["folder/my.py"], pe="log-bias").include == made.include
    for wrong in ("my", "[3]", "{a: b}"):
        bad = own("bad.yaml", f"include: {wrong}\n")
        with pytest.raises(TenfoldError, match=r"include is|is no Python file"):
            recipe(bad)


def test_a_python_recipe_file_with_its_own_class(own):
    text = "import tenfold\nfrom tenfold import ALiBi\nclass Mine(ALiBi):\n    name = 'mine'\n"
    path = own("mine.py", text + f"recipe = tenfold.recipe('{BASE}', 'smoke').replace(pe=Mine)\n")
    assert recipe(path).pe.name == "mine"
    assert recipe(path).include == recipe(path).include != ()
    build(recipe(path))


def test_a_grid(own):
    own("folder/my.py")
    sheet = {
        "include": ["my.py"],
        "recipe": BASE,
        "scale": "smoke",
        "cases": {"mine": {"pe": "log-bias"}, "theirs": {"pe": "alibi"}},
        "product": {"data.sampler": ["numbers", "my.py:full_length"]},
    }
    path = own("folder/grid.yaml", yaml.safe_dump(sheet))
    made = grid(path)
    assert [each.name.removeprefix(f"{BASE}-") for each in made] == [
        "mine-numbers", "mine-full-length", "theirs-numbers", "theirs-full-length",
    ]  # fmt: skip
    assert [len(each.include) for each in made] == [1, 1, 0, 1]


def test_a_run_keeps_the_source_and_needs_it_again(own, tenfold):
    path = own()
    words = ("train", BASE, "--scale", "smoke", "--train.steps", "2", "--out", "run")
    code, out, err = tenfold(*words, "--pe", "my.py:LogBias", "--task", "my.py:Sums")
    assert code == 0, err
    assert "--include my.py" in out
    stored = yaml.safe_load(Path("run/recipe.yaml").read_text())
    assert (stored["pe"], stored["task"]) == ("log-bias", "sums")
    digest = stored["include"][0]["sha256"]
    copy = Path(f"run/own-files/my-{digest[:12]}.py")
    assert copy.read_text() == path.read_text()
    own_again = fresh_process("ask", "run", "1+2")
    assert own_again.returncode == 2
    assert own_again.stderr == (
        f"error: run was made with own components of my.py (sha256 {digest[:12]}...); "
        f"name that file: --include my.py; {copy} is a copy of it\n"
    )
    told = fresh_process("ask", "run", "1+2", "--include", "my.py")
    assert told.returncode in (0, 1), told.stderr
    told = fresh_process("eval", "run", "--n", "4", "--lengths", "2", "--include", str(copy))
    assert told.returncode == 0, told.stderr
    path.write_text(path.read_text() + "# changed\n")
    told = fresh_process("eval", "run", "--include", "my.py")
    assert told.returncode == 2
    assert (
        f"run was made with my.py of the sha256 {digest[:12]}..., but that of my.py" in told.stderr
    )


def fresh_process(*words):
    """A process in which nothing is registered."""
    command = [sys.executable, "-m", "tenfold", *words]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words",
    [
        ("show", "run"),
        ("ls", "runs"),
        ("results", "run"),
        ("report", "run", "--out", "page"),
    ],
)
def test_what_only_reads_rows_needs_no_code(own, words):
    library.train(tiny(pe=f"{own()}:LogBias", task="my.py:Sums"), "run")
    Path("my.py").unlink()
    told = fresh_process(*words)
    assert told.returncode == 0, told.stderr
    assert "left out" not in told.stderr


def test_open_run_from_python(own):
    path = own()
    library.train(tiny(pe="my.py:LogBias"), "run")
    for name in list(OWN):
        OWN[name].registry.own.pop(name)
        del OWN[name]
    with pytest.raises(TenfoldError, match=r"name that file: --include my.py"):
        Run.open("run").model()
    assert open_run("run", include=["my.py"]).model() is not None
    path.write_text(path.read_text() + "# changed\n")
    with pytest.raises(TenfoldError, match=r"but that of my.py is"):
        open_run("run", include=["my.py"])


def test_export_takes_the_source_along(own):
    own()
    written = library.train(tiny(pe="my.py:LogBias"), "run").export("published")
    assert [path.parent.name for name, path in written.items() if name.startswith("my-")] == [
        "own-files"
    ]


def test_ls(own, tenfold):
    own()
    code, out, _ = tenfold("ls", "pe", "my.py:LogBias")
    assert code == 0
    assert out.startswith("bias(i, j) = -w log(1 + |i - j|).\n\noptions:\n  start: float = 1.0\n")
    assert tenfold("ls", "pe", "log-bias", "--include", "my.py")[1] == out
    code, out, _ = tenfold("ls", "pe", "--include", "my.py", "--json")
    listed = {line["name"]: line["about"] for line in json.loads(out)}
    assert listed["log-bias"] == "bias(i, j) = -w log(1 + |i - j|)."
    assert "sums" in tenfold("ls", "tasks", "--include", "my.py")[1]
    code, _, err = tenfold("ls", "pe", "my.py:Sums")
    assert (code, err) == (2, 'error: "sums" is of the kind task, not encoding\n')


def test_include_before_the_command_and_after_it(own, tenfold):
    own()
    first = ("train", BASE, "--scale", "smoke", "--dry-run", "--json", "--pe", "log-bias")
    for words in (("--include", "my.py", *first), (*first, "--include", "my.py")):
        code, out, err = tenfold(*words)
        assert code == 0, err
        assert json.loads(out)["recipe"]["include"][0]["file"] == "my.py"
    assert "--include" in tenfold("eval", "--help")[1]


def test_workers_of_a_sweep_get_the_source(own):
    """They are sent the text: the file may be gone, and the worker may be elsewhere."""
    made = [tiny(pe=f"{own('folder/my.py')}:LogBias"), tiny(pe="alibi")]
    Path("folder/my.py").unlink()
    runs = run_sweep(made, "runs", workers=1).complete()
    assert [run.recipe.pe.name for run in runs] == ["log-bias", "alibi"]


def test_a_ranked_table_with_an_own_encoding(own, tenfold):
    """Its file tells two versions of it apart, and keeps it out of no table."""
    small = ["--scale", "smoke", "--train.steps", "2", "--eval.lengths", "[2]", "--eval.n", "4"]
    own()
    for pe in ("alibi", "my.py:LogBias"):
        assert tenfold("train", BASE, *small, "--pe", pe)[0] in (0, None)
    rank = ["results", "--rank", "--at", "2", "--fit", "0", "--format", "json"]
    code, out, err = tenfold(*rank)
    assert code in (0, None), err
    assert sorted(line["method"] for line in json.loads(out)) == ["alibi", "log-bias"]
    with Path("my.py").open("a") as file:
        file.write("\nVERSION = 2\n")
    assert tenfold("train", BASE, *small, "--pe", "my.py:LogBias")[0] in (0, None)
    first, *versions = sorted(line["method"] for line in json.loads(tenfold(*rank)[1]))
    assert first == "alibi"
    assert len(versions) == 2
    assert all(name.startswith("log-bias, include my.py ") for name in versions)


SCRIPT = f"""
import tenfold
from tenfold import ALiBi


class Mine(ALiBi):
    name = "mine"


if __name__ == "__main__":
    small = {{"train": {{"steps": 2}}, "eval": {{"lengths": [2], "n": 4}}}}
    base = tenfold.recipe("{BASE}", "smoke", **small)
    runs = tenfold.sweep([base.replace(pe=Mine)], "runs", workers=1)
    print(runs[0].recipe.include[0].file)
"""


def test_a_class_of_a_script(own):
    path = own("script.py", SCRIPT)
    told = subprocess.run(
        [sys.executable, str(path)], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout == "script.py\n"


@pytest.mark.full
def test_on_ray(own):
    pytest.importorskip("ray")
    made = [tiny(pe=f"{own('folder/my.py')}:LogBias")]
    Path("folder/my.py").unlink()
    runs = run_sweep(made, "runs", on="ray", workers=1).complete()
    assert runs[0].recipe.pe.name == "log-bias"


@pytest.mark.full
def test_several_processes_of_one_run(own):
    own()
    words = ["torch.distributed.run", "--nproc-per-node", "2", "-m", "tenfold", "train", BASE]
    words += ["--scale", "smoke", "--train.steps", "2", "--pe", "my.py:LogBias", "--out", "run"]
    told = subprocess.run(
        [sys.executable, "-m", *words], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    assert json.loads(Path("run/environment.json").read_text())["processes"] == 2


EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example(own):
    made = grid(EXAMPLES / "log-bias.grid.yaml", "smoke", [0])
    assert [each.pe.name for each in made] == ["log-bias", "alibi", "rotary", "none"]
    assert [len(each.include) for each in made] == [1, 0, 0, 0]
    build(made[0])


def test_the_laws_hold_for_an_own_file():
    law = "test_ten_times_the_length_is_finite"
    words = [
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-k",
        f"log-bias and {law}",
    ]
    words += ["--include", str(EXAMPLES / "log_bias.py"), "tests/laws/test_encodings.py"]
    told = subprocess.run(
        [sys.executable, "-m", *words], cwd=EXAMPLES.parent, env=ENVIRONMENT, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout[-2000:]
    assert " passed" in told.stdout
