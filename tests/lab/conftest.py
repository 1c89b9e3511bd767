"""Finished runs without training: `make("alibi", seed=1, right={5: 10})`."""

import json

import pytest

import tenfold
from tenfold.evals import wilson
from tenfold.lab.recipe import Recipe


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
        made = {"tenfold": tenfold.__version__, "commit": None, "date": "2026-01-01T00:00:00+00:00"}
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
        held = result_of(recipe, rows, **(result or {}))
        (place / "result.json").write_text(json.dumps(held, indent=1))
        return place

    return made
