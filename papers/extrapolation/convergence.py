"""Trained language models sorted by the series of their weights, and what a longer text did to their perplexity.

A series is that of the trained model: learned numbers count as they came out. One head whose sum diverges, and the
model's does. That is strict: Sandwich never falls below a fixed weight, and a Kerple-log with one head of p <= 1 is
harmonic there. So divergence is divided once more: *in practice*, if a text of `TIMES` the training length
adds more than a little to the weight of every head (1/n, and all that has no weights); *in the limit* alone, if
some head is settled by then, as the nearest-looking heads of convergent encodings are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tenfold.encodings.decay_series import Series
from tenfold.evals.statistics import rank_correlation
from tenfold.features.reach.advice import LITTLE
from tenfold.features.reach.partial_sums import growth
from tenfold.features.reach.series_by_name import series_of
from tenfold.ledger.experiments import Lab
from tenfold.models import attention_in
from tenfold.results.row_schema import Row
from tenfold.runs.run import Run

TIMES = 18  # how much longer than in training the longest text is


def series_in(run: Run) -> list[Series] | None:
    """Of each encoding in the trained stack; None where weights are no function of distance alone."""
    encodings = attention_in(run.model(), "a series of weights").stack.encodings
    every = [series_of(encodings[layer]) for layer in range(len(encodings.each))]
    stated = [series for series in every if series is not None]
    return stated if len(stated) == len(every) else None


def converges(series: Sequence[Series]) -> bool | None:
    """Whether every head's sum does; None: of some nobody knows, and of none that it does not.

    >>> from tenfold.encodings import ALiBi, Inverse
    >>> converges([ALiBi(heads=4).series()]), converges([ALiBi(4).series(), Inverse(4).series()])
    (True, False)
    """
    verdicts = [verdict.converges for each in series for verdict in each.verdicts]
    return False if False in verdicts else None if None in verdicts else True


def added(series: Sequence[Series], short: int) -> list[float]:
    """For every head, how much weight a text of `TIMES` the length adds, as a share of what there was."""
    return [head for each in series for head in growth(each, short, TIMES * short)]


def settled(series: Sequence[Series], short: int) -> bool:
    """Whether some head hardly gains weight beyond this length.

    >>> from tenfold.encodings import Inverse, Sandwich
    >>> settled([Sandwich(heads=4).series()], 128), settled([Inverse(heads=4).series()], 128)
    (True, False)
    """
    return min(added(series, short)) <= LITTLE


def rise(run: Run) -> float:
    """Perplexity at `TIMES` the training length over that at once."""
    short, at = run.recipe.data.length, perplexities(run)
    return at[TIMES * short] / at[short]


def rise_over_minimum(at: Mapping[int, float]) -> float:
    """Perplexity at the longest length over the smallest of the curve, so that a fall before the rise does not hide it.

    >>> rise_over_minimum({64: 5.0, 128: 4.0, 8192: 5.0})
    1.25
    """
    return at[max(at)] / min(at.values())


def perplexities(run: Run) -> dict[int, float]:
    """By length, of the best checkpoint."""
    return {
        row["length"]: row["value"]
        for row in run.result()["rows"]
        if (row["metric"], row["slice"], row["checkpoint"]) == ("perplexity", "uniform", "best")
    }


def sorted_by_series(lab: Lab, corpus: str) -> Iterator[Row]:
    """Rows of every run, and of every seed the worst of what converges and the best of what does not.

    `rise` and `converges` (1 or 0) of a run; `largest-rise` of CORPUS-convergent, `smallest-rise` of CORPUS-divergent, the latter
    also of those alone that diverge in practice (slice `in-practice`); of each of these the number of `encodings`.
    """
    for seed in sorted({run.recipe.seed for run in lab.runs}):
        convergent: list[float] = []
        divergent: list[float] = []
        in_practice: list[float] = []
        for run in (run for run in lab.runs if run.recipe.seed == seed):
            series, short, value = series_in(run), run.recipe.data.length, rise(run)
            about = {**lab.about(run), "length": TIMES * short, "n": 1}
            yield {**about, "metric": "rise", "value": value}
            convergence = None if series is None else converges(series)
            if series is None or convergence is None:
                continue
            yield {**about, "metric": "converges", "value": float(convergence)}
            (convergent if convergence else divergent).append(value)
            if not convergence and not settled(series, short):
                in_practice.append(value)
        yield from _extreme(f"{corpus}-convergent", seed, "largest-rise", convergent)
        yield from _extreme(f"{corpus}-divergent", seed, "smallest-rise", divergent)
        for row in _extreme(f"{corpus}-divergent", seed, "smallest-rise", in_practice):
            yield {**row, "slice": "in-practice"}


def ranked(
    recipe: str, seed: int, slice: str, first: Sequence[float], second: Sequence[float]
) -> Iterator[Row]:
    """`rank-correlation` of two lists with its interval, whose lower end is a row too, `rank-correlation-low`, that rules can read."""
    correlation = rank_correlation(first, second)
    if correlation is None:
        return
    low, high = correlation.interval or (None, None)
    about = {"recipe": recipe, "seed": seed, "slice": slice, "n": correlation.n}
    yield {
        **about,
        "metric": "rank-correlation",
        "value": correlation.value,
        "low": low,
        "high": high,
    }
    if low is not None:
        yield {**about, "metric": "rank-correlation-low", "value": low}


def _extreme(recipe: str, seed: int, metric: str, rises: Sequence[float]) -> Iterator[Row]:
    about = {"recipe": recipe, "seed": seed, "n": len(rises)}
    yield {**about, "metric": "encodings", "value": len(rises)}
    if rises:
        take = max if metric == "largest-rise" else min
        yield {**about, "metric": metric, "value": take(rises)}
