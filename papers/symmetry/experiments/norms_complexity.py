"""Figure 8 in a frame of 20: cascades in sums of 18 digits, three training mixes, three seeds.

    tenfold reproduce symmetry/norms-complexity

The paper asks at 40 digits in a frame of 50, as the experiment long-complexity does. Norms after each block, one learning rate and
dropout, as in the paper; with these the adder reaches 18 digits here. Every cascade from 1 to 10 columns, and one through all.
With eight heads and with two, of which one seed of three does not reach 18 digits. About 5 to 10 minutes a run on one idle core at
laptop scale; finished runs (of norms) are not done again. The headline alone:

    tenfold reproduce symmetry/norms-complexity --only addition-relative-post-eight,addition-mixed-post-eight --add
"""

from tenfold.ledger.measurements import every_run
from tenfold.papers.symmetry.training_mixes import asked, draw_mixes, each_mix

LENGTH = 18
SERIES = {
    "symmetry/addition-relative-post-eight": "uniform",
    "symmetry/addition-complex-post-eight": "uniform over cascades",
    "symmetry/addition-mixed-post-eight": "half and half",
}
TWO_HEADS = {name.removesuffix("-eight"): words for name, words in SERIES.items()}


def grid(scale):
    return [*each_mix(SERIES, scale), *each_mix(TWO_HEADS, scale)]


def measure_run(lab, run):
    yield from every_run(lab, run, asked(lab.scale, LENGTH))


def draw(drawing):
    draw_mixes(drawing, SERIES, LENGTH)
