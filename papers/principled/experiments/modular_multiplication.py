"""Products modulo a number, from 2 digits: right at every length modulo 50 and 100, elsewhere by luck; three seeds.

    tenfold reproduce principled/modular-multiplication

Modulo 50, 51, 100, 101, 150, 200 and 201 with a learned vector per position. The one table of predicted, measured and published
numbers is that of `principled/moduli`, which takes these runs.
Seven runs of up to 15 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.truncation.run_truncation import predicted, truncated
from tenfold.runs.recipe_files import recipe

SERIES = {
    f"principled/modular-product-{p}": f"modulo {p}" for p in (50, 51, 100, 101, 150, 200, 201)
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from truncated(lab, run)
    yield from predicted(lab, run)


def draw(drawing):
    last = from_rows.measured_as(drawing.rows, "exact-truncated")
    from_rows.by_length(drawing.rows, SERIES, drawing.folder / "truth", "Products modulo a number, against the truth")  # fmt: skip
    from_rows.by_length(last, SERIES, drawing.folder / "last-digits", "The same, against their last n digits")  # fmt: skip
