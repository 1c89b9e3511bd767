"""As far as five digits go: 200 digits, and carries through 20 columns, by a loop that reads its own answer.

    tenfold reproduce symmetry/beyond

Three in-place adders that see a column and the one before it: one layer that loops over its own last answer, one that
loops over its hidden vectors, and six layers without a loop (one seed each). Sums of 200 digits by how far their carries run.
About 40 minutes on two idle cores at laptop scale, and some more to measure sums of 200 digits by their cascades; finished runs
are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import every_run
from tenfold.runs.recipe_files import recipe

SERIES = {
    "symmetry/looped-addition": "loops over its answer",
    "symmetry/looped-addition-state": "loops over hidden vectors",
    "symmetry/windowed-addition": "six layers, no loop",
}
LENGTH = {"smoke": 4}
CASCADES = (1, 5, 10, 20, 50, 100)  # columns
SEEDS = {"symmetry/looped-addition": 5}


def grid(scale):
    return [recipe(name, scale, seed=seed) for name in SERIES for seed in range(SEEDS.get(name, 1))]


def measure_run(lab, run):
    yield from every_run(lab, run, LENGTH.get(lab.scale, 200), cascades=CASCADES, carries=())


def draw(drawing):
    length = LENGTH.get(drawing.scale, 200)
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "by-length", "Trained on up to 5 digits, in place"
    )
    from_rows.by_run(
        drawing.rows,
        SERIES,
        drawing.folder / "by-cascade",
        f"Cascades in sums of {length} digits",
        length=length,
        kind="cascade",
    )
