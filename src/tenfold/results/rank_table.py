"""One table of a ranking: methods in the order of their scores, and paired tests between those that fit.

A method is a set of runs that differ in their seed alone. Its score is the median over seeds of a metric, where each
seed counts with its mean over lengths. A method whose median seed is below a share of right answers at the lengths of
training does not fit: it is listed last, without a rank, and nothing is tested against it.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tenfold.core.errors import TenfoldError, unknown
from tenfold.evals.metrics import direction, is_share
from tenfold.evals.statistics import LEVEL, Paired, holm, least_p, paired
from tenfold.results.method_cost import MethodCost
from tenfold.runs.recipe import Recipe

ALPHA = 1 - LEVEL  # below it, a corrected p says that two methods differ
Values = Mapping[int, Mapping[int, float]]  # by seed, by length


@dataclass(frozen=True)
class RankedMethod:
    """A method, its values, and its place in the table."""

    name: str
    recipe: Recipe  # of its first run
    values: Values  # every measured length
    scores: Mapping[int, float]  # by seed: the mean over the lengths that are ranked
    fit: Mapping[int, float]  # by seed: the mean over the lengths of training, where measured
    fits: bool | None  # None: not measured, or the metric is no share of right answers
    cost: MethodCost
    rank: int | None = None  # methods with one median share a rank; None: does not fit

    @property
    def median(self) -> float:
        return statistics.median(self.scores.values())

    @property
    def median_fit(self) -> float | None:
        return statistics.median(self.fit.values()) if self.fit else None


@dataclass(frozen=True)
class RankedPair:
    """Two methods seed by seed; `test` is None if they have no seed in common, and `p` is Holm's corrected p."""

    first: str
    second: str
    test: Paired | None
    p: float | None

    @property
    def differs(self) -> bool | None:
        return None if self.p is None else self.p <= ALPHA


@dataclass(frozen=True)
class RankTable:
    """Methods that answered the same problems after the same training lengths, the best first."""

    title: str
    task: str
    format: str
    trained: int
    label: str  # "" if methods of different labels are ranked together
    metric: str
    slice: str
    checkpoint: str
    lengths: tuple[int, ...]  # that scores are means over
    methods: tuple[RankedMethod, ...]
    pairs: tuple[RankedPair, ...]  # all that were tested
    reference: str | None  # what the others are compared with; None if nothing was compared
    planned: bool  # the reference was named beforehand; otherwise it is the best method
    bar: float  # a share of right answers at trained lengths: below it, a method does not fit

    def against_reference(self, name: str) -> RankedPair | None:
        """The comparison of a method with the reference, the method first."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (name, self.reference):
                return pair
            if (pair.second, pair.first) == (name, self.reference):
                return _turned(pair)
        return None

    @property
    def rivals(self) -> list[RankedMethod]:
        """The methods that fit their trained lengths, as far as that is known."""
        return [method for method in self.methods if method.fits is not False]

    @property
    def seeds(self) -> tuple[int, int]:
        """The fewest and the most seeds of a method."""
        counts = [len(method.scores) for method in self.methods]
        return min(counts), max(counts)


def _turned(pair: RankedPair) -> RankedPair:
    test = pair.test
    if test is None:
        return RankedPair(pair.second, pair.first, None, None)
    interval = test.interval and replace(
        test.interval, low=-test.interval.high, high=-test.interval.low
    )
    turned = replace(
        test,
        mean=-test.mean,
        median=-test.median,
        interval=interval,
        wins=test.losses,
        losses=test.wins,
    )
    return RankedPair(pair.second, pair.first, turned, pair.p)


def in_order(methods: Sequence[RankedMethod], metric: str) -> list[RankedMethod]:
    """The methods with their ranks, the best first; those that do not fit come last, without a rank."""
    sign = direction(metric)

    def key(method: RankedMethod) -> tuple[bool, float, float, str]:
        mean = statistics.fmean(method.scores.values())
        return method.fits is False, -sign * _rounded(method.median), -sign * mean, method.name

    ordered = sorted(methods, key=key)
    medians = [_rounded(method.median) for method in ordered if method.fits is not False]
    ranks = [1 + medians.index(median) for median in medians]
    return [
        replace(method, rank=rank)
        for method, rank in itertools.zip_longest(ordered, ranks, fillvalue=None)
        if method is not None
    ]


def _rounded(value: float) -> float:
    """A value in which sums of the same numbers in another order are equal."""
    return float(f"{value:.12g}")


def compare_pairs(
    methods: Sequence[RankedMethod], metric: str, against: str | None = None
) -> tuple[list[RankedPair], str | None]:
    """Test methods that have a rank pair by pair, and name the method that the others are compared with.

    The best method is known only after looking, so its comparisons are corrected as a part of all pairs. A method that
    is named beforehand is compared with each other one, and the correction is over these comparisons alone.
    """
    rivals = [method for method in methods if method.rank is not None]
    if against is None:
        chosen = list(itertools.combinations(rivals, 2))
        reference = rivals[0].name if len(rivals) > 1 else None
    else:
        named = next((method for method in methods if method.name == against), None)
        if named is None:
            raise unknown("method of this ranking", against, [method.name for method in methods])
        if named.rank is None:
            raise TenfoldError(f"{against} does not fit its trained lengths; name another method")
        chosen = [(other, named) for other in rivals if other is not named]
        reference = against if chosen else None
    tests = [_test(first, second, metric) for first, second in chosen]
    corrected = iter(holm([test.p for test in tests if test is not None]))
    pairs = [
        RankedPair(first.name, second.name, test, None if test is None else next(corrected))
        for (first, second), test in zip(chosen, tests, strict=True)
    ]
    return pairs, reference


def _test(first: RankedMethod, second: RankedMethod, metric: str) -> Paired | None:
    if first.scores.keys().isdisjoint(second.scores):
        return None
    return paired(first.scores, second.scores, metric)


def fits(fit: Mapping[int, float], metric: str, bar: float) -> bool | None:
    """Whether the median seed reaches the bar at trained lengths; None where that has no meaning or was not measured."""
    return statistics.median(fit.values()) >= bar if fit and is_share(metric) else None


def table_notes(table: RankTable) -> list[str]:
    """What a reader of the table must know: what few seeds can show, and which methods and seeds are not tested."""
    notes = []
    tested = [pair.test.seeds for pair in table.pairs if pair.test is not None]
    if tested:
        notes.append(_few_seeds(max(tested), len(tested)))
    unfit = [method.name for method in table.methods if method.fits is False]
    if unfit:
        rule = f"{100 * table.bar:g}% right at trained lengths"
        which = "does" if len(unfit) == 1 else "do"
        notes.append(f"no rival, listed last: {', '.join(unfit)} {which} not reach {rule}")
    if is_share(table.metric) and (unknown_fit := [m.name for m in table.methods if not m.fit]):
        notes.append(f"not measured at trained lengths: {', '.join(unknown_fit)}")
    seeds = {method.name: set(method.scores) for method in table.methods if method.rank is not None}
    everywhere = set[int]().union(*seeds.values())
    for name, own in seeds.items():
        if lacking := sorted(everywhere - own):
            words = "seed" if len(lacking) == 1 else "seeds"
            numbers = ", ".join(map(str, lacking))
            notes.append(f"{name} has no {words} {numbers}: runs of others there have no partner")
    return notes


def _few_seeds(seeds: int, comparisons: int) -> str:
    """Say which p values so few seeds can show at all."""
    if seeds == 1:
        return "one seed each: nothing can be tested, and the order may be chance"
    least, corrected = least_p(seeds), least_p(seeds, comparisons)
    text = f"{seeds} seeds: no p below {least:.3g} is possible"
    if comparisons > 1:
        text += (
            f", none below {corrected:.3g} after Holm's correction over {comparisons} comparisons"
        )
    if corrected > ALPHA:
        enough = next(n for n in itertools.count(seeds) if least_p(n, comparisons) <= ALPHA)
        text += f"; a difference at {ALPHA:.2g} needs {enough} seeds"
    return text
