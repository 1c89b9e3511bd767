"""The certified adder beside its rivals: the same size and data, at least the same budget, positions that are absolute, relative, rotary or ALiBi.

    python -m tenfold.papers.certified.rivals

Three seeds each; about eight minutes on two idle cores, finished runs are not done again. Writes results/certified-rivals/.
"""

from pathlib import Path

from tenfold.demo import RECIPES
from tenfold.drawing.report_page import write_report
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import recipe
from tenfold.sweeps.sweep import sweep
from tenfold.sweeps.sweep_progress import Board

SEEDS = range(3)
OUT = Path("results/certified-rivals")
STEPS = 2000  # several times what the certified adder takes
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 50, 100]


def main() -> None:
    recipes = [variant(name, source, seed) for name, source in RECIPES.items() for seed in SEEDS]
    with Board() as board:
        runs = sweep(recipes, progress=board)
    for path in write_report(runs, OUT, "Addition, trained on up to 5 digits").values():
        print(path)


def variant(name: str, source: str, seed: int) -> Recipe:
    """Rivals go on to the last step that the certified adder might have had; it stops when it is proved."""
    chosen = recipe(
        source, seed=seed, name=name, eval={"lengths": LENGTHS, "slices": ["uniform", "nines"]}
    )
    return chosen if chosen.stop else chosen.replace(train={"steps": STEPS})


if __name__ == "__main__":
    main()
