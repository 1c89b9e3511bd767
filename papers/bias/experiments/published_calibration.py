"""Calibration as published: padded to the test width, lines of the last layer's matrix, positions kept; three tasks, three seeds (Table 1).

    tenfold reproduce bias/published-calibration

The first model has six layers and one width, that of the longest test. Lines are those of the matrix of indices, and the averages are
of right answers. `published` is the text of the paper: means of logits along three directions, more than kappa sigmas above their mean
(0.87 in self-, 4.5 in cross-attention). `coded` is the paper's code: sums of weights, diagonals in self-attention and anti-diagonals
in cross-attention, and the same share of the largest kappa that so many lines allow. The second model begins anew, or with the first one's
weights (`-tuned`). A second training has a quarter of the first one's steps; by the code, anew, of addition and N x 1 as many. About 25
minutes a task and seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.calibration.calibrate import AS_CODED, PUBLISHED
from tenfold.papers.bias.second_stage import rows_of_all, second, steps_again
from tenfold.runs.recipe_files import recipe

TASKS = {
    "successor": "Successor",
    "addition": "Addition",
    "times": "A number times one digit",
}
FIRST = "bias/{}-vanilla-covered"
CHOICES = {  # by the end of their names
    "published": PUBLISHED,
    "published-tuned": {**PUBLISHED, "tuned": True},
    "coded": AS_CODED,
    "coded-tuned": {**AS_CODED, "tuned": True},
}
AS_LONG = {f"bias/{task}-coded" for task in ("addition", "times")}  # as the first training
WORDS = {
    "vanilla-covered": "first training",
    "published": "by the text, anew",
    "published-tuned": "by the text, fine-tuned",
    "coded": "by the code, anew",
    "coded-tuned": "by the code, fine-tuned",
}
LENGTHS = {  # ours, and theirs for as many times the training length, or nearly
    "smoke": {2: 6, 4: 10},
    "laptop": {4: 6, 8: 10, 12: 20, 20: 60},
    "paper": {6: 6, 10: 10, 20: 20, 60: 60},
}
ALL = dict.fromkeys((6, 10, 20, 60), 1.0)
THEIRS = {"successor": ALL, "addition": {6: 1.0, 10: 1.0, 20: 0.999, 60: 0.998}, "times": ALL}
STOPS = {6: 1.0, 10: 0.0, 20: 0.0, 60: 0.0}

of_each_run = True


def grid(scale):
    return [recipe(FIRST.format(task), scale, seed=seed) for seed in range(3) for task in TASKS]


def again(first, name):
    """The steps of a second training of this name."""
    return first.train.steps if name in AS_LONG else steps_again(first)


def second_name(first, ending):
    return first.name.replace("vanilla-covered", ending)


def later(recipe):
    return sum(again(recipe, second_name(recipe, ending)) for ending in CHOICES)


def measure(lab):
    right_only = {"right_only": lab.scale != "smoke"}  # there nothing is right
    stages = [
        second(
            run,
            name := second_name(run.recipe, ending),
            positions="keep",
            steps=again(run.recipe, name),
            **{**how, **right_only},
        )
        for run in list(lab.runs)
        for ending, how in CHOICES.items()
    ]
    yield from rows_of_all(lab, stages)


def draw(drawing):
    for task, title in TASKS.items():
        series = {f"bias/{task}-{kind}": words for kind, words in WORDS.items()}
        from_rows.by_length(drawing.rows, series, drawing.folder / f"published-{task}", title)
        theirs = {f"bias/{task}-{kind}": THEIRS[task] for kind in CHOICES}
        theirs[FIRST.format(task)] = STOPS
        from_rows.published_table(
            drawing.rows,
            series,
            LENGTHS[drawing.scale],
            theirs,
            drawing.folder / f"table-{task}",
            title,
        )
