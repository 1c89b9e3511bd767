"""Linear attention on a ring: what absolute, augmented and relative positions learn from a window (Section 5).

    tenfold reproduce symmetry/linear-attention

The sizes are the paper's at every scale but smoke: n = 51, d = 200, a window of 10 (of 20 with five neighbours), 5000
samples a position. Expected gradients need no samples; rows whose metric begins with "simulated" are the same descent
on samples. alpha = 2 and beta_k = alpha/2 (1 - k/(m+1)), since the paper names none. About a minute on one core.
"""

import torch

from tenfold.features.linear_attention.linear_attention import (
    Absolute,
    Problem,
    State,
    direction,
    start,
)
from tenfold.features.linear_attention.ring import Ring, distances, shifted
from tenfold.features.linear_attention.ring_contest import contest
from tenfold.features.linear_attention.ring_descent import flow, logistic, sampled_loss
from tenfold.features.linear_attention.ring_figures import outcomes, write_figures

LENGTH, WIDTH, ALPHA = 51, 200, 2.0
SIZES = {"smoke": (1, 300, 200), "laptop": (3, 4000, 5000), "paper": (5, 4000, 5000)}


def measure(lab):
    seeds, steps, samples = SIZES[lab.scale]
    for seed in lab.seeds if lab.seeds is not None else range(seeds):
        for part in (_figure_9, _figure_15, _without_decay, _sizes):
            yield from (_row(seed, *values) for values in part(seed, steps, samples))
        yield from (_row(seed, *values) for values in _one_position(seed))


def draw(drawing):
    """Figures 9, and 15 with 16 (what is learned), of the first seed."""
    steps = SIZES[drawing.scale][1]
    for figure, neighbours, window in (("figure-9", 1, 10), ("figure-15", 5, 20)):
        task = Ring.tapering(LENGTH, ALPHA, neighbours)
        write_figures(
            outcomes(task, window, WIDTH, 0, steps, simulate=True), drawing.folder / figure
        )


def _row(seed, model, metric, value, slice="", length=LENGTH, n=0):
    return {"recipe": f"symmetry/linear-{model}", "metric": metric, "value": value, "slice": slice,
            "seed": seed, "length": length, "n": n}  # fmt: skip


def _figure_9(seed, steps, samples):
    cases = contest(Ring.tapering(LENGTH, ALPHA, neighbours=1), 10, WIDTH, seed, steps)
    learned = {name: case.learn() for name, case in cases.items()}
    yield from _losses(cases, learned, seed, samples, "")
    absolute = learned["absolute"]
    norms, middle = absolute.state.p.norm(dim=1), (10 + LENGTH) // 2
    yield "absolute", "norm-outside", norms[10:].max() / norms[:10].max()
    yield (
        "absolute",
        "loss-over-limit",
        absolute.by_position[middle] / cases["absolute"].problem.ring.power,
    )
    relative = learned["relative"]
    yield "relative", "coefficient-error", _off(relative).max() / ALPHA
    v = relative.state.v
    yield "relative", "misalignment", 1 - (v @ relative.problem.theta).abs() / v.norm()  # or -theta


def _figure_15(seed, steps, samples):
    """Five neighbours on either side; and the learned matrix of Figure 16."""
    cases = contest(Ring.tapering(LENGTH, ALPHA, neighbours=5), 20, WIDTH, seed, steps)
    learned = {name: case.learn() for name, case in cases.items()}
    where = "neighbours-5"
    yield from _losses(cases, learned, seed, samples, where)
    off, far = _off(learned["augmented"]), distances(LENGTH) >= 20
    yield "augmented", "near-diagonal-error", off[~far].square().mean().sqrt() / ALPHA, where
    yield "augmented", "far-from-diagonal", off[far].square().mean().sqrt() / ALPHA, where
    yield "relative", "coefficient-error", _off(learned["relative"]).max() / ALPHA, where


def _losses(cases, learned, seed, samples, where):
    for name, case in cases.items():
        yield name, "train-loss", learned[name].train_loss, where
        yield name, "test-loss", learned[name].test_loss, where
        generator = torch.Generator().manual_seed(seed)
        simulated = case.simulate(generator)
        yield name, "simulated-train-loss", simulated.train_loss, where
        loss = sampled_loss(simulated, samples, generator).mean()
        yield name, "simulated-loss", loss, where, LENGTH, samples


def _off(learned):
    return (learned.effective - learned.problem.target).abs()


def _without_decay(seed, steps, samples):
    """What is never trained then stays as it began, with relative positions too."""
    cases = contest(Ring.tapering(LENGTH, ALPHA, neighbours=1), 10, WIDTH, seed, steps)
    for name, case in cases.items():
        yield name, "test-loss", case.without_decay().learn().test_loss, "no-decay"


def _sizes(seed, steps, samples):
    """How the loss with shifted windows goes with n and d."""
    for length, width in ((LENGTH, WIDTH), (2 * LENGTH - 1, WIDTH), (LENGTH, 2 * WIDTH)):
        case = contest(Ring.tapering(length, ALPHA, 1), 10, width, seed, steps)["augmented"]
        yield "augmented", "test-loss", case.learn().test_loss, f"width-{width}", length


def _one_position(seed):
    """Windows of one position and beta = 0: gradient flow of the loss summed over windows, as in Appendix D.2."""
    generator = torch.Generator().manual_seed(seed)
    ring = Ring(LENGTH, ALPHA)
    problem = Problem(ring, shifted(LENGTH, 1), direction(WIDTH, generator))
    first = start(problem, Absolute(), generator)

    def gradient(state):
        by = problem.gradient(Absolute(), state)
        return State(LENGTH * by.p, by.v)

    squared, furthest = first.p.square().sum(1), 0.0
    for time, state in flow(gradient, first, until=1.0, steps=400):
        away = state.p.square().sum(1) - logistic(time, squared, ALPHA)
        furthest = max(furthest, float(away.abs().max()))
    where = "beta-0"
    yield "augmented", "logistic-error", furthest / ALPHA, where
    apart = distances(LENGTH) > 0
    grown = (state.p @ state.p.T)[apart] / (first.p @ first.p.T)[apart]
    yield "augmented", "growth-off-diagonal", grown.median(), where
    loss = problem.loss_by_position(state.p @ state.p.T, state.v).mean()
    yield "augmented", "loss-over-n-by-d", loss / (ALPHA**2 * (LENGTH - 1) / WIDTH), where
