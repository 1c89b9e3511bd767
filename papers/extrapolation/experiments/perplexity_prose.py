"""Perplexity at up to 18 times the training length, of 17 encodings on docstrings, three seeds (Sections 3.2 and 3.4).

    tenfold reproduce extrapolation/perplexity-prose

51 runs of about 3 minutes each on an idle core at laptop scale, and a minute or two to measure each; finished runs are not
done again. As `extrapolation/perplexity`.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.extrapolation.convergence import sorted_by_series
from tenfold.papers.extrapolation.experiments.perplexity import ENCODINGS
from tenfold.runs.recipe_files import recipe

CORPUS = "extrapolation/prose"
NAMES = {f"{CORPUS}-{kind}": words for kind, words in ENCODINGS.items()}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]


def measure(lab):
    yield from sorted_by_series(lab, CORPUS)


def draw(drawing):
    from_rows.perplexity(drawing.rows, NAMES, drawing.folder / "perplexity-prose", "Docstrings")
    risen = "Docstrings, perplexity over that at once"
    from_rows.rise(
        drawing.rows, NAMES, drawing.folder / "rise-prose", risen, level=1.05, limits=(0.9, 1.3)
    )
