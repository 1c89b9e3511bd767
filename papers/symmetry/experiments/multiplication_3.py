"""Up to three digits times a number in place, by relative and by uniform positions, three seeds (Figure 5(a) and (b)).

    tenfold reproduce symmetry/multiplication-3

Multipliers of exactly three digits by a curriculum (`data.stages`): those with zeros first. Seed 0 is trained without it, too, on
multipliers of one to three digits. The slice `multiplier-3` is products whose multiplier has all three digits.
At laptop scale 40 to 60 minutes of one core for a run with uniform positions and stages, about as many with relative ones, 15
without stages (eight runs, some five hours); finished runs are not done again. `--only multiplication-3-uniform-staged --seeds 0 --add` runs the headline alone.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import gains, more_slices
from tenfold.runs.recipe_files import recipe

KINDS = ("relative", "uniform")
PLAIN = {f"symmetry/multiplication-3-{kind}": f"{kind}, no stages" for kind in KINDS}
STAGED = {f"symmetry/multiplication-3-{kind}-staged": kind for kind in KINDS}
of_each_run = True  # gains need both recipes of a seed and are left out without


def grid(scale):
    staged = [recipe(name, scale, seed=seed) for seed in range(3) for name in STAGED]
    return [*staged, *(recipe(name, scale, seed=0) for name in PLAIN)]


def measure_run(lab, run):
    yield from more_slices(lab, run, run.recipe.eval.lengths, ["multipliers"])


def measure(lab):
    for series, name in ((PLAIN, "multiplication-3"), (STAGED, "multiplication-3-staged")):
        relative, uniform = series
        yield from gains(lab, f"symmetry/{name}", uniform, relative)


def draw(drawing):
    from_rows.by_length(
        drawing.rows,
        {**STAGED, **PLAIN},
        drawing.folder / "figure-5",
        "Three digits times a number",
        slice="multiplier-3",
    )
