"""Where the plain adder looks, at the training length and beyond, and its calibrated lines beside biases learned end to end.

    tenfold reproduce bias/attention

Looks at the runs of addition-vanilla (of baselines) and addition-scalar, seeds 0 to 2; those that are finished are not done
again. Attention is that of the model's own answers; the slice "true-answer" has the true digits in their place, so that no
wrong digit leads it astray. Lines: `tenfold.features.calibration.shared_lines` says how they are compared. Looking takes seconds a run.
"""

import tenfold
from tenfold.features.calibration.attention_figures import lines_beside, right_then_lost
from tenfold.features.calibration.question_attention import (
    PROBLEMS,
    compared,
    leading_head,
    looks_of,
    shares,
)
from tenfold.runs.recipe_files import recipe

VANILLA, SCALAR = "bias/addition-vanilla", "bias/addition-scalar"
TIMES = 3  # the longest problems, of the training length


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in (VANILLA, SCALAR)]


def measure(lab):
    n = 16 if lab.scale == "smoke" else PROBLEMS
    runs = {(run.recipe.name, run.recipe.seed): run for run in lab.runs}
    for (name, seed), run in runs.items():
        if name == VANILLA:
            yield from _looking(lab, run, n)
        elif (VANILLA, seed) in runs:
            yield from _lines(lab, runs[VANILLA, seed], run, n)


def _looking(lab, run, n):
    trained, place = run.recipe.data.length, leading_head(run, n)
    about = {**lab.about(run), "checkpoint": "best", "n": n}
    for slice, own in (("uniform", True), ("true-answer", False)):
        looks = {k: looks_of(run, k, n, own=own) for k in range(1, TIMES * trained + 1)}
        for length, look in looks.items():
            for metric, value in shares(look, looks[trained], place).items():
                yield {**about, "length": length, "slice": slice, "metric": metric, "value": value}
        if own:
            lab.kept.setdefault("looks", (looks[trained], looks[2 * trained], place))


def _lines(lab, first, learned, n):
    common = compared(tenfold.calibrate(first, n, allow_imperfect=True), learned, n)
    lab.kept.setdefault("lines", common)
    about = {**lab.about(learned), "slice": "uniform", "checkpoint": "best", "n": common.lines}
    yield {**about, "metric": "lines-in-common", "value": common.share}
    yield {**about, "metric": "lines-by-chance", "value": common.by_chance}


def draw(drawing):
    if "looks" in drawing.kept:
        title = "Right up to the training length, then lost; dots: the digit's own column"
        right_then_lost(
            *drawing.kept["looks"], drawing.rows, drawing.folder / "right-then-lost", title
        )
    if "lines" in drawing.kept:
        title = "Calibrated lines and the largest learned biases"
        lines_beside(drawing.kept["lines"], drawing.folder / "lines", title)
