"""Perplexity at up to 18 times the training length, of 17 encodings on code and 12 on prose, two seeds (Sections 3.2 and 3.4).

    tenfold reproduce extrapolation/perplexity

58 runs of about 5 minutes each on an idle core at laptop scale, and a minute or two to measure each; finished runs are not
done again. Which series converges is decided by the formula, with the parameters that came out of training where these are
learned: one head whose sum diverges, and the encoding's does.
"""

from tenfold.lab.recipes import recipe
from tenfold.report import from_rows

PAPER = "extrapolation"
BOTH = {
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
}
POWERS = {f"power-{p}": f"power {p}" for p in ("0.5", "0.75", "1.25", "2", "4")}
CORPORA = {"code": BOTH | POWERS, "prose": BOTH}
TIMES = 18
NO_WEIGHT = {
    "sinusoidal",
    "rotary",
    "none",
}  # at distance n the weight is 1: a series that diverges


def names(corpus):
    return {f"{PAPER}/{corpus}-{kind}": words for kind, words in CORPORA[corpus].items()}


def grid(scale):
    wanted = [name for corpus in CORPORA for name in names(corpus)]
    return [recipe(name, scale, seed=seed) for seed in range(2) for name in wanted]


def converges(run):
    """Of a trained run: True, False, or None where its weights are no function of distance, or nobody knows."""
    model = run.model()
    found = [encoding.series() for encoding in model.stack.encodings.each]
    if None in found:
        return False if run.recipe.pe.name in NO_WEIGHT else None
    told = [verdict.converges for series in found for verdict in series.verdicts]
    return False if False in told else None if None in told else True


def rise(run):
    """Perplexity at 18 times the training length over that at once."""
    short = run.recipe.data.length
    at = {
        row["length"]: row["value"]
        for row in run.result()["rows"]
        if (row["metric"], row["slice"], row["checkpoint"]) == ("perplexity", "uniform", "best")
    }
    return at[TIMES * short] / at[short]


def measure(lab):
    for corpus in CORPORA:
        for seed in sorted({run.recipe.seed for run in lab.runs}):
            runs = [r for r in lab.runs if r.recipe.name in names(corpus) and r.recipe.seed == seed]
            decided = {run.recipe.name: (converges(run), rise(run)) for run in runs}
            for run in runs:
                found, value = decided[run.recipe.name]
                about = {**lab.about(run), "length": TIMES * run.recipe.data.length, "n": 1}
                yield {**about, "metric": "rise", "value": value}
                if found is not None:
                    yield {**about, "metric": "converges", "value": float(found)}
            for kind, wanted, metric, take in (
                ("convergent", True, "largest-rise", max),
                ("divergent", False, "smallest-rise", min),
            ):
                rises = [value for found, value in decided.values() if found is wanted]
                about = {"recipe": f"{PAPER}/{corpus}-{kind}", "seed": seed, "n": len(rises)}
                yield {**about, "metric": "encodings", "value": len(rises)}
                if rises:
                    yield {**about, "metric": metric, "value": take(rises)}


def draw(scale, rows, folder):
    for corpus, title in (("code", "Source code"), ("prose", "Docstrings")):
        from_rows.perplexity(rows, names(corpus), folder / f"perplexity-{corpus}", title)
