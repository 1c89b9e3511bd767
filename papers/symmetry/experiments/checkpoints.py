"""How accuracy changes from checkpoint to checkpoint, three seeds (Figure 2(b), Section 3).

    tenfold reproduce symmetry/checkpoints

Every checkpoint is asked the same separate problems; rows of the checkpoint `step-100` and so on keep the curve. The
adder of the other experiments, whose weights are averaged and whose learning rate falls, stands beside it.
About 12 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import checkpoints, spread
from tenfold.runs.recipe_files import recipe

NAMES = ("symmetry/addition-checkpoints", "symmetry/addition-relative")


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]


def measure_run(lab, run):
    yield from checkpoints(lab, run)
    yield from spread(lab, run)


def draw(drawing):
    lengths = sorted(
        {row["length"] for row in drawing.rows if row["checkpoint"].startswith("step-")}
    )
    for name, path, title in zip(
        NAMES,
        ("figure-2b-checkpoints", "averaged"),
        ("Constant learning rate, weights as they are", "Falling learning rate, averaged weights"),
        strict=True,
    ):
        from_rows.over_training(drawing.rows, name, drawing.folder / path, title, lengths)
