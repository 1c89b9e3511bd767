"""One digit times a number, by how the multiplicands of training are drawn; with and without shifted copies, three seeds.

    tenfold reproduce symmetry/samplers

Which of relative and uniform positions is ahead on longer numbers changes with the sampler, so it is measured with three:
`lengths` (a fifth of the numbers has 5 digits), `numbers` (nine in ten, as in the paper), `exact` (all of them).
`exact-gain` is the accuracy of uniform less that of relative positions, seed by seed. 54 runs of about 3 minutes: about
80 minutes on two idle cores at laptop scale; finished runs are not done again. What the flip itself needs:

    tenfold reproduce symmetry/samplers --add \\
        --only multiplication-1-relative-lengths,multiplication-1-uniform-lengths,multiplication-1-relative-numbers,multiplication-1-uniform-numbers
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import gains
from tenfold.runs.recipe_files import recipe

KINDS = ("absolute", "relative", "uniform")
SAMPLERS = {
    "lengths": "all lengths from 1 to 5 alike",
    "numbers": "uniform numbers of up to 5 digits",
    "exact": "numbers of exactly 5 digits",
}
COPIES = {"": "", "-augmented": ", shifted copies"}
of_each_run = True  # gains need both recipes of a seed and are left out without
CELLS = [f"{sampler}{copies}" for sampler in SAMPLERS for copies in COPIES]


def name(kind, cell):
    return f"symmetry/multiplication-1-{kind}-{cell}"


def grid(scale):
    names = [name(kind, cell) for cell in CELLS for kind in KINDS]
    return [recipe(each, scale, seed=seed) for seed in range(3) for each in names]


def measure(lab):
    for cell in CELLS:
        uniform, relative = (name(kind, cell) for kind in ("uniform", "relative"))
        yield from gains(lab, f"symmetry/samplers-{cell}", uniform, relative)


def draw(drawing):
    for copies, words in COPIES.items():
        series = {
            title: {name(kind, f"{sampler}{copies}"): kind for kind in KINDS}
            for sampler, title in SAMPLERS.items()
        }
        from_rows.side_by_side(
            drawing.rows,
            series,
            drawing.folder / f"samplers{copies}",
            f"One digit times a number, by what was trained on{words}",
        )
