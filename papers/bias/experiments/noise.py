"""Calibration where answers are wrong in training, three seeds.

    tenfold reproduce bias/noise

Each digit of a training answer is another one with this probability, in both trainings; beside them relative keys, trained on the
same. About 20 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.bias.second_stage import (
    calibrated_rows,
    second,
    steps_again,
    train_second,
)
from tenfold.runs.recipe_files import recipe

NOISE = (5, 20)  # % of digits
PLAIN = "bias/addition-vanilla"
NAMES = (PLAIN, "bias/addition-relative")


def grid(scale):
    return [noisy(name, scale, seed, p) for seed in range(3) for p in NOISE for name in NAMES]


def noisy(name, scale, seed, percent):
    chosen = recipe(name, scale, seed=seed)
    return chosen.replace(name=f"{name}-noise-{percent}", data={"noise": percent / 100})


def later(recipe):
    return steps_again(recipe) if recipe.name.startswith(PLAIN) else 0


def measure(lab):
    plain = [run for run in lab.runs if run.recipe.name.startswith(PLAIN)]
    stages = [second(run, run.recipe.name.replace("vanilla", "calibrated")) for run in plain]
    for stage, run in train_second(lab, stages):
        yield from calibrated_rows(lab, stage, run)


def draw(drawing):
    for percent in NOISE:
        series = {
            f"bias/addition-{kind}-noise-{percent}": words
            for kind, words in (
                ("vanilla", "plain"),
                ("calibrated", "calibrated"),
                ("relative", "relative keys"),
            )
        }
        title = f"{percent}% of the digits of training answers are wrong"
        from_rows.by_length(drawing.rows, series, drawing.folder / f"noise-{percent}", title)
