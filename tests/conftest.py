"""Shared by all tests: problems, batchers for every layout, and small models with lively weights."""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import numpy as np
import pytest
import torch

from tenfold.batch import Batcher
from tenfold.cli import main
from tenfold.lab.recipe import Recipe
from tenfold.models import MODELS, Shape
from tenfold.pe import ENCODINGS
from tenfold.places import Places
from tenfold.registry import Spec
from tenfold.tasks import FORMATS, samplers
from tenfold.tasks.addition import Addition

torch.set_num_threads(1)
hypothesis.settings.register_profile(
    "tenfold", deadline=None, derandomize=True, database=None, max_examples=50
)
hypothesis.settings.load_profile("tenfold")


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
