"""Relative positions in a frame of 50, trained on up to 5 digits, three seeds (Figure 2(b)).

    tenfold reproduce symmetry/long-addition

With norms before each block and a falling rate, as in `symmetry/addition`, and with norms after each block and one rate, as in the
paper (`-post`). About 8 and 50 minutes a run on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

SERIES = {
    "symmetry/long-addition-relative-post": "norms after each block",
    "symmetry/long-addition-relative": "norms before each block",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        SERIES,
        drawing.folder / "figure-2b",
        "Relative positions in a frame of 50",
    )
