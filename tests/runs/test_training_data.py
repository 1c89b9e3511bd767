"""Samplers of the `symmetry` paper in recipes: shifted copies, uniform over complexity, mixed."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.roles import Role
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe
from tenfold.runs.train import train


def in_place(sampler, task="addition", **more):
    return Recipe(
        task=task,
        format={"name": "in-place", "frame": 20},
        data={"length": 5, "sampler": sampler},
        pe={"name": "learned", "limit": 50},
        model={"layers": 1, "width": 16, "heads": 2},
        train={"steps": 2, "batch": 64, "warmup": 1},
        eval={"lengths": [5, 20], "slices": ["uniform"], "n": 8, "validation": [10]},
        **more,
    )


@pytest.mark.parametrize("task", ["addition", {"name": "multiplication", "multiplier": 3}])
def test_shifted_copies_fill_the_frame(task):
    """Digits of both addends, or of the multiplicand, stand at every place; data.length stays what is drawn."""
    built = build(in_place({"name": "appended", "to": 20}, task))
    seen = np.zeros(20, dtype=bool)
    for number in range(20):
        sequence = built.batch_at(number).sequence
        digits = (sequence.tokens > 0) & (sequence.tokens < 10)
        second = sequence.places["role"] == Role.OPERAND + 1
        column = sequence.places["significance"]
        for row in range(64):
            there = column[row][(digits & second)[row]].numpy()
            seen[there] = True
            assert len(there) <= 5
    assert seen.all()


@pytest.mark.parametrize(
    "sampler", ["complexity", "mixed", {"name": "appended", "to": 20, "inner": {"name": "mixed", "share": 0.2}}]
)  # fmt: skip
def test_they_train(sampler, tmp_path):
    run = train(in_place(sampler), tmp_path / "run")
    assert run.result()["steps"] == 2


def test_past_the_frame():
    """The format refuses it in the first batch that has one."""
    built = build(in_place({"name": "appended", "to": 30}))
    with pytest.raises(
        TenfoldError, match='digits does not fit the format "in-place", which holds 20'
    ):
        built.batch_at(0)


def test_cascades_need_two_numbers():
    with pytest.raises(TenfoldError, match="cascades are defined for 2 operands, not 1"):
        build(in_place("mixed", "multiplication"))
