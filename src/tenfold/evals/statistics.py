"""Measurements, and statistics with what they are over: samples, seeds, or pairs of seeds.

All are deterministic: small cases are counted out, larger ones drawn with a fixed seed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.evals.metrics import direction, is_share

Interval = tuple[float, float]
Statistic = Callable[..., Any]  # called with (resamples, seeds) and axis=1, as np.median is

LEVEL = 0.95
SUCCESS = 0.99  # a seed has learned the task when it is right at least this often
DRAWS = 10_000
COUNTED_VALUES = 6  # up to here all n^n resamples are counted: 6^6 = 46,656
COUNTED_SIGNS = 16  # up to here all 2^n signs are: 65,536


@dataclass(frozen=True)
class Measurement:
    """One measurement over n problems: `exact`, with its 95% interval, or `digit`, the share of answer digits right.

    Digits of one problem are not independent trials, so `digit` has no interval.
    """

    length: int
    slice: str
    metric: str
    value: float
    n: int
    low: float | None = None
    high: float | None = None
    _: KW_ONLY
    evaluated_pe: str = ""  # the encoding that was used in the place of the run's own
    whole: int | None = None  # where tokens in sight alone were read: of how many, the rest, too

    def as_json(self) -> dict[str, Any]:
        """By the names of columns; a measurement with the run's own encoding has no `evaluated_pe`.

        `whole` is there where a model was decoded from the tokens in sight of each digit (`models/decoding.py`). It
        counts the problems whose answers were confirmed by a pass over the whole sequence.
        """
        empty = {"evaluated_pe": "", "whole": None}
        return {
            key: value
            for key, value in asdict(self).items()
            if key not in empty or value != empty[key]
        }


def wilson(right: int, n: int, z: float = 1.959964) -> Interval:
    """The Wilson score interval of a share, 95% by default: never outside 0..1, honest at 0 and at n.

    >>> [round(bound, 4) for bound in wilson(0, 100)]
    [0.0, 0.037]
    >>> [round(bound, 4) for bound in wilson(50, 100)]
    [0.4038, 0.5962]
    """
    if n == 0:
        return 0.0, 1.0
    share = right / n
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if right == 0 else (middle - spread) / scale
    high = 1.0 if right == n else (middle + spread) / scale
    return low, high


def bootstrap(
    values: Sequence[float],
    statistic: Statistic = np.median,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = LEVEL,
) -> Interval | None:
    """The percentile bootstrap interval of a statistic over many values; None of one value, which has no spread.

    The bounds are values that the statistic takes: below the lower one, and above the upper one, lie less
    than 2.5% of the resamples each. With few values the interval covers less than its level: for the median
    over seeds use `median_interval`.

    >>> bootstrap([0.2, 0.9, 1.0])
    (0.2, 1.0)
    >>> bootstrap([0.7]) is None
    True
    """
    given = _finite(values)
    n = len(given)
    if n == 1:
        return None
    if n <= COUNTED_VALUES:
        chosen = np.indices((n,) * n).reshape(n, -1).T  # (n^n, n)
    else:
        chosen = np.random.default_rng(seed).integers(0, n, (draws, n))
    resampled = np.asarray(statistic(given[chosen], axis=1), dtype=np.float64)
    tail = (1 - level) / 2
    low = np.quantile(resampled, tail, method="inverted_cdf")
    high = -np.quantile(-resampled, tail, method="inverted_cdf")
    return float(low), float(high)


@dataclass(frozen=True)
class MedianInterval:
    """An interval for the median over all possible seeds, and the probability that such an interval contains it."""

    low: float
    high: float
    coverage: float


def median_interval(values: Sequence[float], level: float = LEVEL) -> MedianInterval | None:
    """The narrowest symmetric interval between order statistics that covers the median at least at `level`.

    Below 6 values no interval reaches 95%; then it is the range, with its lower coverage. The interval from the
    k-th smallest to the k-th greatest of n values misses the median if fewer than k lie on one side of it, which
    has probability 2 P(Bin(n, 1/2) < k). This needs independent seeds and no assumption on their distribution;
    ties only raise the coverage. One value has no interval.

    >>> median_interval([0.2, 1.0, 0.9])
    MedianInterval(low=0.2, high=1.0, coverage=0.75)
    >>> median_interval(range(9))
    MedianInterval(low=1.0, high=7.0, coverage=0.9609375)
    """
    given = np.sort(_finite(values))
    n = len(given)
    if n == 1:
        return None
    k, coverage = 1, 1 - 2 / 2**n
    outside = 1 + n  # outcomes of 2^n with fewer than k + 1 values on one side
    while 1 - 2 * outside / 2**n >= level:
        k, coverage = k + 1, 1 - 2 * outside / 2**n
        outside += math.comb(n, k)
    return MedianInterval(float(given[k - 1]), float(given[-k]), coverage)


def success_rate(values: Sequence[float], least: float = SUCCESS) -> float:
    """The share of seeds that reach `least`.

    >>> success_rate([1.0, 0.99, 0.5, 0.2])
    0.5
    """
    return float((_finite(values) >= least).mean())


@dataclass(frozen=True)
class Cell:
    """What several seeds came to in one setting.

    `interval` is for the median over all possible seeds, with its coverage (None with one seed). `samples` is
    Wilson's over the problems of the median seed (of the two middle ones, the range of both): how finely such a model
    was measured, and nothing about other seeds. Problems of several seeds are not pooled, because every seed is asked
    the same ones.
    """

    seeds: int
    n: int  # problems, of all seeds together
    median: float
    worst: float
    best: float
    success: (
        float | None
    )  # the share of seeds that learned the task; None where values are no shares
    interval: MedianInterval | None
    samples: Interval | None


def summarize(
    values: Sequence[float], n: Sequence[int], *, counted: bool = False, metric: str = "exact"
) -> Cell:
    """The cell of these seeds, each with its number of problems; `counted` if each problem was right or wrong.

    The metric decides which of two values is worse; without a direction, `worst` is the smallest value.

    >>> cell = summarize([1.0, 0.5, 0.9], n=[10, 10, 10], counted=True)
    >>> cell.median, cell.worst, cell.best, round(cell.success, 3), cell.interval.coverage
    (0.9, 0.5, 1.0, 0.333, 0.75)
    >>> cell.samples == wilson(9, 10)
    True
    >>> cell = summarize([4.0, 5.0], n=[15, 15], metric="perplexity")
    >>> cell.worst, cell.best, cell.success
    (5.0, 4.0, None)
    """
    worst, best = min(values), max(values)
    if direction(metric) < 0:
        worst, best = best, worst
    return Cell(
        len(values),
        sum(n),
        statistics.median(values),
        worst,
        best,
        success_rate(values) if is_share(metric) else None,
        median_interval(values),
        _of_the_median(values, n) if counted else None,
    )


def _of_the_median(values: Sequence[float], n: Sequence[int]) -> Interval:
    """Wilson's interval of the middle seed, or the range of those of the two middle seeds."""
    ordered = sorted(zip(values, n, strict=True))
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    ends = [wilson(round(value * problems), problems) for value, problems in middle]
    return min(low for low, _ in ends), max(high for _, high in ends)


@dataclass(frozen=True)
class Paired:
    """Differences, first minus second, of seeds that both have."""

    seeds: int
    mean: float
    median: float
    interval: MedianInterval | None  # for the median difference; None with one seed
    wins: (
        int  # seeds where the first is better; of a metric without a direction, where it is higher
    )
    ties: int
    losses: int
    p: float  # two-sided: the share of sign flips whose mean is at least as far from 0


def paired(
    first: Mapping[Any, float], second: Mapping[Any, float], metric: str = "exact"
) -> Paired:
    """Compare two settings seed by seed. The metric decides which of two values wins.

    Had both the same chances, each difference could as well have the other sign; `p` is the share of all
    2^n sign flips that come out as far from 0 as what was seen. With n seeds it is at least 2 / 2^n.

    >>> result = paired({0: 0.9, 1: 0.8, 2: 1.0}, {0: 0.5, 1: 0.8, 2: 0.7, 3: 0.1})
    >>> (
    ...     result.seeds,
    ...     round(result.mean, 4),
    ...     round(result.median, 4),
    ...     result.wins,
    ...     result.ties,
    ...     result.losses,
    ...     result.p,
    ... )
    (3, 0.2333, 0.3, 2, 1, 0, 0.5)
    """
    common = [key for key in first if key in second]
    if not common:
        raise TenfoldError("there is nothing to pair: the two have no seed in common")
    differences = _finite([first[key] for key in common]) - _finite([second[k] for k in common])
    better = -differences if direction(metric) < 0 else differences
    return Paired(
        len(common),
        float(differences.mean()),
        float(np.median(differences)),
        median_interval(differences.tolist()),
        int((better > 0).sum()),
        int((better == 0).sum()),
        int((better < 0).sum()),
        _sign_flips(differences),
    )


def least_p(pairs: int, comparisons: int = 1) -> float:
    """The least p that a sign-flip test of so many pairs can give, after Holm's correction over several comparisons.

    >>> least_p(3), least_p(5), least_p(5, comparisons=10)
    (0.25, 0.0625, 0.625)
    """
    return min(1.0, comparisons * 2 / 2**pairs)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's correction: p values that keep the chance of any false difference below a level, in the given order.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none is smaller than the one before it.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    corrected, largest = [0.0] * len(ps), 0.0
    for place, number in enumerate(sorted(range(len(ps)), key=lambda number: ps[number])):
        largest = max(largest, min(1.0, (len(ps) - place) * ps[number]))
        corrected[number] = largest
    return corrected


@dataclass(frozen=True)
class Ranked:
    """A rank correlation over n pairs, and its 95% interval over other such pairs (None of fewer than 4)."""

    value: float
    interval: Interval | None
    n: int


def rank_correlation(
    first: Sequence[float], second: Sequence[float], *, draws: int = DRAWS, seed: int = 0
) -> Ranked | None:
    """Spearman's: how far two lists have the same order, what is equal sharing its rank; None where one has no order.

    The interval is a percentile bootstrap over pairs. Draws in which one list is all equal have no order and are left out.

    >>> rank_correlation([1, 2, 3, 4], [10, 20, 40, 30]).value
    0.8
    >>> rank_correlation([1, 2, 2], [1, 2, 2])
    Ranked(value=1.0, interval=None, n=3)
    >>> rank_correlation([1, 2], [5, 5]) is None
    True
    """
    pairs = np.stack([_finite(first), _finite(second)])  # (2, n)
    n = pairs.shape[1]
    if (pairs == pairs[:, :1]).all(1).any():
        return None
    (value,) = _spearman(pairs[:, None])
    if n < 4:
        return Ranked(float(value), None, n)
    chosen = np.random.default_rng(seed).integers(0, n, (draws, n))
    drawn = pairs[:, chosen]  # (2, draws, n)
    ordered = (drawn != drawn[:, :, :1]).any(-1).all(0)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(_spearman(drawn[:, ordered]), [tail, 1 - tail])
    return Ranked(float(value), (float(low), float(high)), n)


def _spearman(pairs: np.ndarray) -> np.ndarray:
    """(2, draws, n) -> (draws,): the correlation of ranks, each counted out against all others."""
    above = (pairs[..., :, None] > pairs[..., None, :]).sum(-1)
    alike = (pairs[..., :, None] == pairs[..., None, :]).sum(-1)
    ranks = above + alike / 2
    x, y = ranks - ranks.mean(-1, keepdims=True)
    return np.round((x * y).sum(-1) / np.sqrt((x**2).sum(-1) * (y**2).sum(-1)), 12)


def _sign_flips(differences: np.ndarray, draws: int = DRAWS, seed: int = 0) -> float:
    n = len(differences)
    if n <= COUNTED_SIGNS:
        signs = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)  # (2^n, n), +1s first
    else:  # what was seen is one of them, so that p is never 0
        drawn = np.random.default_rng(seed).choice((1, -1), (draws - 1, n))
        signs = np.concatenate([np.ones((1, n), dtype=drawn.dtype), drawn])
    sums = np.abs(signs @ differences)
    as_far = sums >= sums[0] - 1e-9 * np.abs(differences).sum()  # equal but for rounding
    return float(as_far.mean())


def _finite(values: Sequence[float]) -> np.ndarray:
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
        raise TenfoldError(
            f"{len(values)} values of seeds; at least one, all of them finite numbers"
        )
    return given
