"""Perplexity at up to 18 times the training length, of 16 encodings on Wikipedia and books, two seeds (Sections 3.2 and 3.4).

    tenfold reproduce extrapolation/perplexity-wiki-book

The corpus is of the Hugging Face hub (`pip install 'tenfold[language]'`) and is downloaded when the first run starts;
`tenfold train` with `--task.wikipedia COPY --task.books COPY` reads a local copy instead. 32 runs of about 3 minutes each on an idle core at laptop scale, and a
minute or two to measure each. As `extrapolation/perplexity`, with the encodings that the paper names.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.extrapolation.convergence import sorted_by_series
from tenfold.papers.extrapolation.experiments.perplexity import ENCODINGS
from tenfold.runs.recipe_files import recipe

CORPUS = "extrapolation/wiki-book"
NAMES = {f"{CORPUS}-{kind}": words for kind, words in ENCODINGS.items() if kind != "learned"}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(2) for name in NAMES]


def measure(lab):
    yield from sorted_by_series(lab, CORPUS)


def draw(drawing):
    from_rows.perplexity(
        drawing.rows, NAMES, drawing.folder / "perplexity-wiki-book", "Wikipedia and books"
    )
    risen = "Wikipedia and books, perplexity over that at once"
    from_rows.rise(
        drawing.rows, NAMES, drawing.folder / "rise-wiki-book", risen, level=1.05, limits=(0.9, 1.3)
    )
