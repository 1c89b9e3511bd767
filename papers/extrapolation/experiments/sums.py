"""Does the series say anything of an encoder-decoder that adds? Seven encodings of its self-attention, two seeds (beyond the paper).

    tenfold reproduce extrapolation/sums

An adder of up to 6 digits, aligned by windows in cross-attention, looks at its own answer with weights by distance; asked up to
60 digits. A digit needs nothing but the digit before it: whatever else is looked at can only disturb. Of each: whether its series
`converges`; the nearest tokens with 95% of the weight (`trf`) and of the attention (`erf`) at ten times the training length, median of
heads and layers; and `rank-correlation` of these two over encodings. 14 runs of about 2 minutes each on one idle core at
laptop scale; finished runs are not done again.
"""

import statistics

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.reach.run_reach import measured
from tenfold.papers.extrapolation import scatter
from tenfold.papers.extrapolation.convergence import converges, ranked, series_in
from tenfold.runs.recipe_files import recipe

FIRST = "extrapolation/sums-alibi"
ENCODINGS = {
    "alibi": ("ALiBi", "alibi"),
    "type-1": ("Type 1", "type-1"),
    "power-2": ("power 2", {"name": "power", "power": 2.0}),
    "sandwich": ("Sandwich", "sandwich"),
    "inverse": ("1/n", "inverse"),
    "inverse-log": ("1/(n ln n)", "inverse-log"),
    "nope": ("none", "none"),
}
NAMES = {f"extrapolation/sums-{kind}": words for kind, (words, _) in ENCODINGS.items()}
TIMES = {"smoke": 2}


def grid(scale):
    return [
        recipe(FIRST, scale, seed=seed).replace(name=f"extrapolation/sums-{kind}", pe=pe)
        for seed in range(2)
        for kind, (_, pe) in ENCODINGS.items()
    ]


def measure(lab):
    for seed in sorted({run.recipe.seed for run in lab.runs}):
        pairs = []
        for run in (run for run in lab.runs if run.recipe.seed == seed):
            length = TIMES.get(lab.scale, 10) * run.recipe.data.length
            reach = measured(run, length, n=64)
            heads = reach.fields.attention.flatten().tolist()
            erf = statistics.median(heads)
            trf = statistics.median([each for layer in reach.theory for each in layer])
            pairs.append((erf, trf))
            about = {**lab.about(run), "length": length, "n": len(heads)}
            yield {**about, "metric": "erf", "value": erf}
            yield {**about, "metric": "trf", "value": trf}
            yield {**about, "metric": "converges", "value": float(converges(series_in(run)))}
        yield from ranked("extrapolation/sums", seed, "uniform", *zip(*pairs, strict=True))


def draw(drawing):
    from_rows.by_length(
        drawing.rows, NAMES, drawing.folder / "sums", "Sums, by the decoder's own encoding"
    )
    axes = "tokens, computed (TRF)", "tokens, measured (ERF)"
    erf, trf = scatter.values(drawing.rows, "erf"), scatter.values(drawing.rows, "trf")
    title = "Nearest tokens of the answer with 95% of attention"
    scatter.against(
        trf,
        erf,
        scatter.encodings(drawing.rows),
        NAMES,
        drawing.folder / "sums-fields",
        title,
        axes,
        equal=True,
    )
