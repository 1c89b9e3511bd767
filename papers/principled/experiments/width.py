"""How wide zero padding is, and what becomes of longer sums: own width, 5, 9 and 20 places; three seeds (beyond the paper).

    tenfold reproduce principled/width

Sums of n digits by GPT nano with absolute positions and with relative keys (numbers from their units on), the same training in
each width. In its own width a problem has one place more than its longest number, so that all training problems have n + 1 and a
longer one stands elsewhere. The paper has 20, `principled/addition` 6. Every answer is graded against the truth and against the
sum of the last n digits.
Eight runs of 3 to 9 minutes a seed on one idle core with bfloat16 instructions at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.truncation.run_truncation import truncated
from tenfold.papers.principled.upward_recipes import WIDTHS
from tenfold.runs.recipe_files import recipe

WORDS = {width: "own width" if width == "own" else f"width {width}" for width in WIDTHS}
ABSOLUTE, RELATIVE = (
    {f"principled/addition-width-{width}-{positions}": words for width, words in WORDS.items()}
    for positions in ("absolute", "relative")
)


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in ABSOLUTE | RELATIVE]


def measure_run(lab, run):
    yield from truncated(lab, run)


def draw(drawing):
    last = from_rows.measured_as(drawing.rows, "exact-truncated")
    for positions, series in {"absolute": ABSOLUTE, "relative": RELATIVE}.items():
        title = f"Sums with {positions} positions, by width"
        from_rows.by_length(drawing.rows, series, drawing.folder / f"{positions}-truth", f"{title}: against the truth")  # fmt: skip
        from_rows.by_length(last, series, drawing.folder / f"{positions}-last-digits", f"{title}: against the last n digits")  # fmt: skip
