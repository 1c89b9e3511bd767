"""One table of the modular tasks: predicted beside measured beside published, by modulus and length; three seeds.

    tenfold reproduce principled/moduli

The runs of GPT nano are those of `principled/modular-addition` and `principled/modular-multiplication`, which hold the claims; where
these were made they are not trained again. GPT mini is trained for this table: sums modulo 30, 50 and 101, products modulo 50 and 101,
five runs of about 17 minutes a seed on one idle core with bfloat16 instructions. Predictions are exact counts for what a run is asked: the longer number has the length.
At laptop scale n is 2; published numbers, of n = 3, stand at lengths that are as far from n.
"""

from tenfold.features.truncation.run_truncation import predicted, truncated
from tenfold.papers.principled import predicted_tables as beside
from tenfold.runs.recipe_files import recipe

SUMS = {
    **{f"principled/modular-{p}-absolute": f"sums modulo {p}" for p in (50, 100, 30, 70, 101)},
    **{f"principled/modular-{p}-relative": f"sums modulo {p}, relative" for p in (50, 100)},
}
PRODUCTS = {
    f"principled/modular-product-{p}": f"products modulo {p}"
    for p in (50, 100, 51, 101, 150, 200, 201)
}
MINI = {
    **{f"principled/modular-{p}-mini": f"sums modulo {p}, mini" for p in (50, 30, 101)},
    **{f"principled/modular-product-{p}-mini": f"products modulo {p}, mini" for p in (50, 101)},
}
SERIES = SUMS | PRODUCTS | MINI
RIGHT = dict.fromkeys(range(1, 10), 1.0)
FEWER = {"smoke": 1, "laptop": 1, "paper": 0}  # digits in training than the paper's 3
PUBLISHED = {  # products by length, n = 3, where they were learned; for sums the paper has a theorem and no table
    "principled/modular-product-50": RIGHT,
    "principled/modular-product-100": RIGHT,
    "principled/modular-product-51": dict(
        enumerate((1.0, 1.0, 0.997, 0.026, 0.025, 0.028, 0.024, 0.025, 0.032), 1)
    ),
    "principled/modular-product-101": dict(
        enumerate((1.0, 1.0, 1.0, 0.011, 0.010, 0.012, 0.009, 0.011, 0.010), 1)
    ),
}


PUBLISHED |= {f"{name}-mini": PUBLISHED[name] for name in PUBLISHED if f"{name}-mini" in MINI}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from predicted(lab, run)
    if run.recipe.name in MINI:  # of the others, the experiments that train them have these rows
        yield from truncated(lab, run)


def draw(drawing):
    title = "Modular tasks, right in %: measured / predicted / published as far from training"
    theirs = {name: {at - FEWER[drawing.scale]: share for at, share in shares.items()} for name, shares in PUBLISHED.items()}  # fmt: skip
    beside.table(drawing.rows, SERIES, theirs, drawing.folder / "table", title)
