"""Cascades, consecutive carries, and training on more cascades, three seeds (Figure 8).

    tenfold reproduce symmetry/complexity

Asked at 10 digits, where the laptop's adders are right on most uniform sums; the paper asks at 40 digits, as the
experiment long-complexity does. Every cascade from 1 to 10 columns, and 1 to 9 carries in a row that do not run on.
About 20 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import every_run
from tenfold.runs.recipe_files import recipe

LENGTH = {"smoke": 4}
SERIES = {
    "symmetry/addition-relative": "uniform",
    "symmetry/addition-complex": "uniform over cascades",
    "symmetry/addition-mixed": "half and half",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from every_run(lab, run, LENGTH.get(lab.scale, 10))


def draw(drawing):
    length = LENGTH.get(drawing.scale, 10)
    first = dict([next(iter(SERIES.items()))])
    cell = {"length": length, "kind": "cascade"}
    from_rows.by_run(
        drawing.rows,
        first,
        drawing.folder / "figure-8a",
        f"Cascades in sums of {length} digits",
        **cell,
    )
    from_rows.by_run(
        drawing.rows,
        SERIES,
        drawing.folder / "figure-8c",
        f"Trained on more cascades, sums of {length} digits",
        **cell,
    )
    cell["kind"] = "carries"
    from_rows.by_run(
        drawing.rows,
        first,
        drawing.folder / "figure-8b",
        f"Carries in a row, sums of {length} digits",
        **cell,
    )
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "uniform", "Uniform sums, by what was trained on"
    )
