"""Calibration of other models and other tasks: a decoder alone, two-digit multipliers, tags of words, walks in a graph; three seeds.

    tenfold reproduce bias/transfer

Tags depend on neighbours, walks in a graph on edges anywhere: calibration should help with the first and cannot with the
second. About 25 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.bias.second_stage import (
    calibrated_rows,
    second,
    steps_again,
    train_second,
)
from tenfold.runs.recipe_files import recipe

TITLES = {
    "decoder": "Addition by a decoder alone",
    "times-2": "A number times two digits",
    "tagging": "Tags of words",
    "reachability": "Walks in a graph",
}


def grid(scale):
    return [
        recipe(f"bias/{what}-vanilla", scale, seed=seed) for seed in range(3) for what in TITLES
    ]


def later(recipe):
    return steps_again(recipe)


def measure(lab):
    stages = [
        second(run, run.recipe.name.replace("vanilla", "calibrated")) for run in list(lab.runs)
    ]
    for stage, run in train_second(lab, stages):
        yield from calibrated_rows(lab, stage, run)


def draw(drawing):
    for what, title in TITLES.items():
        series = {f"bias/{what}-vanilla": "first", f"bias/{what}-calibrated": "calibrated"}
        from_rows.by_length(drawing.rows, series, drawing.folder / what, title)
