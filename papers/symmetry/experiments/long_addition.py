"""Relative positions in a frame of 50, trained on up to 5 digits, three seeds (Figure 2(b)).

    tenfold reproduce symmetry/long-addition

About 30 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

NAME = "symmetry/long-addition-relative"


def grid(scale):
    return [recipe(NAME, scale, seed=seed) for seed in range(3)]


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        {NAME: "relative"},
        drawing.folder / "figure-2b",
        "Relative positions in a frame of 50",
    )
