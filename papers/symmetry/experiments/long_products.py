"""Products with three digits, trained on up to 5 digits and asked at 40, by windows on columns; three seeds.

    tenfold reproduce symmetry/long-products

Six layers that each see three columns and the whole multiplier: nothing in the model knows how long the other number is.
About 40 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import more_slices
from tenfold.runs.recipe_files import recipe

SERIES = {"symmetry/windowed-multiplication-3": "three columns and the multiplier"}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from more_slices(lab, run, run.recipe.eval.lengths, ["multipliers"])


def draw(drawing):
    (name,) = SERIES
    for digits in ("1", "2", "3"):
        from_rows.by_length(
            drawing.rows,
            {name: f"multipliers of {digits}"},
            drawing.folder / f"multiplier-{digits}",
            "A multiplier times a number, trained on up to 5 digits",
            slice=f"multiplier-{digits}",
        )
