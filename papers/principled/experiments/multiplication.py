"""Full products from few digits by a GPT with a learned vector per position: shorter ones, longer ones; three seeds.

    tenfold reproduce principled/multiplication

Trained on 1 and 2 digits in equal parts (D12), on 2 alone (D2) and on 3 alone (D3), GPT nano (micro at paper scale). Every
answer is graded against the truth and against the product of the last n digits. Lengths are those of the paper's table.
Three runs of up to 15 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.truncation.run_truncation import predicted, truncated
from tenfold.runs.recipe_files import recipe

SERIES = {
    "principled/multiplication-absolute": "1 and 2 digits (D12)",
    "principled/multiplication-one-length": "2 digits (D2)",
    "principled/multiplication-d3": "3 digits (D3)",
}
LENGTHS = {n: n for n in range(1, 6)}
D12, D2, D3 = SERIES
TRUTH = {
    D12: {1: 1.0, 2: 1.0, 3: 0.001, **dict.fromkeys(range(4, 10), 0.0)},
    D2: {1: 0.80, 2: 0.994, 3: 0.001, **dict.fromkeys(range(4, 10), 0.0)},
    D3: {1: 1.0, 2: 0.964, 3: 0.990, **dict.fromkeys(range(4, 10), 0.0)},
}
LAST = {
    D12: dict(enumerate((1.0, 0.999, 0.930, 0.901, 0.860, 0.826, 0.806, 0.782, 0.777), 1)),
    D3: dict(enumerate((1.0, 0.962, 0.988, 0.989, 0.990, 0.979, 0.979, 0.972, 0.971), 1)),
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    yield from truncated(lab, run)
    yield from predicted(lab, run)


def draw(drawing):
    last = from_rows.measured_as(drawing.rows, "exact-truncated")
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "truth", "Products, against the truth"
    )
    from_rows.by_length(last, SERIES, drawing.folder / "last-digits", "Products, against their last n digits")  # fmt: skip
    from_rows.published_table(
        drawing.rows, SERIES, LENGTHS, TRUTH, drawing.folder / "table-truth", "Against the truth"
    )
    from_rows.published_table(last, SERIES, LENGTHS, LAST, drawing.folder / "table-last-digits", "Against the last n digits")  # fmt: skip
