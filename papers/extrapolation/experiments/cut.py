"""Do models use more than their theoretical receptive field? Eight encodings with attention cut there, three seeds (Section 3.3).

    tenfold reproduce extrapolation/cut

Of models that `extrapolation/far` trains, at 128 times the training length: perplexity with each head cut at the nearest tokens that
hold all but a share eps of its weight, over that without a cut (`cut-change`, slices `eps-0.5`, `eps-0.05`, `eps-0.01`), of series
that converge. And cut at the field within the training length, which what diverges has too (slice `within`): `cut-change`, and
perplexity at 128 times over that at once, both with the cut (`cut-rise`). `kept`: the tokens that the median head still sees.
On half of the tokens that runs are measured on. 24 runs, which `extrapolation/far` has; about 3 minutes each to measure on an idle
core at laptop scale. `tenfold eval RUN --cut-at-trf 0.05` does the same for any run.
"""

import statistics

from matplotlib import pyplot

from tenfold.core.errors import TenfoldError
from tenfold.drawing.encoding_style import encoding_styles
from tenfold.drawing.figures import save_files
from tenfold.features.reach.cut_attention import cut_at_reach, reach_by_head
from tenfold.papers.extrapolation import scatter
from tenfold.papers.extrapolation.experiments.perplexity import ENCODINGS
from tenfold.runs.recipe_files import recipe

KINDS = ("alibi", "type-1", "type-2", "kerple-power", "power-2", "power-0.5", "inverse", "inverse-log")  # fmt: skip
NAMES = {f"extrapolation/far-{kind}": ENCODINGS[kind] for kind in KINDS}
SHARES = (0.5, 0.05, 0.01)
INSIDE = 0.05  # the share that is cut off within the training length


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]


def measure_run(lab, run):
    short, long = run.recipe.data.length, max(run.recipe.eval.lengths)
    n = max(run.recipe.eval.n // 2, long)
    about = {**lab.about(run), "length": long, "n": n}
    whole = perplexities(run, [long], n)
    for eps in SHARES:
        try:
            cut = cut_at_reach(run, eps)
        except TenfoldError:  # the series of some head diverges
            continue
        value = perplexities(run, [long], n, **cut)[long] / whole[long]
        named = {**about, "slice": f"eps-{eps:g}"}
        yield {**named, "metric": "cut-change", "value": value}
        yield {**named, "metric": "kept", "value": statistics.median(reach_by_head(run, eps))}
    at = perplexities(run, [short, long], n, **cut_at_reach(run, INSIDE, short))
    named = {**about, "slice": "within"}
    yield {**named, "metric": "cut-change", "value": at[long] / whole[long]}
    yield {**named, "metric": "cut-rise", "value": at[long] / at[short]}
    kept = statistics.median(reach_by_head(run, INSIDE, short))
    yield {**named, "metric": "kept", "value": kept}


def perplexities(run, lengths, n, **encodings):
    rows = run.evaluate(lengths, ["uniform"], n, **encodings)
    return {row.length: row.value for row in rows if row.metric == "perplexity"}


def draw(drawing):
    """Perplexity with the cut over that without, by the share that is cut off; of every encoding a line."""
    changes = {eps: scatter.values(drawing.rows, "cut-change", f"eps-{eps:g}") for eps in SHARES}
    shown = [name for name in NAMES if any(changes[eps].get(name) for eps in SHARES)]
    if not shown:
        return
    encodings = scatter.encodings(drawing.rows)
    looks = encoding_styles({name: encodings[name] for name in shown})
    figure, axes = pyplot.subplots(figsize=(5.2, 4.2), layout="constrained")
    for name in shown:
        there = [eps for eps in SHARES if changes[eps].get(name)]
        middle = [statistics.median(changes[eps][name]) for eps in there]
        axes.plot(there, middle, ms=4.5, lw=1.5, label=NAMES[name], **looks[name].line())
    axes.axhline(1, color="0.5", lw=0.8, dashes=(4, 2))
    axes.set(
        xscale="log",
        xlabel="share of the weight that is cut off",
        ylabel="perplexity, cut over whole",
    )
    axes.set_xticks(SHARES, [f"{eps:g}" for eps in SHARES])
    axes.minorticks_off()
    axes.grid(alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Attention cut at the receptive field", x=0.02, ha="left", fontsize=11)
    figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=8)
    save_files(figure, drawing.folder / "cut")
