"""Relative keys upward, from 1 to 6 digits to three times as many: what has to be invariant? Three seeds.

    tenfold reproduce principled/relative-upward

`principled/encodings` pads sums of exactly 3 digits to one width, where relative keys do not go upward. Here sums of 1 to 6
digits are trained on without a window, numbers from their units on, in three ways: each problem in its own width with differences
of columns, those above 1 alike; in its own width with differences of positions, which change with the width; and in one width of
13 with differences of positions, up to 12 digits (20 and 18 at paper scale).
Three runs of 1 to 5 minutes a seed on one idle core with bfloat16 instructions at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

SERIES = {
    "principled/addition-relative-own": "by column, own width",
    "principled/addition-relative-one-width": "by position, one width",
    "principled/addition-relative-own-index": "by position, own width",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def draw(drawing):
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "by-length", "Sums from 1 to 6 digits, relative keys"
    )
