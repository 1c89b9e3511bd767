"""Very long problems both ways, and Python's integers from digits."""

import numpy as np
import pytest

from tenfold.features.proofs.long_problems import integer, solve_long_problem
from tenfold.models.locality import NotCertifiable
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import shipped
from tenfold.runs.train import train


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("length", [1, 2, 17, 18, 19, 36, 1000])
def test_integer(base, length, rng):
    digits = rng.integers(0, base, length).astype(np.uint8)
    text = "".join("0123456789abcdef"[d] for d in digits[::-1])
    assert integer(digits, base) == int(text, base)


def test_both_ways_agree():
    run = shipped("addition")
    task = run.built.batcher.task
    found = solve_long_problem(run, "a sum", task.sample(1, 3000, np.random.default_rng(1)))
    assert (found.digits, found.right, found.agrees) == (3000, True, True)
    assert 1 < found.sweeps < 40
    cascade = solve_long_problem(run, "nines", task.parse("9" * 500 + "+1"))
    assert cascade.right
    assert set(found.as_json()) >= {"what", "model_seconds", "machine_seconds"}


def test_a_model_that_is_not_local_has_no_machine(tmp_path):
    recipe = Recipe.of(
        {"format": "reversed", "pe": "alibi", "model": {"kind": "decoder", "layers": 1, "width": 16},
         "train": {"steps": 1, "batch": 4}, "eval": {"lengths": [2], "n": 5, "slices": ["uniform"]}}
    )  # fmt: skip
    run = train(recipe, tmp_path / "run")
    with pytest.raises(NotCertifiable):
        solve_long_problem(run, "a sum", run.built.batcher.task.parse("1+2"))
