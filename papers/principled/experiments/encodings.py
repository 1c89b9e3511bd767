"""Sums, and products, from n digits with other positions than absolute ones: which carry upward? Three seeds.

    tenfold reproduce principled/encodings

Sums by relative keys and RoPE, numbers written from their units on; by relative keys in the paper's own order; and, given the
power of ten of each digit, by Abacus and coupled places from a random start and by relative keys on columns in windows. Absolute
positions beside them. Products by relative keys. Curves are compared within what a method was given.
Seven runs of up to 10 minutes a seed on one idle core at laptop scale, besides those of `principled/addition`; finished runs are
not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.truncation.run_truncation import truncated
from tenfold.runs.recipe_files import recipe

GENERIC = {
    "principled/addition-relative": "relative",
    "principled/addition-relative-forward": "relative, the paper's order",
    "principled/addition-rope": "RoPE",
    "principled/addition-absolute": "absolute",
}
ALIGNED = {
    "principled/addition-aligned": "relative, by column, in windows",
    "principled/addition-abacus": "Abacus, RoPE",
    "principled/addition-coupled": "coupled, RoPE",
}
PRODUCTS = {"principled/multiplication-relative": "relative"}


def grid(scale):
    names = GENERIC | ALIGNED | PRODUCTS
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def measure_run(lab, run):
    yield from truncated(lab, run)


def draw(drawing):
    from_rows.by_length(
        drawing.rows, GENERIC, drawing.folder / "generic", "Sums, positions by index alone"
    )
    from_rows.by_length(
        drawing.rows, ALIGNED, drawing.folder / "aligned", "Sums, powers of ten given"
    )
    from_rows.by_length(
        drawing.rows, PRODUCTS, drawing.folder / "products", "Products, relative keys"
    )
