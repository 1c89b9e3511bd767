"""Up to two digits times a number in place, three seeds: between Figures 4 and 5.

    tenfold reproduce symmetry/multiplication-2

Multipliers of exactly two digits by a curriculum (`data.stages`): tens first (`70`). Seed 0 is trained without it, too, on
multipliers of one and two digits. At laptop scale about 6 minutes of one core for a run with uniform positions and stages, 10
with absolute and relative ones, 10 without stages (twelve runs, 2 hours); finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import gains, more_slices
from tenfold.runs.recipe_files import recipe

KINDS = ("absolute", "relative", "uniform")
PLAIN = {f"symmetry/multiplication-2-{kind}": f"{kind}, no stages" for kind in KINDS}
STAGED = {f"symmetry/multiplication-2-{kind}-staged": kind for kind in KINDS}
of_each_run = True  # gains need both recipes of a seed and are left out without


def grid(scale):
    staged = [recipe(name, scale, seed=seed) for seed in range(3) for name in STAGED]
    return [*staged, *(recipe(name, scale, seed=0) for name in PLAIN)]


def measure_run(lab, run):
    yield from more_slices(lab, run, run.recipe.eval.lengths, ["multipliers"])


def measure(lab):
    for series, name in ((PLAIN, "multiplication-2"), (STAGED, "multiplication-2-staged")):
        _, relative, uniform = series
        yield from gains(lab, f"symmetry/{name}", uniform, relative)


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        {**STAGED, **PLAIN},
        drawing.folder / "two-digits",
        "Two digits times a number",
        slice="multiplier-2",
    )
