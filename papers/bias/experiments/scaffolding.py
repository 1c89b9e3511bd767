"""Windows on columns (ABS) with sinusoids, with cyclic positions and without any, four tasks, three seeds (Tables 2 and 3).

    tenfold reproduce bias/scaffolding

And addition with cross-attention open on both sides of a digit's own column. Trained on up to 6 digits or 18 bits, as in the paper. 42 runs
of 2 to 7 minutes each on an idle core at laptop scale; finished runs are not done again. With cyclic positions 1,000 digits are asked too.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import farther
from tenfold.runs.recipe_files import recipe

SETTINGS = {
    "window": "w = 1, sinusoids",
    "window-cyclic": "w = 1, T = 3",
    "window-none": "w = 1, no positions",
}
BOTH = {
    "window-cyclic-both": "both sides, T = 3",
    "window-none-both": "both sides, no positions",
}
TASKS = {
    "successor": ("Successor", SETTINGS),
    "parity": ("Running parity", SETTINGS),
    "addition": ("Addition", SETTINGS | BOTH),
    "times": ("A number times one digit", SETTINGS),
}
LENGTHS = {n: n for n in (6, 10, 15, 20, 60, 100, 200)}  # theirs, and ours
SMOKE = {2: 6, 4: 10}
FAR = {"smoke": {8: 10}, "laptop": {1000: 50}}  # lengths and how many problems
ALL = dict.fromkeys((6, 10, 15, 20, 60), 1.0)
PUBLISHED = {
    **{f"bias/{task}-{kind}": ALL for task in ("successor", "parity") for kind in SETTINGS},
    **{f"bias/{task}-window-cyclic": ALL for task in ("addition", "times")},
    "bias/addition-window": {6: 1.0, 10: 0.0, 15: 0.0, 20: 0.0, 60: 0.0},
    "bias/addition-window-none": {6: 0.9995, 10: 0.9981, 15: 0.9984, 20: 0.9976, 60: 0.9935},
    "bias/times-window": {6: 1.0, 10: 0.06, 15: 0.0019, 20: 0.0, 60: 0.0},
    "bias/times-window-none": {6: 0.9989, 10: 0.9963, 15: 0.9949, 20: 0.9939, 60: 0.9831},
}


def series(task):
    return {f"bias/{task}-{kind}": words for kind, words in TASKS[task][1].items()}


def grid(scale):
    names = [name for task in TASKS for name in series(task)]
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def measure_run(lab, run):
    if run.recipe.name.endswith("-window-cyclic"):
        yield from farther(lab, run, FAR.get(lab.scale, FAR["laptop"]))


def draw(drawing):
    for task, (title, _) in TASKS.items():
        from_rows.by_length(drawing.rows, series(task), drawing.folder / f"windows-{task}", title)
        lengths = SMOKE if drawing.scale == "smoke" else LENGTHS
        from_rows.published_table(
            drawing.rows, series(task), lengths, PUBLISHED, drawing.folder / f"table-{task}", title
        )
