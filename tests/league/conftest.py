"""Rows of the league that are written by hand."""

import json

import pytest

from tenfold.league.entries import ENTRIES
from tenfold.results.row_schema import EMPTY


@pytest.fixture(scope="session")
def add():
    """`add(collected, track, entry, values)`: a run of an entry, without training."""

    def made(collected, track, entry, values, seed=0, reason=None):
        """Rows of an entry: a value for each length."""
        recipe = track.recipe(entry, ENTRIES[entry].values(track)).replace(seed=seed)
        environment = {"tenfold": "0.2.0", "commit": "abc", "date": "2026-11-18"}
        run = {
            "run": recipe.run_name, "recipe": json.dumps(recipe.as_json()), "environment": json.dumps(environment),
            "parameters": 100, "steps": 10, "train_seconds": 1.0, "reason": reason, "best_step": 10,
            "fingerprint": recipe.fingerprint, "seed": seed,
        }  # fmt: skip
        rows = [
            {
                **EMPTY, "recipe": recipe.name, "fingerprint": recipe.fingerprint, "seed": seed, "slice": "uniform",
                "metric": track.metric, "length": length, "value": value, "n": 200, "checkpoint": "best",
            }
            for length, value in values.items()
        ]  # fmt: skip
        collected.runs.append(run)
        collected.rows.extend(rows)

    return made
