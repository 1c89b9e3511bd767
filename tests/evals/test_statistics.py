import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenfold.core.errors import TenfoldError
from tenfold.evals.statistics import (
    MedianInterval,
    Ranked,
    bootstrap,
    holm,
    least_p,
    median_interval,
    paired,
    rank_correlation,
    success_rate,
    summarize,
    wilson,
)

VALUES = st.floats(0, 1, width=16)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [  # by hand: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), z = 1.959964
        (0, 10, 0.0, 0.277533),  # z^2 / (n + z^2)
        (10, 10, 0.722467, 1.0),
        (5, 10, 0.236593, 0.763407),
        (1, 1, 0.206549, 1.0),
    ],
)
def test_by_hand(right, n, low, high):
    assert wilson(right, n) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_as_published(right, n, low, high):
    """Newcombe 1998, table I, method 3."""
    assert wilson(right, n) == pytest.approx((low, high), abs=5e-5)


def test_another_level():
    assert wilson(5, 10, z=1.0) == pytest.approx((0.349244, 0.650756), abs=1e-6)


def test_mirrored():
    for right in range(21):
        low, high = wilson(right, 20)
        assert wilson(20 - right, 20) == pytest.approx((1 - high, 1 - low))
        assert 0 <= low <= right / 20 <= high <= 1


def test_nothing_counted():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "statistic", "interval"),
    [
        # two values: the four resamples have means 0, 1/2, 1/2, 1; each end has 1/4 of them
        ([0, 1], np.mean, (0, 1)),
        # the median of three is the least one if at least two of three draws are: 7/27 > 2.5%
        ([0.5, 0.2, 0.9], np.median, (0.2, 0.9)),
        # the mean of (0, 0, 0, 1) is 1 in 1/256 < 2.5%, at least 3/4 in (1 + 4 * 3)/256 = 5%; 0 in 81/256
        ([0, 0, 1, 0], np.mean, (0, 0.75)),
        # the mean of (0, 0, 1) is 1 in 1/27 = 3.7%, 0 in 8/27
        ([1, 0, 0], np.mean, (0, 1)),
        # all alike: no spread
        ([0.3] * 4, np.median, (0.3, 0.3)),
        # seven: the median is the least in P(Bin(7, 1/7) >= 4) = (7560 + 756 + 42 + 1)/7^7 = 1% of the
        # resamples, at most the second in P(Bin(7, 2/7) >= 4) = 89168/7^7 = 11%; 10,000 are drawn
        ([6, 5, 4, 3, 2, 1, 0], np.median, (1, 5)),
    ],
)
def test_bootstrap_by_hand(values, statistic, interval):
    assert bootstrap(values, statistic) == pytest.approx(interval, abs=1e-12)


def test_bootstrap_at_another_level():
    # the median of five is the least in P(Bin(5, 1/5) >= 3) = 5.8%, at most the second in 31.7%
    assert bootstrap([0, 1, 2, 3, 4], level=0.8) == (1, 3)
    assert bootstrap([0, 1, 2, 3, 4]) == (0, 4)


@given(st.lists(VALUES, min_size=2, max_size=4))
def test_bootstrap_as_counted_out(values):
    """Every resample in a plain loop, sorted; less than 2.5% lie outside on each side."""
    result = sorted(map(statistics.median, itertools.product(values, repeat=len(values))))
    outside = math.ceil(0.025 * len(result)) - 1
    assert bootstrap(values) == (result[outside], result[-1 - outside])


def test_bootstrap_draws_are_the_same_each_time():
    values = np.random.default_rng(0).random(9)
    assert bootstrap(values, np.mean) == bootstrap(values, np.mean)
    assert bootstrap(values, np.mean, seed=1) == pytest.approx(bootstrap(values, np.mean), abs=0.02)
    assert bootstrap(values, np.mean, seed=1) != bootstrap(values, np.mean)


def test_one_seed_has_no_interval():
    assert bootstrap([0.7]) is None
    assert median_interval([0.7]) is None
    assert summarize([0.7], n=[10], counted=True).interval is None
    assert paired({3: 1.0}, {3: 0.0}).interval is None


@pytest.mark.parametrize(
    ("n", "k", "coverage"),
    [  # tables of the sign test: 1 - 2 P(Bin(n, 1/2) < k), the greatest k of at least 95%
        (2, 1, 0.5),
        (3, 1, 0.75),
        (4, 1, 0.875),
        (5, 1, 0.9375),
        (6, 1, 0.96875),
        (8, 1, 0.9921875),
        (9, 2, 0.9609375),
        (10, 2, 0.978515625),
        (20, 6, 0.958610534),
    ],
)
def test_an_interval_for_the_median_by_hand(n, k, coverage):
    interval = median_interval(list(range(n, 0, -1)))
    assert (interval.low, interval.high) == (k, n + 1 - k)
    assert interval.coverage == pytest.approx(coverage)


SEEDS = {  # distributions of what seeds come to, and their median
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.0),
    "skewed": (lambda rng, shape: rng.exponential(size=shape), math.log(2)),
    "learned or not": (lambda rng, shape: rng.beta(0.2, 0.2, size=shape), 0.5),
}


@pytest.mark.parametrize("name", SEEDS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 9, 12])
def test_intervals_over_seeds_cover_as_often_as_they_say(name, n):
    """Simulated: within four standard errors of the stated coverage, and 95% or more from 6 seeds on."""
    sample, median = SEEDS[name]
    draws = 2000
    intervals = list(map(median_interval, sample(np.random.default_rng(n), (draws, n))))
    covered = sum(each.low <= median <= each.high for each in intervals) / draws
    stated = intervals[0].coverage
    assert covered == pytest.approx(stated, abs=4 * math.sqrt(stated * (1 - stated) / draws))
    assert stated >= 0.95 or n < 6


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_intervals_of_paired_differences_cover_as_often_as_they_say(n):
    rng, draws, covered = np.random.default_rng(n), 1000, 0
    for _ in range(draws):
        luck = rng.normal(size=n)  # of a seed, shared by both
        first, second = luck + 0.3 + rng.normal(size=n), luck
        interval = paired(dict(enumerate(first)), dict(enumerate(second))).interval
        covered += interval.low <= 0.3 <= interval.high
    stated = 1 - 2 / 2**n
    assert interval.coverage == stated
    assert covered / draws == pytest.approx(
        stated, abs=4 * math.sqrt(stated * (1 - stated) / draws)
    )


def test_ties_cover_more_often_than_stated():
    rolled = np.random.default_rng(0).choice([0.0, 1.0, 1.0], (1000, 3))  # the median is 1
    covered = sum(median_interval(values).high == 1 for values in rolled) / 1000
    assert covered > median_interval([0, 0, 1]).coverage


def test_the_bootstrap_of_a_median_would_cover_too_rarely():
    """Why it is not used over seeds: it claims 95% and covers about half with 2 seeds."""
    draws = np.random.default_rng(0).normal(size=(1000, 2))
    covered = sum(low <= 0 <= high for low, high in map(bootstrap, draws)) / 1000
    assert covered < 0.6


@pytest.mark.parametrize("values", [[], [0.1, math.nan], [math.inf]])
def test_what_is_no_number_is_refused(values):
    with pytest.raises(TenfoldError, match="finite numbers"):
        bootstrap(values)


def test_success_counts_the_bound_in():
    assert success_rate([1.0, 0.99, 0.9899, 0.0]) == 0.5
    assert success_rate([0.5, 0.6], least=0.6) == 0.5


def test_a_cell_by_hand():
    # 97 of the median seed's 100 problems are right; Wilson: p = 0.97, z^2 = 3.841459,
    # (0.97 + 0.0192073 -+ 1.959964 sqrt(0.000291 + 0.0000960365)) / 1.0384146 = 0.915481, 0.989745
    cell = summarize([0.97, 1.0, 0.40], n=[100, 100, 100], counted=True)
    assert (cell.seeds, cell.n, cell.median, cell.worst, cell.best) == (3, 300, 0.97, 0.4, 1.0)
    assert cell.success == pytest.approx(1 / 3)
    assert cell.interval == MedianInterval(0.4, 1.0, 0.75)
    assert cell.samples == pytest.approx((0.915481, 0.989745), abs=1e-5)


def test_an_even_number_of_seeds_has_its_median_between():
    cell = summarize([0.2, 0.4, 0.0, 1.0], n=[10, 20, 10, 10], counted=True)
    assert cell.median == pytest.approx(0.3)
    assert cell.samples == (wilson(2, 10)[0], wilson(8, 20)[1])
    assert summarize([0.2, 0.4], n=[1, 1]).samples is None


def test_more_seeds_on_the_same_problems_do_not_narrow_the_interval_over_samples():
    one = summarize([0.9], n=[100], counted=True)
    many = summarize([0.9] * 9, n=[100] * 9, counted=True)
    assert many.samples == one.samples == wilson(90, 100)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        # |+-0.4 +-0 +-0.3| is 0.7 in four of eight, 0.1 in the others
        ([0.4, 0.0, 0.3], 0.5),
        # all alike: only +++++ and ----- are as far
        ([0.1, 0.2, 0.3, 0.4, 0.5], 2 / 32),
        # 4+1+1-1 = 5; |4 +-1 +-1 +-1| is 7 once, 5 three times, 3 three times, 1 once
        ([4, 1, 1, -1], 0.5),
        # 3-1-1 = 1, and no signs come nearer to 0
        ([3, -1, -1], 1.0),
        ([0, 0], 1.0),
        ([1], 1.0),
        # 40 seeds are drawn; none but what was seen is as far: one of 10,000
        ([1] * 40, 1 / 10_000),
    ],
)
def test_sign_flips_by_hand(differences, p):
    reported = paired(dict(enumerate(differences)), dict.fromkeys(range(len(differences)), 0.0))
    assert reported.p == pytest.approx(p)
    assert reported.mean == pytest.approx(sum(differences) / len(differences))
    assert reported.median == statistics.median(differences)


def test_paired_over_common_seeds_alone():
    # common: 1, 2, 3 with 0.5, -0.2, 0
    reported = paired({0: 0.0, 1: 0.9, 2: 0.5, 3: 0.1}, {1: 0.4, 2: 0.7, 3: 0.1, 9: 1.0})
    assert (reported.seeds, reported.wins, reported.ties, reported.losses) == (3, 1, 1, 1)
    assert reported.mean == pytest.approx(0.1)
    assert reported.median == 0
    assert (reported.interval.low, reported.interval.high) == pytest.approx((-0.2, 0.5))
    assert reported.interval.coverage == 0.75


@given(st.dictionaries(st.integers(0, 9), VALUES, min_size=2), st.integers(0, 99))
def test_turned_round_the_signs_turn(values, seed):
    other = dict(zip(values, np.random.default_rng(seed).random(len(values)), strict=True))
    there, back = paired(values, other), paired(other, values)
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
    assert there.mean == pytest.approx(-back.mean)
    assert there.interval.low == pytest.approx(-back.interval.high)
    assert there.interval.coverage == back.interval.coverage
    assert there.p == back.p
    assert 2 / 2 ** len(values) <= there.p <= 1


def test_nothing_to_pair():
    with pytest.raises(TenfoldError, match="no seed in common"):
        paired({0: 1.0}, {1: 1.0})


def test_a_rank_correlation_is_that_of_ranks():
    rng = np.random.default_rng(0)
    for n in (4, 9, 14):
        x, y = rng.integers(0, 6, n).astype(float), rng.normal(size=n)

        def ranks(values):  # what is equal shares its rank, by plain loops
            return [sum(v < w for v in values) + sum(v == w for v in values) / 2 for w in values]

        result = rank_correlation(x, y)
        assert result.value == pytest.approx(np.corrcoef(ranks(x), ranks(y))[0, 1])
        low, high = result.interval
        assert -1 <= low <= result.value <= high <= 1
    assert rank_correlation(range(20), range(20)) == Ranked(1.0, (1.0, 1.0), 20)
    assert rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]).value == -1


@pytest.mark.parametrize(
    ("ps", "corrected"),
    [  # by hand: the k-th smallest of m times m - k + 1, at least the one before, at most 1
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
        ([0.6, 0.001], [0.6, 0.002]),
        ([0.5, 0.7], [1.0, 1.0]),
        ([0.03], [0.03]),
        ([], []),
    ],
)
def test_holm_by_hand(ps, corrected):
    assert holm(ps) == pytest.approx(corrected)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_lies_between_no_correction_and_bonferroni(ps):
    corrected = holm(ps)
    assert all(p <= q <= min(1, len(ps) * p) for p, q in zip(ps, corrected, strict=True))
    order = sorted(range(len(ps)), key=lambda number: ps[number])
    assert [corrected[number] for number in order] == sorted(corrected)


@pytest.mark.parametrize("seeds", [1, 2, 3, 5])
def test_the_least_p_is_reached_by_equal_signs(seeds):
    first = {seed: 1.0 + seed for seed in range(seeds)}
    zero = dict.fromkeys(range(seeds), 0.0)
    assert paired(first, zero).p == least_p(seeds)
    assert min(holm([least_p(seeds)] * 3)) == least_p(seeds, comparisons=3)


@given(st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=7))
def test_sign_flips_are_enumerated(differences):
    """p against a plain loop over all signs."""
    n = len(differences)
    seen = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=n)
    ]
    as_far = sum(total >= seen - 1e-9 for total in sums) / 2**n
    first = dict(enumerate(differences))
    assert paired(first, dict.fromkeys(first, 0.0)).p == as_far
