"""Up to three digits times a number with shifted copies of the data, three seeds (Figure 5(c) and (d)).

    tenfold reproduce symmetry/multiplication-3-augmented

To be read beside `multiplication-3`, without copies. About 40 minutes on two idle cores at laptop scale; finished runs are not
done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import more_slices
from tenfold.runs.recipe_files import recipe

SERIES = {
    f"symmetry/multiplication-3-{kind}-augmented": f"{kind}, shifted copies"
    for kind in ("absolute", "relative")
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from more_slices(lab, run, run.recipe.eval.lengths, ["multipliers"])


def draw(drawing):
    title = "Three digits times a number, shifted copies"
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "figure-5", title, slice="multiplier-3"
    )
