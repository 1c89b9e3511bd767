"""Figure 8 at its own length: cascades in 40-digit sums, in a frame of 50, three seeds.

    tenfold reproduce symmetry/long-complexity

With norms after each block and eight heads, as the headline of `symmetry/long-addition`, whose finished runs are not done again. About
an hour a run on one idle core at laptop scale.
"""

from tenfold.ledger.measurements import every_run
from tenfold.papers.symmetry.training_mixes import asked, draw_mixes, each_mix

LENGTH = 40
SERIES = {
    "symmetry/long-addition-relative-post": "uniform",
    "symmetry/long-addition-complex-post": "uniform over cascades",
    "symmetry/long-addition-mixed-post": "half and half",
}


def grid(scale):
    return each_mix(SERIES, scale)


def measure_run(lab, run):
    yield from every_run(lab, run, asked(lab.scale, LENGTH))


def draw(drawing):
    draw_mixes(drawing, SERIES, LENGTH)
