"""Figure 8 at its own length: cascades in 40-digit sums, in a frame of 50, three seeds.

    tenfold reproduce symmetry/long-complexity

About an hour and a half on two idle cores at laptop scale; finished runs (of long-addition) are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import every_run
from tenfold.runs.recipe_files import recipe

LENGTH = {"smoke": 4}
SERIES = {
    "symmetry/long-addition-relative": "uniform",
    "symmetry/long-addition-complex": "uniform over cascades",
    "symmetry/long-addition-mixed": "half and half",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from every_run(lab, run, LENGTH.get(lab.scale, 40))


def draw(drawing):
    length = LENGTH.get(drawing.scale, 40)
    cell = {"length": length, "kind": "cascade"}
    from_rows.by_run(
        drawing.rows,
        SERIES,
        drawing.folder / "figure-8c",
        f"Cascades in sums of {length} digits",
        **cell,
    )
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "uniform", "Uniform sums, by what was trained on"
    )
