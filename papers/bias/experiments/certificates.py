"""Scaffolded models of one layer, proved right at every length, or not: four tasks, the paper's three kinds of positions.

    tenfold reproduce bias/certificates

Trained on up to 6 digits until proved, or to their last step (three seeds); the metric `proved` says what came of each, `in-float32`
whether rounding is bounded, too, `contexts` how many the proof runs over, `margin` the least lead of a right digit. With sinusoids there is nothing to train: the metric `refused`. Two models of two layers besides.
About half an hour on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.features.proofs.prover import unprovable
from tenfold.papers.bias.proof_rows import proof
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe

TASKS = ("successor", "parity", "addition", "times")
PROVED = [f"bias/certified-{task}-cyclic" for task in TASKS]
UNTOLD = [f"bias/certified-{task}-none" for task in TASKS]
DEEPER = ["bias/certified-successor-cyclic-2", "bias/certified-parity-none-2"]
REFUSED = [f"bias/certified-{task}-window" for task in TASKS]


def grid(scale):
    names = PROVED + UNTOLD + DEEPER
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def measure_run(lab, run):
    yield from proof(lab, run)


def measure(lab):
    for name in REFUSED:
        yield {"recipe": name, "metric": "refused", "value": refused(recipe(name, lab.scale))}


def refused(chosen):
    built = build(chosen)
    return int(unprovable(built.model(), built.batcher) is not None)
