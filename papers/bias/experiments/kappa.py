"""Accuracy against kappa: how many sigmas above the mean a line of attention must be to be kept; two tasks, three seeds.

    tenfold reproduce bias/kappa

The first models are those of `bias/published-calibration` (successor, lines of the matrix as the paper's code finds them, positions kept)
and of `bias/calibration` (addition, lines of tokens of each layer, positions dropped). Kappa is that of cross-attention; of
self-attention it is the published 0.87, in the matrix the same share of the largest that a line could pass. The second training is that of
these experiments; kappas that keep the same lines are trained once. Finished first models are not trained again; about 2 minutes a kappa and seed of addition, and 5 of successor, on
one idle core at laptop scale.
"""

from tenfold.drawing.figures_from_rows import against
from tenfold.features.calibration.calibrate import AS_CODED
from tenfold.papers.bias.second_stage import rows_of_all, second, steps_again
from tenfold.runs.recipe_files import recipe

KAPPAS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.5)
FIRST = {
    "bias/addition-vanilla": ("Addition, lines of tokens", {"kappa_self": 0.87}),
    "bias/successor-vanilla-covered": (
        "Successor, lines of the matrix as coded",
        {**AS_CODED, "positions": "keep"},
    ),
}
TIMES = {"smoke": (1, 2), "laptop": (1, 2, 5), "paper": (1, 2, 10)}

of_each_run = True


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in FIRST]


def named(first, kappa):
    return f"{first.replace('vanilla', 'kappa')}-{kappa:g}"


def later(recipe):
    return len(KAPPAS) * steps_again(recipe)


def measure(lab):
    smoke = {"right_only": False} if lab.scale == "smoke" else {}  # there nothing is right
    stages = [
        second(
            run,
            named(run.recipe.name, kappa),
            **{**FIRST[run.recipe.name][1], **smoke, "kappa_cross": kappa},
        )
        for run in list(lab.runs)
        for kappa in KAPPAS
    ]
    yield from rows_of_all(lab, stages)


def draw(drawing):
    for first, (title, _) in FIRST.items():
        settings = {named(first, kappa): kappa for kappa in KAPPAS}
        file = drawing.folder / f"kappa-{first.split('/')[1].split('-')[0]}"
        words = "kappa of cross-attention (sigmas)"
        against(drawing.rows, settings, TIMES[drawing.scale], file, title, words)
