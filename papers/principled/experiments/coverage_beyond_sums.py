"""What training leaves out, beyond sums: products, and sums and products modulo 50, without some digits; three seeds (beyond the paper).

    tenfold reproduce principled/coverage-beyond-sums

As `principled/coverage` does for sums: no 9, or the digits 6 to 9 alone. Asked are uniform problems; `covered` is the share of
these that training could have drawn, but for zeros in front and the length, counted exactly. The slice `seen` is of what was
covered. Beside them stand the runs without holes, of `principled/multiplication`, `modular-addition` and `modular-multiplication`.
Six runs of up to 15 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

import functools

from tenfold.data.tasks.domains import Domain, domain
from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import examiner_of, of_both
from tenfold.papers.principled.experiments.coverage import graded
from tenfold.runs.recipe_files import recipe

DIGITS = {"no-nine": "012345678", "holes": "6789"}
WHOLE = {  # the same training without holes, by task
    "principled/multiplication": "principled/multiplication-absolute",
    "principled/modular-50": "principled/modular-50-absolute",
    "principled/modular-product-50": "principled/modular-product-50",
}
HOLES = {f"{task}-{which}": digits for task in WHOLE for which, digits in DIGITS.items()}
FIGURES = {
    "products": ("principled/multiplication", "Products, by what training leaves out"),
    "modular-sums": ("principled/modular-50", "Sums modulo 50, by what training leaves out"),
    "modular-products": ("principled/modular-product-50", "Products modulo 50, by what training leaves out"),
}  # fmt: skip


def grid(scale):
    names = [*WHOLE.values(), *HOLES]
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def measure_run(lab, run):
    name, n = run.recipe.name, run.recipe.data.length
    if name in HOLES:
        examiner = examiner_of(run)
        draw_seen = functools.partial(domain, digits=HOLES[name])
        problems = examiner.problems(n, "seen", draw_seen, run.recipe.eval.n)
        yield from of_both(lab, run, functools.partial(graded, examiner, problems, n))
    for length in run.recipe.eval.lengths:
        value = covered(name, length) if length <= n else 0.0
        yield {**lab.about(run), "length": length, "slice": "uniform", "metric": "exact-covered", "value": value}  # fmt: skip


def covered(name, length):
    """The share of problems whose longer number has this length that have no digit which training left out."""
    return Domain([length], digits=HOLES.get(name)).size() / Domain([length]).size()


def draw(drawing):
    for figure, (task, title) in FIGURES.items():
        series = {
            WHOLE[task]: "no holes",
            f"{task}-no-nine": "no 9",
            f"{task}-holes": "digits 6 to 9",
        }
        from_rows.by_length(drawing.rows, series, drawing.folder / figure, title)
