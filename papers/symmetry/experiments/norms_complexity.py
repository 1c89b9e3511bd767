"""Figure 8 in a frame of 20: cascades in sums of 18 digits, three training mixes, three seeds.

    tenfold reproduce symmetry/norms-complexity

The paper asks at 40 digits in a frame of 50, as the experiment long-complexity does. Norms after each block, one learning rate and
dropout, as in the paper; with these the adder reaches 18 digits here. Every cascade from 1 to 10 columns, and one through all.
About 5 minutes a run on one idle core at laptop scale; finished runs (of norms) are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import every_run
from tenfold.runs.recipe_files import recipe

LENGTH = {"smoke": 4}
SERIES = {
    "symmetry/addition-relative-post": "uniform",
    "symmetry/addition-complex-post": "uniform over cascades",
    "symmetry/addition-mixed-post": "half and half",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from every_run(lab, run, LENGTH.get(lab.scale, 18))


def draw(drawing):
    length = LENGTH.get(drawing.scale, 18)
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
