"""Trainings of a second, and what they left in their folder."""

import pytest
import torch

from tenfold.runs.build import build
from tenfold.training.checkpoint import Checkpoints
from tenfold.training.loop import Job


@pytest.fixture
def make_job(tmp_path, recipe):
    """`make_job(steps=5)`: a job in the test's own folder, the same one each time."""

    def make(folder=tmp_path, recipe=recipe, **train):
        built = build(recipe.replace(train=train))
        validator = built.examiner(seed=1)

        def evaluate(model):
            (row, _) = validator.rows(model, (2,), n=8)
            return row.value, {"exact": row.value}

        return Job(
            model=built.model(),
            batch_at=built.batch_at,
            options=built.recipe.train,
            folder=folder,
            seed=recipe.seed,
            fingerprint=built.recipe.fingerprint,
            evaluate=evaluate,
            evaluate_every=5,
        )

    return make


@pytest.fixture
def saved():
    """All tensors of a folder's newest checkpoint."""

    def load(folder):
        newest = Checkpoints(folder / "checkpoints").latest()
        return {
            f"{group}/{name}": tensor
            for group, tensors in newest.tensors.items()
            for name, tensor in tensors.items()
        }

    return load


@pytest.fixture
def identical(saved):
    """Whether two folders hold the same bits."""

    def check(folder, other):
        ours, theirs = saved(folder), saved(other)
        assert ours.keys() == theirs.keys()
        assert {name.split("/")[0] for name in ours} == {"model", "optimizer", "best", "average"}
        different = [name for name in ours if not torch.equal(ours[name], theirs[name])]
        return different == []

    return check
