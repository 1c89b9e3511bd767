"""Scaffolded models of one layer, proved right at every length, or not: four tasks, the paper's three kinds of positions.

    tenfold reproduce bias/certificates

Trained on up to 6 digits until proved, or to their last step (three seeds); the metric `proved` says what came of each, `contexts`
how many the proof runs over. With sinusoids there is nothing to train: the metric `refused`. Two models of two layers besides.
About half an hour on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.certify.certificate import unprovable, weights_hash
from tenfold.lab.build import build
from tenfold.lab.recipes import recipe
from tenfold.lab.run import CERTIFICATE, read_certificate

TASKS = ("successor", "parity", "addition", "times")
PROVED = [f"bias/certified-{task}-cyclic" for task in TASKS]
UNTOLD = [f"bias/certified-{task}-none" for task in TASKS]
DEEPER = ["bias/certified-successor-cyclic-2", "bias/certified-parity-none-2"]
REFUSED = [f"bias/certified-{task}-window" for task in TASKS]


def grid(scale):
    names = PROVED + UNTOLD + DEEPER
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def measure(lab):
    for run in lab.runs:
        found = certificate(run)
        for metric in ("proved", "contexts", "wrong"):
            yield {**lab.about(run), "metric": metric, "value": found[metric]}
    for name in REFUSED:
        yield {"recipe": name, "metric": "refused", "value": refused(recipe(name, lab.scale))}


def certificate(run):
    """The one that ended the training; where none did, one of the last weights."""
    path = run.folder / CERTIFICATE
    if not path.exists() or read_certificate(path)["weights"] != weights_hash(run.model("final")):
        run.keep(run.certify(which="final"))
    return read_certificate(path)


def refused(chosen):
    built = build(chosen)
    return int(unprovable(built.model(), built.batcher) is not None)
