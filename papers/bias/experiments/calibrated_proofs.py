"""Calibrated models of one layer, proved right at every length, or why not: four tasks, three seeds.

    tenfold reproduce bias/calibrated-proofs

The plain model with one layer is trained and calibrated: by weights and low kappas, with which every head keeps some line and few keep
more than they need. The lines are columns, so they fit the scaffolded model's unpadded questions, too, and that one is trained with
them until proved. `bounded`: whether what the lines show is bounded (2 million contexts) and decides each digit; else nothing can be
proved, whatever the weights, and nothing is trained; `proved`: what came of it, with `contexts` and `margin`. Lines to the operator or to the token that starts an answer
are left out: they have no bound. About 5 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.features.calibration.calibrate import calibrate, with_lines
from tenfold.features.proofs.prover import unprovable
from tenfold.papers.bias.proof_rows import proof
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe

TASKS = ("successor", "parity", "addition", "times")
RULES = {"scores": "weights", "kappa_self": 0.5, "kappa_cross": 1.0}
UNBOUNDED = ("operator", "start")
LIMIT = 2_000_000  # contexts: more would take hours of proofs on the way


def grid(scale):
    return [plain(task, scale, seed) for seed in range(3) for task in TASKS]


def plain(task, scale, seed):
    chosen = recipe(f"bias/{task}-vanilla", scale, seed=seed)
    return chosen.replace(name=f"bias/{task}-vanilla-1", model={"layers": 1})


def measure(lab):
    wanted = []
    for run in list(lab.runs):
        task = run.recipe.name.removeprefix("bias/").removesuffix("-vanilla-1")
        name = f"bias/certified-{task}-calibrated"
        calibration = calibrate(run, allow_imperfect=True, **RULES)
        scaffold = recipe(f"bias/certified-{task}-none", lab.scale, seed=run.recipe.seed)
        chosen = scaffold.replace(model={"heads": run.recipe.model.heads})
        chosen = without(with_lines(chosen, calibration), UNBOUNDED).replace(name=name)
        known = {"recipe": name, "task": run.recipe.task.name, "seed": run.recipe.seed}
        known |= {"trained": chosen.data.length}
        yield {**known, "metric": "first-exact", "value": calibration.accuracy.value}
        provable = bounded(chosen)
        yield {**known, "metric": "bounded", "value": int(provable)}
        if provable:
            wanted.append(chosen)
        else:
            yield {**known, "metric": "proved", "value": 0}
    for run in lab.sweep(wanted):
        yield from proof(lab, run)


def without(chosen, keys):
    """The recipe without its lines to these tokens."""
    lines = [line for line in chosen.pe.options["lines"] if line["keys"] not in keys]
    return chosen.replace(pe={"name": chosen.pe.name, "lines": lines})


def bounded(chosen):
    built = build(chosen)
    return unprovable(built.model(), built.batcher, LIMIT) is None
