"""Another package adds components by entry point: one file and one test. The laws then hold for them too."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

GOOD = '''
"""Parity: keys an odd number of places away are a little less welcome."""

import torch
from torch import nn

from tenfold.encodings import PositionalEncoding
from tenfold.data.places import distance


class Parity(PositionalEncoding):
    """bias(i, j) = -w for odd |i - j|, w learned."""

    name = "odd-even"
    known_as = ("made up",)
    shift_invariant = True

    def __init__(self, heads: int, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis = axis
        self.weight = nn.Parameter(torch.ones(heads))

    def bias(self, q_at, k_at):
        behind, related = distance(q_at[self.axis], k_at[self.axis])
        odd = (related & (behind % 2 == 1)).unsqueeze(1)
        return -(odd * self.weight[:, None, None])
'''

STATEFUL = '''
"""Salience: a key says by itself how welcome it is."""

import torch
from torch import nn

from tenfold.encodings import PositionalEncoding


class Salience(PositionalEncoding):
    """bias(i, j) = w.x_j, with w learned for each head and x the input of the layer."""

    name = "salience"
    features = 1

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(heads, width))

    def state(self, x, at):
        return (x @ self.weight.mT).mT.unsqueeze(-1)  # (B, H, S, 1)

    def state_bias(self, state, q, k, q_at, k_at):
        return state.mT  # (B, H, 1, S): the same for every query
'''

ITS_TEST = """
import torch
from tenfold_odd import Parity
from tenfold.data.places import Places


def test_by_loops():
    at = Places(index=torch.arange(5)[None])
    bias = Parity(heads=2).bias(at, at)
    for i in range(5):
        for j in range(5):
            assert bias[0, 0, i, j] == -((i - j) % 2)
"""

BROKEN = {  # what is wrong, how, and the law that must catch it
    "not causal": (
        "        odd = (",
        "        return -(k_at[self.axis].amax(-1)[:, None, None, None] * self.weight[:, None, None])"
        " * (behind % 2).unsqueeze(1)\n        odd = (",
        "test_prefix_is_read_as_in_the_longer_sequence",
    ),
    "not shift-invariant as declared": (
        "        odd = (",
        "        behind = behind * (q_at[self.axis] // 2).unsqueeze(-1)\n        odd = (",
        "test_shift_changes_nothing_exactly_where_declared",
    ),
    "NaN at long length": (
        "        return -(odd",
        "        odd = odd * torch.sqrt(100.0 - behind.abs()).unsqueeze(1)\n        return -(odd",
        "test_ten_times_the_length_is_finite",
    ),
    "a dead parameter": (
        "        self.weight = ",
        "        self.unused = nn.Parameter(torch.ones(3))\n        self.weight = ",
        "test_gradient_reaches_every_parameter",
    ),
    "an axis it does not declare": (
        "        odd = (",
        "        behind = behind + k_at['column'].unsqueeze(1)\n        odd = (",
        "test_reads_only_the_axes_it_declares",
    ),
}
UNAFFECTED = "test_saved_and_reloaded_answers_alike"  # a law that all of these obey


@pytest.fixture
def package(tmp_path):
    """`package(source)`: an installed package with two encodings and a task; the environment to use it."""

    def make(source, stateful=STATEFUL):
        (tmp_path / "tenfold_odd.py").write_text(source)
        (tmp_path / "tenfold_salience.py").write_text(stateful)
        (tmp_path / "tenfold_twice.py").write_text(TASK)
        (tmp_path / "test_odd.py").write_text(ITS_TEST)
        info = tmp_path / "tenfold_odd-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tenfold-odd\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[tenfold.pe]\nodd-even = tenfold_odd:Parity\nsalience = tenfold_salience:Salience\n"
            "[tenfold.tasks]\nplugged-addition = tenfold_twice:Plugged\n"
        )
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        return {**os.environ, "PYTHONPATH": path}

    return make


TASK = '''
"""Addition under another name: a task of another package."""

from tenfold.data.tasks.arithmetic.addition import Addition


class Plugged(Addition):
    """As addition."""

    name = "plugged-addition"
'''


def run(environment, *words, cwd=ROOT):
    return subprocess.run(
        [sys.executable, "-m", *words],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def laws(environment, wanted):
    """The laws on the plugged encoding, in a process of its own, and no doctest."""
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    return run(environment, "pytest", "tests/laws/test_encodings.py", *options, "-k", wanted)


def test_one_file_and_one_test(package, tmp_path):
    environment = package(GOOD)
    listed = run(environment, "tenfold", "ls", "pe").stdout
    assert re.search(r"^odd-even +Parity: keys an odd number of places away", listed, re.MULTILINE)
    assert "plugged-addition" in run(environment, "tenfold", "ls", "tasks").stdout
    told = run(environment, "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path)
    assert "1 passed" in told.stdout


@pytest.mark.full
@pytest.mark.parametrize("name", ["odd-even", "salience"])
def test_the_laws_hold_for_it(package, name):
    told = laws(package(GOOD), name)
    assert "failed" not in told.stdout
    passed = int(told.stdout.split(" passed")[0].split()[-1])
    assert passed >= 25, told.stdout


@pytest.mark.full
@pytest.mark.parametrize("wrong", BROKEN)
def test_the_laws_catch(wrong, package):
    before, after, law = BROKEN[wrong]
    assert before in GOOD
    broken = package(GOOD.replace(before, after))
    told = laws(broken, f"odd-even and ({law} or {UNAFFECTED})")
    assert f"FAILED tests/laws/test_encodings.py::{law}" in told.stdout
    assert f"FAILED tests/laws/test_encodings.py::{UNAFFECTED}" not in told.stdout
    assert " passed" in told.stdout.splitlines()[-1]


@pytest.mark.full
def test_the_laws_catch_a_state_that_depends_on_other_keys(package):
    broken = STATEFUL.replace("unsqueeze(-1)", "unsqueeze(-1).cumsum(2)")
    assert broken != STATEFUL
    law = "test_a_state_belongs_to_its_key_alone"
    told = laws(package(GOOD, broken), f"salience and ({law} or {UNAFFECTED})")
    assert f"FAILED tests/laws/test_encodings.py::{law}" in told.stdout
    assert f"FAILED tests/laws/test_encodings.py::{UNAFFECTED}" not in told.stdout


@pytest.mark.parametrize("name", ["odd-even", "salience"])
def test_a_recipe_may_name_it(package, tmp_path, name):
    environment = package(GOOD)
    asked = ["tenfold", "train", "symmetry/addition-relative", "--scale", "smoke"]
    asked += ["--pe", name, "--task", "plugged-addition", "--out", str(tmp_path / "run")]
    told = run(environment, *asked)
    assert told.returncode == 0, told.stderr
    assert name in (tmp_path / "run" / "recipe.yaml").read_text()
    told = run({**os.environ}, "tenfold", "ask", str(tmp_path / "run"), "1+2")
    assert told.returncode == 2
    assert told.stderr.startswith("error: ")
    assert 'unknown task "plugged-addition"' in told.stderr


@pytest.mark.parametrize(
    ("source", "entry", "told"),
    [
        ("import nowhere\n", "odd-even = tenfold_odd:Parity", "No module named 'nowhere'"),
        (GOOD, "odd-even = tenfold_odd:Missing", "has no attribute 'Missing'"),
        (GOOD, "alibi = tenfold_odd:Parity", "there is one of that name"),
        (GOOD, "odd = tenfold_odd:Parity", 'its name is "odd-even"'),
        (GOOD, "odd-even = tenfold_odd:distance", "it is no PositionalEncoding"),
    ],
)
def test_a_plugin_that_fails_leaves_the_others_alone(package, tmp_path, source, entry, told):
    environment = package(source)
    info = tmp_path / "tenfold_odd-1.0.dist-info"
    (info / "entry_points.txt").write_text(f"[tenfold.pe]\n{entry}\n")
    listed = run(environment, "tenfold", "ls", "pe")
    assert listed.returncode == 0
    assert "\nalibi " in listed.stdout or listed.stdout.startswith("alibi ")
    assert listed.stdout.count("odd") == 0
    assert listed.stderr.startswith("warning: encoding ")
    assert "is left out: " in listed.stderr
    assert told in listed.stderr
