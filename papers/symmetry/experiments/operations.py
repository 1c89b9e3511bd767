"""What the paper leaves to later work: more than two integers, and two operations in one model; three seeds.

    tenfold reproduce symmetry/operations

Sums of three numbers; sums of two, three and four in one model; sums and products in one model, by relative positions
alone and with a vector for the multiplier's digit. Beside them the models of one operation each.
About 70 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

TWO, RELATIVE = "symmetry/two-operations", "symmetry/two-operations-relative"
THREE, TERMS = "symmetry/addition-3-relative", "symmetry/addition-terms"
SUMS, PRODUCTS = "symmetry/addition-relative", "symmetry/multiplication-1-uniform"
OPERATIONS = {
    f"{TWO} sum": "sums, beside products",
    f"{RELATIVE} sum": "sums, beside products, relative alone",
    f"{SUMS} uniform": "sums alone",
    f"{TWO} product": "products, beside sums",
    f"{RELATIVE} product": "products, beside sums, relative alone",
    f"{PRODUCTS} uniform": "products alone",
}
NUMBERS = {
    f"{TERMS} two": "two, in one model",
    f"{TERMS} three": "three, in one model",
    f"{TERMS} four": "four, in one model",
    f"{THREE} uniform": "three alone",
    f"{SUMS} uniform": "two alone",
}


def grid(scale):
    names = (THREE, TERMS, TWO, RELATIVE, SUMS, PRODUCTS)
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def draw(drawing):
    """A curve for every part of a model: its slice is part of its name."""
    parts = [
        {**row, "recipe": f"{row['recipe']} {row['slice']}", "slice": "uniform"}
        for row in drawing.rows
    ]
    from_rows.by_length(
        parts,
        OPERATIONS,
        drawing.folder / "two-operations",
        "Addition and multiplication in one model",
    )
    from_rows.by_length(
        parts, NUMBERS, drawing.folder / "numbers", "Sums of two, three and four numbers"
    )
