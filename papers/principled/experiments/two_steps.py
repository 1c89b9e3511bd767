"""Two steps in one problem, (a+b)*c: is what truncation predicts for one operation true for two? Three seeds (beyond the paper).

    tenfold reproduce principled/two-steps

Trained on 1 and 2 digits in equal parts (the longest of the three numbers counts), GPT nano (micro at paper scale) with a learned
vector per position. Every answer is graded against the truth and against (a mod 10^n + b mod 10^n) * (c mod 10^n): each number is
cut, their sum is not. `exact-predicted` is the share of problems for which the two are the same, in closed form.
One run of about 15 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from fractions import Fraction

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.truncation.run_truncation import truncated
from tenfold.runs.recipe_files import recipe

NAME = "principled/two-steps"
SERIES = {NAME: "(a+b)*c"}


def grid(scale):
    return [recipe(NAME, scale, seed=seed) for seed in range(3)]


def measure_run(lab, run):
    yield from truncated(lab, run)
    for length in run.recipe.eval.lengths:
        value = float(unchanged(length, run.recipe.data.length))
        yield {**lab.about(run), "length": length, "slice": "uniform", "metric": "exact-predicted", "value": value}  # fmt: skip


def unchanged(length, digits):
    """The share of (a+b)*c, the longest number of this length, that dropping all digits above the last few leaves unchanged.

    With a nonzero digit dropped, the product stays the same only where it is 0: c is 0, or a and b both are. The two exclude
    each other, since the longest number is not 0.

    >>> unchanged(2, 2), unchanged(2, 1)
    (Fraction(1, 1), Fraction(1, 100))
    """
    if length <= digits:
        return Fraction(1)
    ones, pairs, triples = (10 ** (k * length) - 10 ** (k * (length - 1)) for k in (1, 2, 3))
    return Fraction(pairs + ones, triples)


def draw(drawing):
    last = from_rows.measured_as(drawing.rows, "exact-truncated")
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "truth", "(a+b)*c, against the truth"
    )
    from_rows.by_length(last, SERIES, drawing.folder / "last-digits", "(a+b)*c, against the last n digits of each number")  # fmt: skip
