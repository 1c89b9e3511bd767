"""Calibration as published: padded to the test width, lines of the last layer's matrix, positions kept; three tasks, three seeds (Table 1).

    tenfold reproduce bias/published-calibration

The first model has six layers and one width, that of the longest test. Lines are those of the matrix of indices in three directions,
vertical ones too; kept are those more than kappa sigmas above the mean (0.87 in self-, 4.5 in cross-attention), and a line's bias
is relative to the best of its direction. Averages are of right answers. The second model begins anew, or with the first one's
weights (`-tuned`). Of addition also by weights after the softmax (`-weights`), as the paper's code has it.
About 20 minutes a task and seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.calibration.calibrate import PUBLISHED
from tenfold.papers.bias.second_stage import calibrated_rows, second, train_second
from tenfold.runs.recipe_files import recipe

TASKS = {
    "successor": "Successor",
    "addition": "Addition",
    "times": "A number times one digit",
}
FIRST = "bias/{}-vanilla-covered"
CHOICES = {  # by the end of their names
    "": {},
    "-tuned": {"tuned": True},
}
WORDS = {
    "vanilla-covered": "first training",
    "published": "calibrated, anew",
    "published-tuned": "calibrated, fine-tuned",
    "published-weights": "calibrated by weights, anew",
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


def measure(lab):
    published = {**PUBLISHED, "right_only": lab.scale != "smoke"}  # there nothing is right
    stages = []
    for run in list(lab.runs):
        name = run.recipe.name.replace("vanilla-covered", "published")
        choices = CHOICES
        if "addition" in name:
            choices = CHOICES | {"-weights": {"scores": "weights"}}
        stages += [
            second(run, name + ending, positions="keep", **published, **how)
            for ending, how in choices.items()
        ]
    for stage, run in train_second(lab, stages):
        yield from calibrated_rows(lab, stage, run)


def series(task):
    kinds = [kind for kind in WORDS if kind != "published-weights" or task == "addition"]
    return {f"bias/{task}-{kind}": WORDS[kind] for kind in kinds}


def draw(drawing):
    for task, title in TASKS.items():
        from_rows.by_length(drawing.rows, series(task), drawing.folder / f"published-{task}", title)
        theirs = {
            f"bias/{task}-vanilla-covered": STOPS,
            f"bias/{task}-published": THEIRS[task],
            f"bias/{task}-published-tuned": THEIRS[task],
        }
        from_rows.published_table(
            drawing.rows,
            series(task),
            LENGTHS[drawing.scale],
            theirs,
            drawing.folder / f"table-{task}",
            title,
        )
