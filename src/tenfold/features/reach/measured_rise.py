"""Measurements of committed runs: perplexity at a longer length relative to the training length, by encoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tenfold.results.committed import committed

PAPER, EXPERIMENTS = "extrapolation", ("perplexity", "perplexity-prose")


@dataclass(frozen=True)
class Rise:
    """The smallest and the largest factor over runs (seeds and texts), for models trained at `train` tokens."""

    train: int
    serve: int
    least: float
    most: float
    runs: int


def measured_rises(shelves: Sequence[Path] = ()) -> dict[str, Rise]:
    """The rise of each encoding that was trained with one set of options; empty if no results are available."""
    recipes: dict[str, set[str]] = {}
    values: dict[str, list[tuple[int, int, float]]] = {}
    for experiment in EXPERIMENTS:
        for rows in list(committed(PAPER, experiment, shelves).values())[:1]:  # the largest scale
            for row in rows:
                if row["metric"] == "rise":
                    recipes.setdefault(f"{experiment} {row['encoding']}", set()).add(row["recipe"])
                    one = row["trained"], row["length"], row["value"]
                    values.setdefault(row["encoding"], []).append(one)
    several = {key.partition(" ")[2] for key, names in recipes.items() if len(names) > 1}
    rises = {}
    for name, measured in values.items():
        trained, lengths, factors = zip(*measured, strict=True)
        if name not in several and len({*trained}) == len({*lengths}) == 1:
            rises[name] = Rise(trained[0], lengths[0], min(factors), max(factors), len(factors))
    return rises
