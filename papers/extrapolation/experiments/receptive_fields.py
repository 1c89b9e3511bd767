"""How far trained models look, against how far their encodings say that they can, two seeds (Section 3.3).

    tenfold reproduce extrapolation/receptive-fields

The models on source code whose encoding states a weight for each distance, trained by `extrapolation/perplexity`; what is
finished is not done again. Over 64 stretches of training's own length: of every head the nearest tokens that hold 95% of its
attention (`erf`), of what moves the last logit (`erf`, slice `gradient`), and of the weights that its formula gives, summed within
the same length with the numbers as trained (`trf`) and as first drawn (`trf`, slice `drawn`): the median over heads and layers.
Slice `input`: the whole model's field, by the gradient at its input. `rank-correlation` over encodings, of `trf` with each of the
three, and of attention with `trf` before training; intervals are over other such encodings. Seconds a run, without training.
"""

import statistics

from tenfold.features.reach.run_reach import measured, theoretical_reach
from tenfold.papers.extrapolation import scatter
from tenfold.papers.extrapolation.convergence import ranked
from tenfold.papers.extrapolation.experiments import perplexity
from tenfold.runs.recipe_files import recipe

CORPUS = perplexity.CORPUS
WITHOUT = {
    f"{CORPUS}-{kind}" for kind in ("sinusoidal", "rotary", "learned")
}  # no weight for a distance
NAMES = {name: words for name, words in perplexity.NAMES.items() if name not in WITHOUT}
ROWS = {"smoke": 4}  # stretches of text
COMPARED = {"uniform": "uniform", "gradient": "uniform", "input": "uniform", "drawn": "drawn"}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(2) for name in NAMES]


def measure(lab):
    for seed in sorted({run.recipe.seed for run in lab.runs}):
        erf, trf = {key: [] for key in COMPARED}, {"uniform": [], "drawn": []}
        for run in (run for run in lab.runs if run.recipe.seed == seed):
            for metric, slice, value, n in fields(run, ROWS.get(lab.scale, 64)):
                (erf if metric == "erf" else trf)[slice].append(value)
                about = {**lab.about(run), "length": run.recipe.data.length, "n": n}
                yield {**about, "metric": metric, "slice": slice, "value": value}
        erf["drawn"] = erf["uniform"]
        for slice, other in COMPARED.items():
            yield from ranked(CORPUS, seed, slice, erf[slice], trf[other])


def fields(run, rows):
    """(metric, slice, value, how many it is the median of)"""
    reaches = measured(run, n=rows)
    layers, per_layer = reaches.fields.attention.shape
    heads = layers * per_layer
    yield "erf", "uniform", statistics.median(reaches.fields.attention.flatten().tolist()), heads
    yield (
        "erf",
        "gradient",
        statistics.median(reaches.fields.head_gradient.flatten().tolist()),
        heads,
    )
    yield "erf", "input", reaches.fields.gradient, 1
    drawn = theoretical_reach(run.built.model(), per_layer, reaches.fields.tokens)
    for slice, theory in (("uniform", reaches.theory), ("drawn", drawn)):
        yield "trf", slice, statistics.median([each for layer in theory for each in layer]), heads


def draw(drawing):
    trf, drawn = scatter.values(drawing.rows, "trf"), scatter.values(drawing.rows, "trf", "drawn")
    for slice, file, words in (
        ("uniform", "fields", "Nearest tokens with 95% of attention"),
        ("gradient", "fields-gradient", "Nearest tokens that move the last logit"),
    ):
        axes = "tokens, computed (TRF); large and hollow: before training", "tokens, measured (ERF)"
        erf = scatter.values(drawing.rows, "erf", slice)
        scatter.against(
            trf,
            erf,
            scatter.encodings(drawing.rows),
            NAMES,
            drawing.folder / file,
            words,
            axes,
            beside=drawn,
            equal=True,
        )
