"""Sums modulo a number, from n digits: where the modulus divides 10^n longer ones are right, elsewhere by luck; three seeds.

    tenfold reproduce principled/modular-addition

Modulo 30, 50, 70, 100 and 101 with a learned vector per position, modulo 50 and 100 also with relative keys, modulo 50 with
RoPE, Abacus and coupled places, and by columns in windows. Beside every accuracy stands what the sum of the last n digits would
have (`exact-predicted`, counted exactly), and accuracy against it.
Eleven runs of up to 15 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.truncation.run_truncation import predicted, truncated
from tenfold.papers.principled import predicted_tables as beside
from tenfold.runs.recipe_files import recipe

SERIES = {
    **{f"principled/modular-{p}-absolute": f"modulo {p}" for p in (30, 50, 70, 100, 101)},
    **{f"principled/modular-{p}-relative": f"modulo {p}, relative" for p in (50, 100)},
}
OTHERS = {
    "principled/modular-50-absolute": "absolute",
    "principled/modular-50-relative": "relative",
    "principled/modular-50-rope": "RoPE",
    "principled/modular-50-abacus": "Abacus, RoPE",
    "principled/modular-50-coupled": "coupled, RoPE",
    "principled/modular-50-aligned": "columns in windows",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES | OTHERS]


def measure_run(lab, run):
    yield from truncated(lab, run)
    yield from predicted(lab, run)


def draw(drawing):
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "truth", "Sums modulo a number, against the truth"
    )
    last = from_rows.measured_as(drawing.rows, "exact-truncated")
    from_rows.by_length(last, SERIES, drawing.folder / "last-digits", "The same, against their last n digits")  # fmt: skip
    from_rows.by_length(
        drawing.rows, OTHERS, drawing.folder / "encodings", "Sums modulo 50, by encoding"
    )
    beside.table(drawing.rows, SERIES, {}, drawing.folder / "table", "Sums modulo a number")
