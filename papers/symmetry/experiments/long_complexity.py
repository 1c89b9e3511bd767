"""Figure 8 at its own length: cascades in 40-digit sums, in a frame of 50, three seeds.

    tenfold reproduce symmetry/long-complexity

About an hour and a half on two idle cores at laptop scale; finished runs (of long-addition) are not done again.
"""

from tenfold.ledger.measurements import every_run
from tenfold.papers.symmetry.training_mixes import asked, draw_mixes, each_mix

LENGTH = 40
SERIES = {
    "symmetry/long-addition-relative": "uniform",
    "symmetry/long-addition-complex": "uniform over cascades",
    "symmetry/long-addition-mixed": "half and half",
}


def grid(scale):
    return each_mix(SERIES, scale)


def measure_run(lab, run):
    yield from every_run(lab, run, asked(lab.scale, LENGTH))


def draw(drawing):
    draw_mixes(drawing, SERIES, LENGTH)
