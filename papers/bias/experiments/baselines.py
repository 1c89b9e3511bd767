"""The plain encoder-decoder and other positions in its place, trained on up to 4 digits, three seeds (Tables 1 and 2, Figure 1).

    tenfold reproduce bias/baselines

Sinusoids, RoPE, ALiBi, relative keys, randomized and interpolated positions on successor, addition and N x 1; of parity, the
plain model (in Table 2) and relative keys, and the plain model on the final bit alone. All but randomized positions and relative keys, which end at 128 and 64,
are also asked at 100 and 200 digits. 63 runs of 2 to 6 minutes each on an idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import farther
from tenfold.runs.recipe_files import recipe

METHODS = {
    "vanilla": "sinusoids",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "relative": "relative keys",
    "randomized": "randomized",
    "interpolated": "interpolated",
}
PARITY = {
    "vanilla": "running output, sinusoids",
    "relative": "running output, relative keys",
    "final-vanilla": "final bit alone, sinusoids",
}
TASKS = {
    "successor": ("Successor", METHODS),
    "addition": ("Addition", METHODS),
    "times": ("A number times one digit", METHODS),
    "parity": ("Parity", PARITY),
}
LENGTHS = {  # ours, and theirs for as many times the training length, or nearly
    "smoke": {2: 6, 4: 10},
    "laptop": {4: 6, 8: 10, 12: 20, 40: 60},
    "paper": {6: 6, 10: 10, 20: 20, 60: 60},
}
BITS = {"smoke": {2: 6}, "laptop": {n: n for n in (6, 10, 15, 20, 60)}}
FAR = {"smoke": {6: 10}, "laptop": {100: 200, 200: 100}}  # lengths and how many problems
STOPS = {6: 1.0, 10: 0.0, 20: 0.0, 60: 0.0}
PUBLISHED = {
    **{f"bias/{task}-vanilla": STOPS for task in ("successor", "addition", "times")},
    **{f"bias/{task}-rope": STOPS for task in ("successor", "addition", "times")},
    "bias/successor-alibi": {6: 0.013, 10: 0.0, 20: 0.0, 60: 0.0},
    "bias/addition-alibi": {6: 0.0, 10: 0.0, 20: 0.0, 60: 0.0},
    "bias/addition-relative": {6: 1.0, 10: 0.999, 20: 0.213},
    "bias/parity-vanilla": {6: 0.2923, 10: 0.0029, 15: 0.0, 20: 0.0, 60: 0.0},
}


def series(task):
    return {f"bias/{task}-{kind}": words for kind, words in TASKS[task][1].items()}


def grid(scale):
    names = [name for task in TASKS for name in series(task)]
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def measure_run(lab, run):
    if not run.recipe.name.endswith(("randomized", "relative", "final-vanilla")):
        yield from farther(lab, run, FAR.get(lab.scale, FAR["laptop"]))


def draw(drawing):
    for task, (title, _) in TASKS.items():
        from_rows.by_length(drawing.rows, series(task), drawing.folder / f"figure-1-{task}", title)
        lengths = (
            BITS.get(drawing.scale, BITS["laptop"]) if task == "parity" else LENGTHS[drawing.scale]
        )
        from_rows.published_table(
            drawing.rows, series(task), lengths, PUBLISHED, drawing.folder / f"table-{task}", title
        )
