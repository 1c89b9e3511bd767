"""Addition in place, trained on up to 5 digits: absolute against relative positions, three seeds (Figure 2).

    tenfold reproduce symmetry/addition

About 15 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

SERIES = {"symmetry/addition-absolute": "absolute", "symmetry/addition-relative": "relative"}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def draw(drawing):
    title = "Addition in place, trained on up to 5 digits"
    from_rows.by_length(drawing.rows, SERIES, drawing.folder / "accuracy", title)
