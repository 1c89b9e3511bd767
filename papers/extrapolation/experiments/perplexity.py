"""Perplexity at up to 18 times the training length, of 17 encodings on source code, three seeds (Sections 3.2 and 3.4).

    tenfold reproduce extrapolation/perplexity

51 runs of about 3 minutes each on an idle core at laptop scale, and a minute or two to measure each; finished runs are not
done again. Which series converges is decided by the formula, with the parameters that came out of training where these are
learned: one head whose sum diverges, and the encoding's does. The same on docstrings: `extrapolation/perplexity-prose`.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.extrapolation.convergence import sorted_by_series
from tenfold.runs.recipe_files import recipe

CORPUS = "extrapolation/code"
ENCODINGS = {
    "alibi": "ALiBi",
    "type-1": "Type 1",
    "type-2": "Type 2",
    "kerple-log": "Kerple-log",
    "kerple-power": "Kerple-power",
    "sandwich": "Sandwich",
    "inverse": "1/n",
    "inverse-log": "1/(n ln n)",
    "sinusoidal": "sinusoidal",
    "rotary": "rotary",
    "nope": "none",
    "learned": "learned",
    "power-0.5": "power 0.5",
    "power-0.75": "power 0.75",
    "power-1.25": "power 1.25",
    "power-2": "power 2",
    "power-4": "power 4",
}
NAMES = {f"{CORPUS}-{kind}": words for kind, words in ENCODINGS.items()}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]


def measure(lab):
    yield from sorted_by_series(lab, CORPUS)


def draw(drawing):
    from_rows.perplexity(drawing.rows, NAMES, drawing.folder / "perplexity-code", "Source code")
    risen = "Source code, perplexity over that at once"
    from_rows.rise(
        drawing.rows, NAMES, drawing.folder / "rise-code", risen, level=1.05, limits=(0.9, 1.3)
    )
