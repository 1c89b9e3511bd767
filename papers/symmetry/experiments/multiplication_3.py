"""Up to three digits times a number in place, by relative and by uniform positions, three seeds (Figure 5(a) and (b)).

    tenfold reproduce symmetry/multiplication-3

The slice `multiplier-3` is products whose multiplier has all three digits; `uniform` has one, two and three alike.
About 40 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import gains, more_slices
from tenfold.runs.recipe_files import recipe

RELATIVE, UNIFORM = "symmetry/multiplication-3-relative", "symmetry/multiplication-3-uniform"
SERIES = {RELATIVE: "relative", UNIFORM: "uniform"}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from more_slices(lab, run, run.recipe.eval.lengths, ["multipliers"])


def measure(lab):
    yield from gains(lab, "symmetry/multiplication-3", UNIFORM, RELATIVE)


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        SERIES,
        drawing.folder / "figure-5",
        "Three digits times a number",
        slice="multiplier-3",
    )
