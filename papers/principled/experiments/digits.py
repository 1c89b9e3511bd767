"""Which digits an answer depends on, and how much of it digit sum and carry explain: sums from n digits, three seeds.

    tenfold reproduce principled/digits

`explained` is R^2 of a decision tree from the digit sum and the carry of the column below, on a model's answers at n digits;
`explained-true` is the same of true answers. Both are drawn by answer digit.
`moved-by-dropped` and `moved-by-kept`: at n + 2 digits one digit of the question becomes each other digit; the share of these
changes that move the answer, for digits above the n lowest and for the others. The picture has both numbers' digits against
the answer's: the model, the truth, and the sum of the last n digits, for the first seed that was asked.
The runs are those of `principled/addition`; asking takes about a minute a run on one idle core at laptop scale.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.influence.influence_figures import draw_influence
from tenfold.features.influence.run_influence import influence, truncated
from tenfold.features.truncation.run_truncation import digit_analysis, intervened
from tenfold.runs.recipe_files import recipe

NAME = "principled/addition-absolute"
EXPLAINED = {"explained": "the model's answers", "explained-true": "true answers"}
BEYOND = 2  # digits above those of training


def grid(scale):
    return [recipe(NAME, scale, seed=seed) for seed in range(3)]


def measure_run(lab, run):
    smoke = lab.scale == "smoke"
    yield from digit_analysis(lab, run, n=200 if smoke else 10_000)
    yield from intervened(lab, run, BEYOND, n=3 if smoke else 100)
    if "influence" not in lab.kept:  # of the first run
        digits, n = run.recipe.data.length, 3 if smoke else 50
        length = digits + BEYOND
        lab.kept["influence"] = influence(run, length, n)
        lab.kept["others"] = {f"last {digits}": truncated(run, length, digits, n)}
        lab.kept["title"] = (
            f"{NAME}, seed {run.recipe.seed}, trained on {digits} digits, asked {length}"
        )


def draw(drawing):
    from_rows.by_digit(
        drawing.rows,
        NAME,
        EXPLAINED,
        drawing.folder / "explained",
        "Explained by digit sum and carry",
    )
    if kept := drawing.kept:  # a picture of the first run, if it was measured now
        draw_influence(
            kept["influence"], drawing.folder / "intervention", kept["title"], kept["others"]
        )
