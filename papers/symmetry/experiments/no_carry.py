"""Digit-wise sums, nothing carried, against ordinary ones, three seeds (Figure 10, Appendix C.2).

    tenfold reproduce symmetry/no-carry

About 10 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

SERIES = {
    "symmetry/no-carry-relative": "nothing carried",
    "symmetry/addition-relative": "ordinary sums",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        SERIES,
        drawing.folder / "figure-10",
        "Relative positions, with and without carries",
    )
