"""Perplexity at up to 128 times the training length, of 16 encodings on source code, three seeds (Sections 3.2 and 3.4).

    tenfold reproduce extrapolation/far

Trained on 64 bytes at a time and read at up to 8,192, where the paper goes from 512 tokens to 9,216, which is 18 times. Judged by
perplexity at the longest length over the smallest of the curve (`rise-over-minimum`): more text in sight helps at first, which
would hide a rise over the perplexity at the training length. 48 runs of about 4 minutes each on an idle core at laptop scale, and 2
to measure each: about 5 hours of one core. Finished runs are not done again, and seeds can be added one by one:

    tenfold reproduce extrapolation/far --seeds 0 --add
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.extrapolation.convergence import (
    converges,
    perplexities,
    rise_over_minimum,
    series_in,
)
from tenfold.papers.extrapolation.experiments.perplexity import ENCODINGS
from tenfold.runs.recipe_files import recipe

NAMES = {
    f"extrapolation/far-{kind}": words for kind, words in ENCODINGS.items() if kind != "learned"
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]


def measure_run(lab, run):
    at = perplexities(run)
    about = {**lab.about(run), "length": max(at), "n": len(at)}
    yield {**about, "metric": "rise-over-minimum", "value": rise_over_minimum(at)}
    yield {**about, "metric": "converges", "value": float(converges(series_in(run)))}


def draw(drawing):
    title = "Source code, up to 128 times the training length"
    from_rows.perplexity(drawing.rows, NAMES, drawing.folder / "far", title)
    risen = "Source code, perplexity over that at once"
    from_rows.rise(
        drawing.rows, NAMES, drawing.folder / "rise-far", risen, level=1.05, limits=(0.8, 1.4)
    )
