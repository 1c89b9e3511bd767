"""Calibrated models of one layer, proved right at every length, or why not: four tasks, three seeds.

    tenfold reproduce bias/calibrated-proofs

The plain model with one layer is trained and calibrated; its lines are columns, so they fit the scaffolded model's unpadded
questions, too, and that one is trained with them until proved. `bounded`: whether what the lines show is bounded (2
million contexts) and decides each digit; else nothing can be proved, whatever the weights, and nothing is trained; `proved`: what came of it.
Vertical lines (to the token that starts an answer) are left out, but for a multiplier. About 5 minutes a seed on one idle core at
laptop scale; finished runs are not done again.
"""

from tenfold.calibration.tracks import DIRECTIONS
from tenfold.certify.certificate import unprovable
from tenfold.lab.build import build
from tenfold.lab.calibrating import calibrate, with_lines
from tenfold.lab.recipes import recipe

LINES = {
    "successor": ("diagonal", "anti-diagonal"),
    "parity": ("diagonal", "anti-diagonal"),
    "addition": ("diagonal", "anti-diagonal"),
    "times": DIRECTIONS,
}

LIMIT = 2_000_000  # contexts: more would take hours of proofs on the way


def grid(scale):
    return [plain(task, scale, seed) for seed in range(3) for task in LINES]


def plain(task, scale, seed):
    chosen = recipe(f"bias/{task}-vanilla", scale, seed=seed, model={"layers": 1})
    return chosen.replace(name=f"bias/{task}-vanilla-1")


def measure(lab):
    wanted = []
    for run in list(lab.runs):
        task = run.recipe.name.removeprefix("bias/").removesuffix("-vanilla-1")
        name = f"bias/certified-{task}-calibrated"
        found = calibrate(run, allow_imperfect=True, directions=LINES[task])
        scaffold = recipe(f"bias/certified-{task}-none", lab.scale, seed=run.recipe.seed)
        chosen = scaffold.replace(model={"heads": run.recipe.model.heads})
        chosen = with_lines(chosen, found).replace(name=name)
        known = {"recipe": name, "task": run.recipe.task.name, "seed": run.recipe.seed}
        known |= {"trained": chosen.data.length}
        yield {**known, "metric": "first-exact", "value": found.accuracy.value}
        provable = bounded(chosen)
        yield {**known, "metric": "bounded", "value": int(provable)}
        if provable:
            wanted.append(chosen)
        else:
            yield {**known, "metric": "proved", "value": 0}
    for run in lab.sweep(wanted):
        proved = run.certify(which="final").proved
        yield {**lab.about(run), "metric": "proved", "value": int(proved)}


def bounded(chosen):
    built = build(chosen)
    return unprovable(built.model(), built.batcher, LIMIT) is None
