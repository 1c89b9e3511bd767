"""Two operations in one model: do sums and products beside each other end where each alone does? Three seeds (beyond the paper).

    tenfold reproduce principled/two-operations

Sums and products of 1 and 2 digits, half and half, GPT nano (micro at paper scale) with a learned vector per position;
the slices `sum` and `product`.
One run of up to 15 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

NAME = "principled/two-operations"
SERIES = {f"{NAME} sum": "sums, beside products", f"{NAME} product": "products, beside sums"}


def grid(scale):
    return [recipe(NAME, scale, seed=seed) for seed in range(3)]


def draw(drawing):
    """A curve for each part: its slice is part of its name."""
    parts = [{**row, "recipe": f"{row['recipe']} {row['slice']}", "slice": "uniform"} for row in drawing.rows]  # fmt: skip
    from_rows.by_length(
        parts, SERIES, drawing.folder / "by-length", "Sums and products in one model"
    )
