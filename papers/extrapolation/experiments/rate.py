"""Does the rate of convergence say how well perplexity is kept? 17 encodings on source code, three seeds (beyond the paper).

    tenfold reproduce extrapolation/rate

The runs of `extrapolation/perplexity`; what is finished is not done again, and nothing else is trained. Of each: what a text 18
times as long adds to the weight that a query spreads (`added`, the mean over heads, with the numbers as trained; slice `least`, of
the head that it adds least to), beside perplexity at 18 times the training length over that at once (`rise`). `rank-correlation`
of the two over encodings, over those alone that converge (slice `convergent`), with intervals over other such encodings, whose
lower ends are rows too (`rank-correlation-low`). Seconds.
"""

import statistics

from tenfold.papers.extrapolation import scatter
from tenfold.papers.extrapolation.convergence import (
    TIMES,
    added,
    converges,
    ranked,
    rise,
    series_in,
)
from tenfold.papers.extrapolation.experiments.perplexity import CORPUS, NAMES, grid

__all__ = ["draw", "grid", "measure"]
AMOUNTS = {"uniform": statistics.fmean, "least": min}


def measure(lab):
    for seed in sorted({run.recipe.seed for run in lab.runs}):
        pairs = {}  # slice: of each encoding (added, rise)
        for run in (run for run in lab.runs if run.recipe.seed == seed):
            short, series, value = run.recipe.data.length, series_in(run), rise(run)
            about = {**lab.about(run), "length": TIMES * short}
            yield {**about, "metric": "rise", "value": value, "n": 1}
            heads = added(series, short)
            for slice, take in AMOUNTS.items():
                amount = take(heads)
                pairs.setdefault(slice, []).append((amount, value))
                yield {
                    **about, "metric": "added", "slice": slice, "value": amount, "n": len(heads),
                }  # fmt: skip
            if converges(series):
                pairs.setdefault("convergent", []).append((statistics.fmean(heads), value))
        for slice, values in pairs.items():
            yield from ranked(CORPUS, seed, slice, *zip(*values, strict=True))


def draw(drawing):
    title = "Weight added, and perplexity"
    axes = (
        "weight added at 18 times the length, as a share",
        "perplexity, 18 times over once",
    )
    added_by = scatter.values(drawing.rows, "added")
    scatter.against(added_by, scatter.values(drawing.rows, "rise"), scatter.encodings(drawing.rows), NAMES, drawing.folder / "rate", title, axes, level=1.05, logarithmic=True)  # fmt: skip
