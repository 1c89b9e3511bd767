"""How few problems are enough, by encoding: sums from a training set of fixed size, three seeds (beyond the paper).

    tenfold reproduce principled/least-data

Absolute positions, relative keys by index and relative keys by column in windows, each from 1,000, 3,000 and 10,000 problems of
3 digits that are drawn once (the paper has 90,000) and are the same for every seed, a third of the steps of the whole recipe.
`principled/addition-relative-from-1000` is `principled/addition-relative` from 1,000. Asked are new sums.
Nine runs of up to 4 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

SERIES = {
    "principled/addition-absolute": "absolute",
    "principled/addition-relative": "relative",
    "principled/addition-aligned": "relative, by column, in windows",
}
COUNTS = {"smoke": (20, 50)}
USUAL = (1000, 3000, 10_000)
PART = 3  # of the steps


def grid(scale):
    digits = min(recipe(name, scale).data.length for name in SERIES)  # for all alike
    counts = COUNTS.get(scale, USUAL)
    return [fewer(recipe(name, scale, seed=seed), count, digits) for seed in range(3) for name in SERIES for count in counts]  # fmt: skip


def fewer(whole, count, digits):
    """The same from so many problems of so many digits."""
    sampler = {"name": "finite", "count": count, "inner": "longest"}
    return whole.replace(
        name=f"{whole.name}-from-{count}",
        claim="principled/least-data-aligned",
        data={"length": digits, "sampler": sampler},
        train={"steps": max(whole.train.steps // PART, 20)},
        eval={"validation": [digits]},
    )


def draw(drawing):
    n, counts = max(row["trained"] for row in drawing.rows), COUNTS.get(drawing.scale, USUAL)
    for beyond, name in ((0, "in-domain"), (2, "upward")):
        title = f"Sums of {n + beyond} digits, trained on {n}, by the size of the training set"
        from_rows.by_count(
            drawing.rows, SERIES, drawing.folder / name, title, length=n + beyond, counts=counts
        )
