"""Another package adds a mixer and a model by entry point: one file and one test. The laws then hold for them too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]

MIXER = '''
"""A running mean: every position takes the mean of all positions so far."""

from torch import nn

from tenfold.models import Mixer


class Sums:
    def __init__(self):
        self.total, self.count = 0.0, 0.0


class RunningMean(Mixer):
    """The mean of the projected positions so far, times a factor."""

    name = "running-mean"

    def __init__(self, width: int, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def new_cache(self, capacity):
        return Sums()

    def forward(self, x, memory, seen):
        values, there = self.value(memory), memory.new_ones(*memory.shape[:2], 1)
        if seen.valid is not None:  # padding counts for nothing
            there = there * seen.valid.unsqueeze(-1)
        before = seen.cache or Sums()
        total = before.total + (values * there).cumsum(1)
        count = before.count + there.cumsum(1)
        before.total, before.count = total[:, -1:], count[:, -1:]
        mean = self.factor * total / count.clamp(min=1)
        return self.out(mean[:, -x.shape[1] :])
'''
ITS_TEST = """
import torch
from tenfold.encodings import NoPE
from tenfold.models.layers import Seen
from tenfold_mean import RunningMean


def test_by_loops():
    mixer, x = RunningMean(4).double(), torch.randn(2, 5, 4).double()
    mixed = mixer(x, x, Seen(NoPE(), None, None, None))
    for t in range(5):
        expected = mixer.out(mixer.value(x[:, : t + 1]).mean(1))
        assert torch.allclose(mixed[:, t], expected)
"""
MODEL = '''
"""A model that looks at no token at all: the same logits everywhere."""

import torch
from torch import nn

from tenfold.models import Model


class Constant(Model):
    """A learned vector of logits, whatever the question."""

    name = "constant"
    layout = "causal"

    def __init__(self, vocabulary: int, end: int, scale: float = 1.0) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(vocabulary))
        self.scale = scale

    def forward(self, batch):
        return (self.scale * self.logits).expand(*batch.target.shape, -1)

    def answer(self, batch):
        return self(batch).argmax(-1)
'''
RECIPE = {
    "format": "reversed",
    "pe": "none",
    "data": {"length": 2},
    "train": {"steps": 6, "batch": 8, "warmup": 1},
    "eval": {"lengths": [2], "slices": ["uniform"], "n": 4, "validation_n": 4},
}


@pytest.fixture
def run(tmp_path):
    """`run("tenfold", "ls", "mixers")`: a command where the package is installed."""
    (tmp_path / "tenfold_mean.py").write_text(MIXER)
    (tmp_path / "tenfold_constant.py").write_text(MODEL)
    (tmp_path / "test_mean.py").write_text(ITS_TEST)
    info = tmp_path / "tenfold_mean-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tenfold-mean\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[tenfold.mixers]\nrunning-mean = tenfold_mean:RunningMean\n"
        "[tenfold.models]\nconstant = tenfold_constant:Constant\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])

    def command(*words, cwd=tmp_path):
        return subprocess.run(
            [sys.executable, "-m", *map(str, words)],
            env={**os.environ, "PYTHONPATH": path},
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
        )

    return command


def written(tmp_path, model):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**RECIPE, "model": model}))
    return path


@pytest.mark.full
def test_a_mixer_is_one_file_and_one_test(run, tmp_path):
    assert "running-mean  The mean of the projected" in run("tenfold", "ls", "mixers").stdout
    done = run("pytest", "-q", "-p", "no:cacheprovider", tmp_path / "test_mean.py")
    assert "1 passed" in done.stdout


def test_a_recipe_may_name_it(run, tmp_path):
    sizes = {"layers": 1, "width": 16, "heads": 2}
    mixer = {"name": "running-mean", "factor": 2.0}
    recipe = written(tmp_path, {"name": "decoder", "mixer": mixer, **sizes})
    done = run("tenfold", "train", recipe, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    stored = yaml.safe_load((tmp_path / "run" / "recipe.yaml").read_text())
    assert stored["model"]["mixer"] == mixer
    wrong = run("tenfold", "train", recipe, "--model.mixer.factr", 3)
    assert wrong.returncode == 2
    assert 'option of mixer "running-mean" "factr"; did you mean "factor"' in wrong.stderr


@pytest.mark.full
def test_a_model_that_has_no_encoding_and_no_blocks(run, tmp_path):
    recipe = written(tmp_path, {"name": "constant", "scale": 0.5})
    done = run("tenfold", "train", recipe, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert run("tenfold", "ask", tmp_path / "run", "1+2").returncode in (0, 1)
    wrong = run("tenfold", "train", recipe, "--pe", "alibi")
    assert wrong.returncode == 2
    assert '"constant" takes no positional encoding; "alibi" would do nothing' in wrong.stderr


@pytest.mark.full
def test_the_laws_hold_for_the_mixer(run):
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    done = run("pytest", "tests/laws/test_models.py", *options, "-k", "running-mean", cwd=ROOT)
    assert "failed" not in done.stdout
    assert int(done.stdout.split(" passed")[0].split()[-1]) >= 30, done.stdout
