"""One digit times a number with shifted copies of the data: what the paper shows for three digits, three seeds.

    tenfold reproduce symmetry/multiplication-augmented

About 50 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

SERIES = {
    f"symmetry/multiplication-1-{kind}-augmented": f"{kind}, shifted copies"
    for kind in ("absolute", "relative", "uniform")
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        SERIES,
        drawing.folder / "augmented",
        "One digit times a number, shifted copies",
    )
