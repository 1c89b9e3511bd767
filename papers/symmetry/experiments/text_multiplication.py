"""Three digits times a number among random words, trained on up to 5 digits (Figure 7(b)), three seeds.

    tenfold reproduce symmetry/text-multiplication

Trained by the curriculum of `multiplication-3`, among words from the first step on. Seed 0 is trained without it, too. `text` has
sums and one-digit multipliers, and tells where the heads look. At laptop scale about an hour of one core for each of
three runs with stages, and two hours for the one without; finished runs are not done again.
`--only text-multiplication-staged --seeds 0 --add` runs one.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import more_slices
from tenfold.runs.recipe_files import recipe

PLAIN, STAGED = "symmetry/text-multiplication", "symmetry/text-multiplication-staged"


def grid(scale):
    staged = [recipe(STAGED, scale, seed=seed) for seed in range(3)]
    return [*staged, recipe(PLAIN, scale, seed=0)]


def measure_run(lab, run):
    yield from more_slices(lab, run, run.recipe.eval.lengths, ["multipliers"])


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        {STAGED: "uniform", PLAIN: "uniform, no stages"},
        drawing.folder / "figure-7b",
        "Three digits times a number, among up to 60 random words",
        slice="multiplier-3",
    )
