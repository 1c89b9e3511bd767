"""Up to three digits times a number in place, with and without shifted copies, three seeds (Figure 5).

    tenfold reproduce symmetry/multiplication-3

About 5 hours on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.lab.measuring import gains
from tenfold.lab.recipes import recipe
from tenfold.report import from_rows

RELATIVE, UNIFORM = "symmetry/multiplication-3-relative", "symmetry/multiplication-3-uniform"
SERIES = {
    RELATIVE: "relative",
    UNIFORM: "uniform",
    "symmetry/multiplication-3-absolute-augmented": "absolute, shifted copies",
    "symmetry/multiplication-3-relative-augmented": "relative, shifted copies",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure(lab):
    yield from gains(lab, "symmetry/multiplication-3", UNIFORM, RELATIVE)


def draw(_scale, rows, folder):
    from_rows.by_length(rows, SERIES, folder / "figure-5", "Up to three digits times a number")
