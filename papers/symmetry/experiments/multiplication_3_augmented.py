"""Up to three digits times a number with shifted copies of the data, three seeds (Figure 5(c) and (d)).

    tenfold reproduce symmetry/multiplication-3-augmented

To be read beside `multiplication-3`, without copies. Trained by the same curriculum, with copies in its last stage. Seed 0 is
trained without stages, too. At laptop scale about 20 minutes of one core for each of six runs with stages, 15 for each of two
without; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import more_slices
from tenfold.runs.recipe_files import recipe

KINDS = ("absolute", "relative")
PLAIN = {
    f"symmetry/multiplication-3-{kind}-augmented": f"{kind}, shifted copies, no stages"
    for kind in KINDS
}
STAGED = {
    f"symmetry/multiplication-3-{kind}-augmented-staged": f"{kind}, shifted copies"
    for kind in KINDS
}


def grid(scale):
    staged = [recipe(name, scale, seed=seed) for seed in range(3) for name in STAGED]
    return [*staged, *(recipe(name, scale, seed=0) for name in PLAIN)]


def measure_run(lab, run):
    yield from more_slices(lab, run, run.recipe.eval.lengths, ["multipliers"])


def draw(drawing):
    title = "Three digits times a number, shifted copies"
    from_rows.by_length(
        drawing.rows, {**STAGED, **PLAIN}, drawing.folder / "figure-5", title, slice="multiplier-3"
    )
