"""Shared by all tests: the two tiers, problems, batchers for every layout, and small models.

A test is part of the quick tier (`make test`) unless it is marked `full`. A test with several parameters
runs there on just enough cases that every value of each of them occurs; its other cases are `full`.
"""

import collections
import json
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import numpy as np
import pytest
import torch

from tenfold import __version__
from tenfold.cli.app import main
from tenfold.core.registry import Spec
from tenfold.data.batch import Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.places import Places
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.encodings import ENCODINGS
from tenfold.evals.statistics import wilson
from tenfold.models import MODELS, Shape
from tenfold.runs.own_components import include
from tenfold.runs.recipe import Recipe

torch.set_num_threads(1)
hypothesis.settings.register_profile(
    "tenfold", deadline=None, derandomize=True, database=None, max_examples=50
)
hypothesis.settings.load_profile("tenfold")


def pytest_addoption(parser):
    """`pytest tests/laws --include my.py -k log-bias` holds components of one's own file to the laws."""
    parser.addoption("--include", action="append", default=[], help="a Python file of components")


def pytest_configure(config):
    include(*config.getoption("--include"))


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items):
    """Mark as `full` every case all of whose values occur in cases before it."""
    seen = collections.defaultdict(set)
    for item in items:
        if hasattr(item, "callspec"):
            occurred, values = seen[item.parent, item.originalname], set(parameters(item))
            if values <= occurred:
                item.add_marker(pytest.mark.full)
            occurred |= values


def parameters(item):
    """The parameters of a case with their values; names that are given together are one parameter."""
    together = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        names = names.split(",") if isinstance(names, str) else names
        together |= {name.strip(): tuple(names) for name in names}
    values = collections.defaultdict(list)
    for name, value in item.callspec.params.items():
        if name == "encoding":  # with any options it is the same component
            value = value["name"]
        values[together.get(name, name)].append(repr(value))
    return [(name, *value) for name, value in values.items()]


@pytest.fixture
def tenfold(monkeypatch, capsys, tmp_path):
    """Call the command line in a folder of its own; gives exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["tenfold", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capsys.readouterr()
        return done.value.code, out, err

    return call


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def task():
    return Addition()


@pytest.fixture
def ragged(task, rng):
    """Problems of very different lengths, one of them of one digit."""
    examples = task.sample(5, 6, rng, samplers.lengths)
    assert len(set(examples.lengths.sum(1))) > 2
    return examples


@pytest.fixture
def make_batcher(task):
    """`make_batcher("causal", scheme, width=5)`: a plain format for the layout."""

    def make(layout, *schemes, format=None, task=task, **options):
        name = format or ("in-place" if layout == "in_place" else "reversed")
        return Batcher(task, FORMATS.build(Spec(name=name, options=options)), layout, schemes)

    return make


@pytest.fixture
def make_model(task):
    """`make_model("decoder", "rotary")`: two layers in float64 whose every parameter matters."""

    def make(name, pe="none", *, lively=True, encoder_layers=None, **size):
        shape = Shape(**{"layers": 2, "width": 16, "heads": 2, **size})
        factory = ENCODINGS.factory(Spec.model_validate(pe), ("width", "heads", "head_size"))
        more = {} if encoder_layers is None else {"encoder_layers": encoder_layers}
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(0)
            v = task.vocabulary
            model = MODELS[name](vocabulary=len(v), end=v.end, shape=shape, pe=factory, **more)
            for parameter in model.parameters():
                if lively and not parameter.is_meta:
                    parameter.copy_(torch.randn(parameter.shape))
        return model.double().eval()

    return make


@pytest.fixture
def line():
    """`line(0, 1, -1)`: one row of tokens with these places on the axis `index`."""

    def make(*places, axis="index"):
        return Places(**{axis: torch.tensor([places])})

    return make


@pytest.fixture
def normal():
    """Random float64 tensors, always the same ones."""
    generator = torch.Generator().manual_seed(0)

    def make(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return make


@pytest.fixture
def recipe():
    """A run of a second that uses everything random: dropout, a scheme, averaged weights, ragged batches."""
    return Recipe(
        format="reversed",
        schemes=[{"name": "shifted", "reach": 20}],
        pe={"name": "learned", "axis": "shifted", "limit": 64},
        data={"length": 3, "sampler": "lengths"},
        model={"kind": "decoder", "layers": 1, "width": 16, "heads": 2, "dropout": 0.1},
        train={
            "steps": 12, "batch": 8, "average": 0.9, "warmup": 3,
            "checkpoint_every": 4, "log_every": 1, "lr": 0.01,
        },
        eval={"lengths": [2, 3], "slices": ["uniform"], "n": 8, "every": 5, "validation_n": 8},
    )  # fmt: skip


@pytest.fixture(scope="session")
def measured():
    """`measured(7, 5)`: a row of a result, 7 of 10 right at length 5."""

    def row(right, length, checkpoint="best", slice="uniform", metric="exact", n=10):
        low, high = wilson(right, n) if metric == "exact" else (None, None)
        return {
            "length": length, "slice": slice, "metric": metric, "value": right / n, "n": n,
            "low": low, "high": high, "checkpoint": checkpoint,
        }  # fmt: skip

    return row


@pytest.fixture(scope="session")
def result_of():
    """What a `result.json` holds."""

    def result(recipe, measurements, **changes):
        made = {"tenfold": __version__, "commit": None, "date": "2026-01-01T00:00:00+00:00"}
        return {
            "fingerprint": recipe.fingerprint, "seed": recipe.seed, "steps": 3, "samples": 30,
            "reason": None, "best_step": 2, "parameters": 7, "train_seconds": 0.5,
            "rows": measurements, "environment": {**made, "cores": 2},
        } | changes  # fmt: skip

    return result


@pytest.fixture
def make(tmp_path, measured, result_of):
    """`make("alibi", seed=1, right={5: 10})`: a finished run with so many of 10 right at length 5."""

    def made(pe="alibi", seed=0, right=None, folder="runs", rows=None, result=None, **changes):
        recipe = Recipe.of({"name": "paper/sums", "pe": pe, "seed": seed, **changes})
        place = tmp_path / folder / recipe.run_name
        place.mkdir(parents=True)
        (place / "recipe.yaml").write_text(recipe.as_yaml())
        rows = rows or [measured(k, length) for length, k in (right or {5: 10}).items()]
        content = result_of(recipe, rows, **(result or {}))
        (place / "result.json").write_text(json.dumps(content, indent=1))
        return place

    return made


class Oracle:
    """Adds the numbers of an in-place question, but looks only `back` columns back for a carry."""

    def __init__(self, frame, back=99, pad=10):
        self.frame, self.back, self.pad = frame, back, pad

    def answer(self, batch):
        tokens = batch.sequence.tokens.numpy()
        sides = tokens[:, : self.frame][:, ::-1], tokens[:, self.frame + 1 :][:, ::-1]
        lengths = np.maximum(*((side != self.pad).sum(1) for side in sides))
        sums = sum(np.where(side == self.pad, 0, side) for side in sides)
        sums = np.pad(sums, ((0, 0), (0, 1)))
        answer = np.full_like(sums, self.pad)
        for row, column in np.ndindex(sums.shape):
            carry = 0
            for below in range(max(0, column - self.back), column):
                carry = int(sums[row, below] + carry >= 10)
            digit = (sums[row, column] + carry) % 10
            if column < lengths[row] or (column == lengths[row] and digit):
                answer[row, column] = digit
        return torch.from_numpy(answer[:, ::-1].copy())


@pytest.fixture
def adder():
    """`adder(6, back=2)`: for questions in a frame of 6."""
    return Oracle
