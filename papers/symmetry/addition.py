"""Figure 2 of the `symmetry` paper at laptop scale: absolute against relative positions, three seeds.

    python papers/symmetry/addition.py        (or: make results)

About 15 minutes on two idle cores; finished runs are not done again. Writes results/symmetry-addition/.
"""

from pathlib import Path

from tenfold.lab.recipes import recipe
from tenfold.lab.together import train_together
from tenfold.report import write_report
from tenfold.report.progress import Watch

NAMES = ("symmetry/addition-absolute", "symmetry/addition-relative")
SEEDS = range(3)


def main() -> None:
    recipes = [recipe(name, seed=seed) for seed in SEEDS for name in NAMES]
    labels = [f"{r.name} seed {r.seed}" for r in recipes]
    with Watch(labels, [r.train.steps for r in recipes]) as watch:
        runs = train_together(recipes, tell=watch)
    title = "Addition in place, trained on up to 5 digits (2,000 steps, 3 seeds)"
    for path in write_report(runs, Path("results/symmetry-addition"), title).values():
        print(path)


if __name__ == "__main__":
    main()
