"""The list of relative columns that each digit of a sum depends on, found by intervention (Appendix E).

    tenfold reproduce symmetry/fixed-map

For each answer digit and each column below it, 30 sums in which every column between sums to 9, so that a carry can run
through; one digit of that column becomes each other digit. It matters if the model's answer digit moves in at least half
of the changes that move the true one. `same-list` is the share of answer digits with the commonest list, `reach` how many
columns back that list goes, `moves-at-3` the mean share for digits 3 columns back. Sums of 10 digits, trained on up to 5;
the slice "as-trained" asks the longest length of training. Asking takes about half a minute a run on one idle core.
"""

from pathlib import Path

import numpy as np

from tenfold.features.influence.influence_figures import draw_lists
from tenfold.features.influence.run_influence import lists
from tenfold.runs.recipe_files import recipe

NAMES = [f"symmetry/addition-{which}" for which in ("relative", "cascades-2", "complex")]


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]


def measure_run(lab, run):
    n, trained = 4 if lab.scale == "smoke" else 30, run.recipe.data.length
    for slice, length in (("uniform", 2 * trained), ("as-trained", trained)):
        columns = lists(run, length, n)
        if slice == "uniform":
            lab.kept.setdefault(run.recipe.name, columns)  # of the first seed
        values = {"same-list": columns.same_list, "reach": columns.reach, **_moves(columns)}
        for metric, value in values.items():
            yield {
                **lab.about(run), "length": length, "slice": slice, "checkpoint": "best", "metric": metric,
                "value": value, "n": int(columns.counts.sum()),
            }  # fmt: skip


def _moves(lists):
    """The mean share of changes that move an answer digit, by how many columns back they are."""
    _, width, columns = lists.shares.shape
    back = np.arange(columns) - np.arange(width)[:, None]
    return {
        f"moves-at-{offset}": lists.shares[:, back == offset].mean()
        for offset in range(-1, columns)
    }


def draw(drawing):
    for name, columns in drawing.kept.items():
        draw_lists(
            columns, drawing.folder / Path(name).name, f"{name}, {columns.shares.shape[1]} digits"
        )
