"""Sums from n digits by a GPT with a learned vector per position: shorter ones, longer ones, and what training covers; three seeds.

    tenfold reproduce principled/addition

Nine trainings: D_n by nano, micro and mini, by nano and micro for longer too, D_4 by nano (at laptop scale n is 3), two lengths (D23), both numbers of n digits (D_ab,n), only the digits 6 to 9. Every
answer is graded against the truth and against the sum of the last n digits; what training has seen is the slice `digits-6-9`
with holes, and `both` where both numbers have n digits. Published lengths stand beside ours by how far they are from n, which is 3 here and 4 or 5 there.
Nine runs of up to 40 minutes a seed on one idle core at laptop scale, which for mini has bfloat16 instructions; finished runs are not done again.
"""

from tenfold.data.tasks.domains import Domain
from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.truncation.run_truncation import of_domain, predicted, truncated
from tenfold.runs.recipe_files import recipe

SERIES = {
    "principled/addition-absolute": "D_n",
    "principled/addition-four": "D_4",
    "principled/addition-absolute-micro": "D_n, micro",
    "principled/addition-absolute-mini": "D_n, mini",
    "principled/addition-absolute-long": "D_n, twice the steps",
    "principled/addition-absolute-micro-long": "D_n, micro, three times the steps",
    "principled/addition-union": "two lengths",
    "principled/addition-both": "both of n digits",
    "principled/addition-holes": "digits 6 to 9",
}
SEEN = {  # what training draws from, where that is not all of n digits
    "principled/addition-holes": ("digits-6-9", {"digits": "6789"}),
    "principled/addition-both": ("both", {"every": True}),
}
LENGTHS = {  # ours, and theirs that are as far from the training length
    "smoke": {1: 3, 2: 4, 3: 5, 4: 6, 5: 7},
    "laptop": {1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: 7},
    "paper": {n: n for n in range(1, 10)},
}
STOPS = {n: float(n <= 4) for n in range(1, 10)}  # D4
TRUTH = {  # D4, and D_ab,4
    "principled/addition-absolute": STOPS,
    "principled/addition-absolute-micro": STOPS,
    "principled/addition-absolute-mini": STOPS,
    "principled/addition-both": {**STOPS, 3: 0.726},
}
LAST = {
    "principled/addition-absolute": dict.fromkeys(range(1, 10), 1.0),
    "principled/addition-absolute-micro": dict.fromkeys(range(1, 10), 1.0),
    "principled/addition-absolute-mini": dict.fromkeys(range(1, 10), 1.0),
    "principled/addition-both": dict(
        enumerate((1.0, 0.999, 0.723, 1.0, 0.997, 0.997, 0.996, 0.997, 0.995), 1)
    ),
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from truncated(lab, run)
    yield from predicted(lab, run)
    if run.recipe.name in SEEN:
        label, options = SEEN[run.recipe.name]
        yield from of_domain(lab, run, label, Domain([run.recipe.data.length], **options))


def draw(drawing):
    last = from_rows.measured_as(drawing.rows, "exact-truncated")
    from_rows.by_length(drawing.rows, SERIES, drawing.folder / "truth", "Sums, against the truth")
    from_rows.by_length(
        last, SERIES, drawing.folder / "last-digits", "Sums, against their last n digits"
    )
    shown, lengths = list(TRUTH), LENGTHS[drawing.scale]
    beside = {name: SERIES[name] for name in shown}
    from_rows.published_table(
        drawing.rows, beside, lengths, TRUTH, drawing.folder / "table-truth", "Against the truth"
    )
    from_rows.published_table(last, beside, lengths, LAST, drawing.folder / "table-last-digits", "Against the last n digits")  # fmt: skip
