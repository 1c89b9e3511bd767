"""Models without a window, trained until they are proved right at every length: five tasks, two series.

    tenfold reproduce certified/soft-proofs

Trained on up to 5 digits until proved in exact arithmetic, or to the last step. The metrics `proved`, `in-float32`,
`contexts` and `margin` are those of the certificate; `far-attention`, `first-order`, `remainder` and `left` say what far
tokens can do at most. `first-order` of two layers is all that far keys do. Five seeds of addition, two or three of the others; about half an hour on one idle core.
"""

from tenfold.papers.certified.soft_rows import proof
from tenfold.runs.recipe_files import recipe

SEEDS = {
    "addition-alibi": 5,
    "successor-alibi": 3,
    "parity-alibi": 3,
    "subtraction-alibi": 2,
    "addition-type-1": 2,
    "addition-alibi-base-2-two-layers": 3,
    "multiplication-alibi": 2,
}
of_each_run = True


def grid(scale):
    return [
        recipe(f"certified/{name}", scale, seed=seed)
        for name, seeds in SEEDS.items()
        for seed in range(seeds)
    ]


def measure_run(lab, run):
    yield from proof(lab, run)
