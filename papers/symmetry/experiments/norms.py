"""Relative and absolute positions with norms after each block, in a frame of 20, trained on up to 5 digits, three seeds (Figure 2).

    tenfold reproduce symmetry/norms

The paper's model has norms after each block, one learning rate and dropout. `symmetry/addition` has norms before each block and a
falling rate at laptop scale, and its relative model stops at about 12 digits. Two heads of a width of 96, and eight of 128 with half
of the rate, ten times the decay and 5,000 steps instead of 8,000. Rows of the checkpoint `step-500` and so on keep how longer sums are
learned. 5 to 15 minutes a run on one idle core that computes in bfloat16; finished runs are not done again. The headline alone:

    tenfold reproduce symmetry/norms --only addition-relative-post-eight --add
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import checkpoints
from tenfold.runs.recipe_files import recipe

RELATIVE = "symmetry/addition-relative-post-eight"
SERIES = {
    RELATIVE: "relative, eight heads",
    "symmetry/addition-relative-post": "relative, two heads",
    "symmetry/addition-absolute-post": "absolute, two heads",
}
TITLE = "Norms after each block"


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from checkpoints(lab, run)


def draw(drawing):
    from_rows.by_length(drawing.rows, SERIES, drawing.folder / "figure-2", f"{TITLE}, frame of 20")
    steps = [row for row in drawing.rows if row["checkpoint"].startswith("step-")]
    lengths = sorted({row["length"] for row in steps})
    path = drawing.folder / "while-training"
    from_rows.over_training(
        steps, RELATIVE, path, f"{TITLE}, relative positions, eight heads", lengths
    )
