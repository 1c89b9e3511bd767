"""Absolute positions trained on shifted copies of the data, three seeds (Figure 2(c), Table 1).

    tenfold reproduce symmetry/augmentation

Beside them the relative adder without such copies. "Shifted" are 10-digit sums made of 5-digit ones and zeros; the
accuracy of single digits is that of uniform 10-digit sums, digit 1 being the units, and digits 6 to 11 all right at once.
About 15 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from functools import partial

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.evals.digit_accuracy import digit_rows
from tenfold.ledger.measurements import examiner_of, of_both
from tenfold.runs.recipe_files import recipe

AUGMENTED, RELATIVE = "symmetry/addition-augmented", "symmetry/addition-relative"
DIGITS = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 11)]
TABLE = {  # Table 1: the share right, and how far it goes
    "shifted": (0.997, 0.001), "uniform": (0.81, 0.01), "digit-1": (0.90, 0.01), "digit-2": (0.96, 0.01),
    "digit-3": (0.988, 0.001), "digit-4": (0.98, 0.001), "digit-5": (0.988, 0.001), "digit-6-11": (0.96, 0.01),
}  # fmt: skip


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in (AUGMENTED, RELATIVE)]


def measure_run(lab, run):
    if run.recipe.name != AUGMENTED:
        return
    ask = partial(
        digit_rows,
        examiner_of(run),
        length=2 * run.recipe.data.length,
        digits=DIGITS,
        n=run.recipe.eval.n,
    )
    yield from of_both(lab, run, ask)


def draw(drawing):
    words = {AUGMENTED: "absolute, shifted copies", RELATIVE: "relative"}
    from_rows.by_length(
        drawing.rows, words, drawing.folder / "figure-2c", "Sums with shifted copies of the data"
    )
    own = [
        row for row in drawing.rows if row["recipe"] == AUGMENTED and row["checkpoint"] == "best"
    ]
    values = {}
    for row in own:
        if row["length"] == 2 * row["trained"]:
            name = row["slice"] if row["metric"] == "exact" else row["metric"]
            values.setdefault(name, []).append(row["value"])
    from_rows.beside_published(
        values, TABLE, drawing.folder / "table-1", "Sums of 10 digits, shifted copies in training"
    )
