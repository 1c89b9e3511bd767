"""Is it the series, or the temperature, the precision, the learning rate? ALiBi and 1/n on source code, two seeds (beyond the paper).

    tenfold reproduce extrapolation/robustness

Of the models that `extrapolation/perplexity` trains: perplexity at 18 times the training length over that at once (`rise`) with
attention flatter or sharper (logits times 0.8 and 1.25, slices `times-0.8` and `times-1.25`) and sharper the longer the text (times
ln(keys) / ln(training length) beyond that length, slice `log-length`); and by how much perplexity at 18 times differs in float64,
bfloat16 and float16 (`float64-difference`, ..., as a share), weights and activations alike, with the `rise` in each (slices
`float64`, ...). Biases are computed in single precision and rounded with the logits; losses are summed in double. Of new ones, trained for 333 steps at a quarter of the learning rate, at the same and at twice
that: perplexity, and how far they look (`erf`). About 16 minutes a seed on one idle core at laptop scale, with the first two models
at hand.
"""

import copy
import statistics

import torch

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.features.reach.run_reach import measured
from tenfold.papers.extrapolation.attention_scaling import constant, log_length, scaled
from tenfold.papers.extrapolation.convergence import TIMES
from tenfold.runs.recipe_files import recipe

NAMES = {"extrapolation/code-alibi": "ALiBi", "extrapolation/code-inverse": "1/n"}
RATES = (0.25, 1, 2)  # of the recipe's own
FACTORS = (0.8, 1.25)
PRECISIONS = {
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def grid(scale):
    own = [recipe(name, scale, seed=seed) for seed in range(2) for name in NAMES]
    return own + [at_rate(each, rate) for each in own for rate in RATES]


def at_rate(own, rate):
    """The same recipe with five twelfths of the steps, measured at two lengths alone."""
    short = own.data.length
    return own.replace(
        name=f"{own.name}-rate-{rate}",
        claim="extrapolation/learning-rate-plays-no-part",
        train={"steps": own.train.steps * 5 // 12, "lr": rate * own.train.lr},
        eval={"lengths": [short, TIMES * short], "slices": ["uniform"], "n": own.eval.n // 2},
    )


def measure_run(lab, run):
    if run.recipe.name in NAMES:
        yield from measured_again(lab, run)
    else:
        values = measured(run, n=64).fields.attention.flatten().tolist()
        about = {**lab.about(run), "length": run.recipe.data.length, "n": len(values)}
        yield {**about, "metric": "erf", "value": statistics.median(values)}


def measured_again(lab, run):
    short, model = run.recipe.data.length, run.model()
    about = {**lab.about(run), "length": TIMES * short, "n": tokens(run)}
    factors = {f"times-{factor}": constant(factor) for factor in FACTORS}
    for slice, factor in {**factors, "log-length": log_length(short)}.items():
        with scaled(model, factor):
            values = perplexity(run, model)
        value = values[TIMES * short] / values[short]
        yield {**about, "metric": "rise", "slice": slice, "value": value}
    single = perplexity(run, model)
    yield {**about, "metric": "rise", "value": single[TIMES * short] / single[short]}
    for name, precision in PRECISIONS.items():
        other = perplexity(run, copy.deepcopy(model).to(precision))
        value = abs(other[TIMES * short] / single[TIMES * short] - 1)
        yield {**about, "metric": f"{name}-difference", "value": value}
        value = other[TIMES * short] / other[short]
        yield {**about, "metric": "rise", "slice": name, "value": value}


def tokens(run):
    return run.recipe.eval.n // 2


def perplexity(run, model):
    """At once and at 18 times the training length."""
    short = run.recipe.data.length
    rows = run.built.source.measure(model, [short, TIMES * short], ["uniform"], tokens(run))
    return {row.length: row.value for row in rows if row.metric == "perplexity"}


def draw(drawing):
    named = {
        f"{name}-rate-{rate}": f"{words}, rate times {rate}"
        for name, words in NAMES.items()
        for rate in RATES
    }
    from_rows.perplexity(drawing.rows, named, drawing.folder / "rates", "Three learning rates")
