"""Addition in place, trained on up to 5 digits: absolute against relative positions, three seeds (Figure 2).

    tenfold reproduce symmetry/addition

About 15 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.runs.recipe_files import recipe

NAMES = ("symmetry/addition-absolute", "symmetry/addition-relative")


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]
