"""How few problems are enough, by encoding: sums from a training set of fixed size, three seeds (beyond the paper).

    tenfold reproduce principled/least-data

Absolute positions, relative keys by index and relative keys by column, each from 1,000, 3,000 and 10,000 problems that are drawn
once (the paper has 90,000) and are the same for every seed, a third of the steps of the whole recipe.
`principled/addition-relative-from-1000` is `principled/addition-relative` from 1,000. Asked are new sums.
Nine runs of up to 4 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.lab.recipes import recipe
from tenfold.report import from_rows

SERIES = {
    "principled/addition-absolute": "absolute",
    "principled/addition-relative": "relative",
    "principled/addition-aligned": "relative, by column",
}
COUNTS = {"smoke": (20, 50)}
USUAL = (1000, 3000, 10_000)
PART = 3  # of the steps


def grid(scale):
    counts = COUNTS.get(scale, USUAL)
    return [fewer(recipe(name, scale, seed=seed), count) for seed in range(3) for name in SERIES for count in counts]  # fmt: skip


def fewer(whole, count):
    """The same from so many problems."""
    sampler = {"name": "finite", "count": count, "inner": "longest"}
    steps = max(whole.train.steps // PART, 20)
    return whole.replace(name=f"{whole.name}-from-{count}", claim="principled/least-data-aligned", data={"sampler": sampler}, train={"steps": steps})  # fmt: skip


def draw(scale, rows, folder):
    n, counts = max(row["trained"] for row in rows), COUNTS.get(scale, USUAL)
    for beyond, name in ((0, "in-domain"), (2, "upward")):
        title = f"Sums of {n + beyond} digits, trained on {n}, by the size of the training set"
        from_rows.by_count(rows, SERIES, folder / name, title, length=n + beyond, counts=counts)
