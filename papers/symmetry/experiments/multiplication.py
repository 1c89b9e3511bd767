"""One digit times a number in place: absolute, relative and uniform positions, three seeds (Figure 4).

    tenfold reproduce symmetry/multiplication

About 50 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import gains
from tenfold.runs.recipe_files import recipe

SERIES = {f"symmetry/multiplication-1-{kind}": kind for kind in ("absolute", "relative", "uniform")}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure(lab):
    _, relative, uniform = SERIES
    yield from gains(lab, "symmetry/multiplication-1", uniform, relative)


def draw(drawing):
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "figure-4", "One digit times a number"
    )
