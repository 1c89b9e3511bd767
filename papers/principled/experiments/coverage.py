"""What training leaves out, and how much is right: four kinds of holes, three seeds (beyond the paper).

    tenfold reproduce principled/coverage

Sums of the digits 6 to 9, of even digits, of all digits but 9, and sums without a carry; asked are uniform sums. `covered` is the
share of these that training could have drawn, but for zeros in front, counted exactly. A model that is right on what was
covered and on nothing else has that accuracy. The slice `seen` is of what was covered.
Three runs of up to 15 minutes a seed on one idle core at laptop scale, besides those of `principled/addition`; finished runs are
not done again.
"""

import functools

from tenfold.data.tasks.domains import Domain, domain
from tenfold.data.tasks.samplers import no_carry
from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import examiner_of, of_both
from tenfold.runs.recipe_files import recipe

DIGITS = {
    "principled/addition-absolute": "0123456789",
    "principled/addition-holes": "6789",
    "principled/addition-even": "02468",
    "principled/addition-no-nine": "012345678",
}
CARRIES = "principled/addition-no-carry"
SERIES = {
    "principled/addition-absolute": "no holes",
    "principled/addition-no-nine": "no 9",
    CARRIES: "no carry",
    "principled/addition-even": "even digits",
    "principled/addition-holes": "digits 6 to 9",
}
PAIRS = 55  # of 100 pairs of digits do not carry
LEADING = 36  # of those without a 0: both numbers have n digits


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    examiner, n = examiner_of(run), run.recipe.data.length
    problems = examiner.problems(n, "seen", sampler(run.recipe.name), run.recipe.eval.n)
    grade = functools.partial(graded, examiner, problems, n)
    yield from of_both(lab, run, grade)
    for length in run.recipe.eval.lengths:
        value = covered(run.recipe.name, length) if length <= n else 0.0
        yield {**lab.about(run), "length": length, "slice": "uniform", "metric": "exact-covered", "value": value}  # fmt: skip


def graded(examiner, problems, length, model):
    return examiner.grade(model, problems, length, "seen")


def sampler(name):
    return functools.partial(domain, digits=DIGITS[name]) if name in DIGITS else no_carry


def covered(name, length):
    """The share of sums whose longer number has this length that have no hole in them."""
    if name in DIGITS:
        return Domain([length], digits=DIGITS[name]).size() / Domain([length]).size()
    leading = LEADING if length > 1 else PAIRS
    return leading * PAIRS ** (length - 1) / Domain([length]).size()


def draw(drawing):
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "truth", "Sums, by what training leaves out"
    )
    share = from_rows.measured_as(
        [{**row, "checkpoint": "best"} for row in drawing.rows], "exact-covered"
    )
    from_rows.by_length(
        share,
        SERIES,
        drawing.folder / "covered",
        "The share of sums that training covers",
        of="sums covered, %",
    )
