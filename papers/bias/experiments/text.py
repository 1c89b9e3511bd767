"""Calibration of language models: perplexity against length, three seeds.

    tenfold reproduce bias/text

The first model has sinusoids and reads 128 bytes; its lines are differences of index, of each layer. The second is trained as long as the
first, with the lines alone: perplexities are only comparable then. Beside them ALiBi and no positions. About 20 minutes a seed on
one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.bias.second_stage import calibrated_rows, second, train_second
from tenfold.runs.recipe_files import recipe

SERIES = {
    "bias/text-vanilla": "sinusoids",
    "bias/text-calibrated": "calibrated",
    "bias/text-alibi": "ALiBi",
    "bias/text-none": "no positions",
}
FIRST = "bias/text-vanilla"
SAMPLES = {"smoke": 8}  # stretches of text; else 64

of_each_run = True


def grid(scale):
    names = [name for name in SERIES if not name.endswith("calibrated")]
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def later(recipe):
    return recipe.train.steps if recipe.name == FIRST else 0


def measure(lab):
    stages = [
        second(
            run,
            "bias/text-calibrated",
            steps=run.recipe.train.steps,
            samples=SAMPLES.get(lab.scale, 64),
        )
        for run in lab.runs
        if run.recipe.name == FIRST
    ]
    for stage, run in train_second(lab, stages):
        yield from calibrated_rows(lab, stage, run)


def draw(drawing):
    title = "Language models of code: perplexity against length"
    from_rows.perplexity(drawing.rows, SERIES, drawing.folder / "text", title)
