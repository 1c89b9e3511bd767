"""The independent checker: it accepts what is shipped, finds what is changed, and shares no code with tenfold."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tenfold.data.tasks import TASKS
from tenfold.features.proofs import independent_checker
from tenfold.features.proofs.contexts import View, reachable
from tenfold.features.proofs.independent_checker import check, contexts_of, main, problem_of
from tenfold.runs.run import SHELF

SMALL = ["parity", "addition-base-2", "comparison", "successor", "multiplication"]


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(SHELF / "addition-base-2", tmp_path / "model")
    return tmp_path / "model"


def change(folder, **values):
    path = folder / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def with_option(pe, part, **options):
    """An encoding with another option of one of its parts."""
    parts = [{**each, **options} if n == part else each for n, each in enumerate(pe["parts"])]
    return {**pe, "parts": parts}


@pytest.mark.parametrize("name", SMALL)
def test_what_is_shipped_is_accepted(name):
    stored = json.loads((SHELF / name / "certificate.json").read_text())
    found, different = check(SHELF / name)
    assert different == []
    assert found["margin"] == pytest.approx(stored["margin"], abs=1e-10)


def test_it_stands_alone(folder):
    """No import of tenfold, numpy alone, at most 300 lines; and it runs from anywhere."""
    source = Path(independent_checker.__file__)
    assert len(source.read_text().splitlines()) <= 300
    imported = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported - set(sys.stdlib_module_names) == {"numpy"}
    copied = shutil.copy(source, folder.parent / "checker.py")
    ran = subprocess.run(
        [sys.executable, copied, folder], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "accepted: proved")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"margin": 2.6163642}, "the margin is"),
        ({"contexts": 112}, "contexts is 111"),
        ({"weights": "0" * 64}, "weights is"),
        ({"wrong": 1}, "wrong is 0"),
        ({"bound": 3.0}, "does not exceed the bounds"),
        ({"bound64": None, "in_float32": False}, "this is no proof"),
        ({"bound": 100.0, "bound64": -200.0}, "does not exceed the bounds"),
        ({"bound64": 0.0}, "this is no proof"),
        ({"in_float32": False}, "the verdict is proved"),
        ({"proved": False, "in_float32": False}, "the verdict is proved"),
        ({"declared": ["encoding mine.Window"]}, "this is no proof"),
        ({"violations": ["the model sees more"]}, "this is no proof"),
    ],
)
def test_a_changed_certificate_is_found(folder, values, told, capsys):
    change(folder, **values)
    assert main(str(folder)) == 1
    assert told in capsys.readouterr().out


def test_changed_weights_are_found(folder):
    path = folder / "weights.safetensors"
    weights = load_file(path)
    weights["head.bias"][1] -= 10
    save_file(weights, path)
    found, different = check(folder)
    assert found["wrong"] > 0
    assert any("this is no proof" in line for line in different)


def test_what_it_does_not_read_is_refused(folder, capsys):
    about = json.loads((folder / "certificate.json").read_text())["about"]
    for more in (
        {"schemes": ["cyclic"]},
        {"format": "interleaved"},
        {"model": {**about["model"], "layers": 2}},
        {"task": {"name": "addition", "carries": True}},
        {"task": {"name": "addition", "most": "parity"}},
        {"task": {"name": "subtraction", "terms": 3}},
        {"task": {"name": "parity", "base": 3}},
        {"task": {"name": "multiplication", "base": 2}},  # its window shows no multiplier
        {"task": {"name": "multiplication", "base": 2, "least": 1}},
        {"model": {**about["model"], "activation": "relu"}},
        {"pe": with_option(about["pe"], 0, hub=0)},
        {"pe": with_option(about["pe"], 0, heads=[0])},
        {"pe": with_option(about["pe"], 1, values=True)},
        {"pe": with_option(about["pe"], 1, unrelated=False)},
        {"pe": with_option(about["pe"], 2, scale=2)},
        {"pe": {**about["pe"], "name": "per-head"}},
        {"task": "sorting"},
    ):
        change(folder, about={**about, **more})
        assert main(str(folder)) == 2
        assert capsys.readouterr().out.startswith("not checked: ")
    change(folder, about=about)
    path = folder / "weights.safetensors"
    save_file({name: x.astype(np.float16) for name, x in load_file(path).items()}, path)
    assert main(str(folder)) == 2


@pytest.mark.parametrize("content", ["{}", "[]", "", '{"about": 3}', '{"about": {"model": []}}'])
def test_what_is_no_certificate_is_one_line(folder, content, capsys):
    (folder / "certificate.json").write_text(content)
    assert main(str(folder)) == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("not checked: ")


def test_a_pipe_in_the_place_of_a_certificate(tenfold, folder):
    """It would wait for ever."""
    (folder / "certificate.json").unlink()
    os.mkfifo(folder / "certificate.json")
    code, _, said = tenfold("certify", folder, "--independent")
    assert code != 0
    assert "certificate.json cannot be read: it is not a file" in said


def test_a_refutation_is_accepted_as_what_it_is(folder, capsys):
    """The certificate is right, but nothing is proved: no exit code 0."""
    path = folder / "weights.safetensors"
    weights = load_file(path)
    weights["head.bias"][1] -= 10
    save_file(weights, path)
    found, _ = check(folder)
    change(folder, **found, verdict="refuted", proved=False, in_float32=False)
    assert main(str(folder)) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "accepted: refuted"


@pytest.mark.parametrize(
    ("task", "behind", "answers"),
    [
        ({"name": "addition", "base": 3}, 1, 1),
        ({"name": "addition", "base": 2}, 2, 3),
        ({"name": "addition", "base": 3, "terms": 3}, 1, 1),
        ({"name": "subtraction", "base": 3}, 1, 2),
        ({"name": "successor", "base": 3}, 2, 1),
        ({"name": "comparison", "base": 3}, 0, 1),
        ({"name": "multiplication", "base": 3}, 1, 1),
        ({"name": "multiplication", "base": 2, "multiplier": 2}, 2, 3),
        ("parity", 1, 2),
    ],
)
def test_two_searches_find_the_same_contexts(task, behind, answers):
    ours = contexts_of(problem_of(task), behind, answers)
    theirs = reachable(TASKS.build(task).transducer(), View(behind, answers))
    assert theirs.conflict is None
    assert len(ours) == len(theirs)
    assert sorted(ours.values()) == sorted(theirs.output.tolist())


def test_the_command(tenfold, folder, tmp_path):
    code, out, _ = tenfold("certify", folder, "--independent")
    assert code == 0
    assert out.splitlines()[-1] == "accepted: proved"
    stored = json.loads((folder / "certificate.json").read_text())
    change(folder, about={**stored["about"], "task": {"name": "addition", "base": 3}})
    code, _, err = tenfold("certify", folder, "--independent")
    assert code == 2
    assert "about another model than the recipe: task is" in err
    change(folder, about=stored["about"], margin=1.0)
    assert tenfold("certify", folder, "--independent")[0] == 1
    (folder / "certificate.json").unlink()
    code, _, err = tenfold("certify", folder, "--independent")
    assert code == 2
    assert "is not an exported model with a certificate" in err
