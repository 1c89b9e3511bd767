"""Up to two digits times a number in place, three seeds: between Figures 4 and 5.

    tenfold reproduce symmetry/multiplication-2

About 30 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import gains, more_slices
from tenfold.runs.recipe_files import recipe

SERIES = {f"symmetry/multiplication-2-{kind}": kind for kind in ("absolute", "relative", "uniform")}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from more_slices(lab, run, run.recipe.eval.lengths, ["multipliers"])


def measure(lab):
    _, relative, uniform = SERIES
    yield from gains(lab, "symmetry/multiplication-2", uniform, relative)


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        SERIES,
        drawing.folder / "two-digits",
        "Two digits times a number",
        slice="multiplier-2",
    )
