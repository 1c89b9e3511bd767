"""Calibration (ABC): the plain models' own attention as a bias, and a quarter of their steps again; four tasks (Table 1).

    tenfold reproduce bias/calibration

Three seeds, and ten of parity, which extrapolates with some and not with others. Lines of each layer, and the plain model's positions dropped. For addition also what the paper does: lines of the last
layer for all, positions kept; and both mixtures. Finished runs (of baselines) are not done again; the others take one
to two minutes each on an idle core at laptop scale, and sums of 1,000 digits about as long.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.calibration.attention_figures import before_after
from tenfold.ledger.measurements import farther
from tenfold.papers.bias.second_stage import (
    calibrated_rows,
    second,
    steps_again,
    train_second,
)
from tenfold.runs.recipe_files import recipe

TASKS = {
    "successor": "Successor",
    "addition": "Addition",
    "times": "A number times one digit",
    "parity": "Running parity",
}
OURS = {"source": "each", "positions": "drop"}
CHOICES = {  # of the addition: by the end of their names
    "-keep": {"source": "each", "positions": "keep"},
    "-last": {"source": "last", "positions": "drop"},
    "-last-keep": {"source": "last", "positions": "keep"},
}
WORDS = {
    "vanilla": "first training",
    "calibrated": "each layer, dropped",
    "calibrated-keep": "each layer, kept",
    "calibrated-last": "last layer, dropped",
    "calibrated-last-keep": "last layer, kept (the paper)",
}
FAR = {"smoke": {6: 10}, "laptop": {100: 200, 200: 100}}  # lengths and how many problems
FARTHER = {"smoke": {8: 10}, "laptop": {1000: 50}}  # of sums alone
LENGTHS = {
    "smoke": {2: 6, 4: 10},
    "laptop": {4: 6, 8: 10, 12: 20, 40: 60},
    "paper": {6: 6, 10: 10, 20: 20, 60: 60},
}
BITS = {"smoke": {2: 6}, "laptop": {n: n for n in (6, 10, 15, 20, 50, 60)}}
PUBLISHED = {
    f"bias/{task}-calibrated": dict.fromkeys((6, 10, 20, 60), 1.0)
    for task in ("successor", "times")
} | {"bias/addition-calibrated": {6: 1.0, 10: 1.0, 20: 0.999, 60: 0.998}}

of_each_run = True


def grid(scale):
    return [
        recipe(f"bias/{task}-vanilla", scale, seed=seed)
        for seed in range(10)
        for task in TASKS
        if seed < 3 or task == "parity"  # which differs most from seed to seed
    ]


def later(recipe):
    stages = 1 + len(CHOICES) if "addition" in recipe.name else 1
    return stages * steps_again(recipe)


def measure(lab):
    stages = []
    for run in list(lab.runs):
        name = run.recipe.name.replace("vanilla", "calibrated")
        stages.append(second(run, name, **OURS))
        if "addition" in name:
            stages += [second(run, name + ending, **how) for ending, how in CHOICES.items()]
    for stage, run in train_second(lab, stages):
        yield from calibrated_rows(lab, stage, run)
        if run.recipe.name.endswith("-calibrated"):
            yield from farther(lab, run, FAR.get(lab.scale, FAR["laptop"]))
        if run.recipe.name == "bias/addition-calibrated":
            lab.kept.setdefault("addition", (stage, run))
            yield from farther(lab, run, FARTHER.get(lab.scale, FARTHER["laptop"]))


def series(task):
    kinds = WORDS if task == "addition" else ("vanilla", "calibrated")
    return {f"bias/{task}-{kind}": WORDS[kind] for kind in kinds}


def draw(drawing):
    if "addition" in drawing.kept:
        stage, run = drawing.kept["addition"]
        before_after(stage.first, run, stage.calibration, drawing.folder / "before-after")
    for task, title in TASKS.items():
        from_rows.by_length(
            drawing.rows, series(task), drawing.folder / f"calibrated-{task}", title
        )
        lengths = (
            BITS.get(drawing.scale, BITS["laptop"]) if task == "parity" else LENGTHS[drawing.scale]
        )
        from_rows.published_table(
            drawing.rows, series(task), lengths, PUBLISHED, drawing.folder / f"table-{task}", title
        )
