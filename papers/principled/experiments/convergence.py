"""When does a model begin to drop digits? Accuracy against the last n digits, by length, over training; three seeds.

    tenfold reproduce principled/convergence

The training of `principled/addition-absolute`, looked at every 250 steps at laptop scale (the checkpoints `step-250`, ...), n = 3.
Up to n digits this is accuracy against the truth; above, a sum of the last n digits is never the true one. `exact-at-fit` is
accuracy at the first look that finds 99% right at n digits. The best checkpoint is the best at all these lengths together.
One run of up to 15 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import checkpoints, looked_at
from tenfold.runs.recipe_files import recipe

NAME = "principled/addition-followed"
FIT = 0.99


def grid(scale):
    return [recipe(NAME, scale, seed=seed) for seed in range(3)]


def measure_run(lab, run):
    yield from checkpoints(lab, run)
    n = run.recipe.data.length
    fitted = next(((s, exact) for s, exact in looked_at(run) if exact[n] >= FIT), None)
    if fitted is None:
        return
    about = {**lab.about(run), "slice": "uniform", "metric": "exact-at-fit", "checkpoint": "best"}  # fmt: skip
    for length, value in fitted[1].items():
        row = {"length": length, "value": value, "n": run.recipe.eval.validation_n}
        yield {**about, **row, "steps": fitted[0]}


def draw(drawing):
    lengths = sorted({row["length"] for row in drawing.rows if row["length"]})
    title = "Against the last n digits, over training"
    from_rows.over_training(drawing.rows, NAME, drawing.folder / "over-training", title, lengths)
