"""Calibration of encoders, which answer in place and in one pass: tags of words and sums; three seeds.

    tenfold reproduce bias/encoders

One attention does all, in both directions, and its lines are those of every token. About 10 minutes a seed on one idle core at laptop
scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.bias.second_stage import (
    calibrated_rows,
    second,
    steps_again,
    train_second,
)
from tenfold.runs.recipe_files import recipe

TITLES = {"tagging": "Tags of words, in place", "addition": "Addition, in place"}

of_each_run = True


def grid(scale):
    return [
        recipe(f"bias/{what}-encoder-vanilla", scale, seed=seed)
        for seed in range(3)
        for what in TITLES
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
        name = f"bias/{what}-encoder"
        series = {f"{name}-vanilla": "first", f"{name}-calibrated": "calibrated"}
        from_rows.by_length(drawing.rows, series, drawing.folder / f"encoder-{what}", title)
