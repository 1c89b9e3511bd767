"""Which slopes can be proved without a window, and what happens outside of that region: binary addition.

    tenfold reproduce certified/soft-map

ALiBi outside of two columns, with slopes from 1 to 8 and a penalty on far attention from 0 to 3, two seeds each, 600 steps.
`proved` is what came of the proof, `far-attention` the most attention on far tokens, `left` what they leave of the margin;
`exact-long` is the share of 8 problems of 1,000 digits that are right. About ten minutes on one idle core.
"""

import numpy as np
from matplotlib import pyplot

from tenfold.data.tasks import samplers
from tenfold.drawing.figures import save_figure
from tenfold.papers.certified.soft_rows import proof
from tenfold.runs.recipe_files import recipe

SLOPES = (1.0, 2.0, 3.0, 4.0, 8.0)
PENALTIES = (0.0, 1.0, 3.0)
SEEDS = range(2)
LONG = 1000  # digits
N = 8  # problems of that length
of_each_run = True


def grid(scale):
    return [
        variant(scale, slope, weight, seed)
        for seed in SEEDS
        for slope in SLOPES
        for weight in PENALTIES
    ]


def variant(scale, slope, weight, seed):
    chosen = recipe("certified/addition-alibi-base-2", scale, seed=seed, stop=None)
    parts = [dict(part) for part in chosen.as_json()["pe"]["parts"]]
    parts[0]["slope"] = slope
    penalty = {"name": "far-attention", "weight": weight} if weight else None
    steps = {} if scale == "smoke" else {"steps": 600}
    return chosen.replace(
        name=named(slope, weight),
        pe={"name": "compose", "parts": parts},
        train={**steps, "penalty": penalty},
        eval={"lengths": [chosen.data.length], "n": 50, "slices": ["uniform"], "every": 1000},
    )


def measure_run(lab, run):
    yield from proof(lab, run)
    length = LONG if lab.scale != "smoke" else 10
    examples = run.built.batcher.task.sample(N, length, np.random.default_rng(0), samplers.exact)
    exact = run.built.examiner().grade(run.answerer("final"), examples, length, "uniform")[0]
    known = {**lab.about(run), "checkpoint": "final", "slice": "uniform"}
    yield {**known, "length": length, "metric": "exact-long", "value": exact.value, "n": N}


def draw(drawing):
    """The provable region over slope and penalty, with the accuracy at 1,000 digits in each cell."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4.0), layout="constrained")
    shares = np.full((len(PENALTIES), len(SLOPES)), np.nan)
    for row, column in np.ndindex(shares.shape):
        rows = [r for r in drawing.rows if r["recipe"] == named(SLOPES[column], PENALTIES[row])]
        proved = [r["value"] for r in rows if r["metric"] == "proved"]
        exact = [r["value"] for r in rows if r["metric"] == "exact-long"]
        if not proved:
            continue
        shares[row, column] = np.mean(proved)
        told = f"{round(sum(proved))} of {len(proved)}"
        told += f"\n{np.mean(exact):.0%}" if exact else ""
        ink = "#FAFAFA" if shares[row, column] < 0.4 else "#101010"
        axes.text(column, row, told, ha="center", va="center", fontsize=9, color=ink)
    axes.imshow(np.ma.masked_invalid(shares), cmap="cividis", vmin=0, vmax=1, origin="lower", aspect="auto")  # fmt: skip
    axes.set_xticks(range(len(SLOPES)), [f"{slope:g}" for slope in SLOPES])
    axes.set_yticks(range(len(PENALTIES)), [f"{weight:g}" for weight in PENALTIES])
    axes.set(xlabel="slope of the decay outside of two columns", ylabel="weight of the penalty")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    title = "Seeds proved at every length without a window; below, exact at 1,000 digits"
    save_figure(figure, drawing.folder / "region", title, None)


def named(slope, weight):
    return f"certified/slope-{slope:g}-penalty-{weight:g}".replace(".", "-")
