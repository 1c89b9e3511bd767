"""Calibration of long division by one digit, from the highest digit on; three seeds.

    tenfold reproduce bias/division

The first of the paper's open questions: does calibration go beyond N x 1? A remainder goes from column to column and is never written, but
it follows from the digit and the quotient of the column before, so that two columns and the divisor decide. Beside it RoPE and ALiBi.
About an hour a seed on one core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.bias.second_stage import (
    calibrated_rows,
    second,
    steps_again,
    train_second,
)
from tenfold.runs.recipe_files import recipe

SERIES = {
    "bias/division-vanilla": "first training",
    "bias/division-calibrated": "calibrated",
    "bias/division-rope": "RoPE",
    "bias/division-alibi": "ALiBi",
}
FIRST = "bias/division-vanilla"

of_each_run = True


def grid(scale):
    names = [name for name in SERIES if not name.endswith("calibrated")]
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def later(recipe):
    return steps_again(recipe) if recipe.name == FIRST else 0


def measure(lab):
    plain = [run for run in lab.runs if run.recipe.name == FIRST]
    stages = [second(run, "bias/division-calibrated") for run in plain]
    for stage, run in train_second(lab, stages):
        yield from calibrated_rows(lab, stage, run)


def draw(drawing):
    title = "Long division by one digit"
    from_rows.by_length(drawing.rows, SERIES, drawing.folder / "division", title)
