"""Every metric knows which direction is better; cells and comparisons use it."""

import csv
from pathlib import Path

import pytest

from tenfold.evals.metrics import MAIN, SHARES, TEXT, direction, is_share
from tenfold.evals.statistics import paired, summarize

HIGHER = (
    "exact", "digit", "digit-1", "digit-6-11", "exact-at-fit", "exact-covered", "exact-gain",
    "exact-predicted", "first-exact", "explained", "explained-3", "explained-true-1", "proved", "margin",
)  # fmt: skip
LOWER = (
    "perplexity", "loss", "bits-per-byte", "test-loss", "train-loss", "simulated-loss",
    "simulated-train-loss", "rise", "largest-rise", "smallest-rise", "no-end", "wrong",
    "coefficient-error", "logistic-error", "near-diagonal-error",
)  # fmt: skip
NEITHER = ("contexts", "lines", "erf", "rank-correlation", "exact-spread", "loss-over-limit", "")


@pytest.mark.parametrize("metric", HIGHER)
def test_more_is_better(metric):
    assert direction(metric) == 1
    cell = summarize([0.2, 0.9], n=[1, 1], metric=metric)
    assert (cell.worst, cell.best) == (0.2, 0.9)
    pairing = paired({0: 0.9, 1: 0.5}, {0: 0.2, 1: 0.5}, metric)
    assert (pairing.wins, pairing.ties, pairing.losses) == (1, 1, 0)


@pytest.mark.parametrize("metric", LOWER)
def test_less_is_better(metric):
    assert direction(metric) == -1
    cell = summarize([0.2, 0.9], n=[1, 1], metric=metric)
    assert (cell.worst, cell.best, cell.success) == (0.9, 0.2, None)
    pairing = paired({0: 0.9, 1: 0.5}, {0: 0.2, 1: 0.5}, metric)
    assert (pairing.wins, pairing.ties, pairing.losses) == (0, 1, 1)
    assert pairing.mean == pytest.approx(0.35)  # first minus second, whatever is better


@pytest.mark.parametrize("metric", NEITHER)
def test_neither_is_better(metric):
    assert direction(metric) == 0
    assert not is_share(metric)


def test_what_evaluations_measure_has_a_direction():
    assert all(direction(metric) for metric in (*SHARES, *TEXT, *MAIN))


def test_committed_shares_are_between_0_and_1():
    for path in Path(__file__).parents[2].glob("results/*/*/*/rows.csv"):
        with path.open() as file:
            for row in csv.DictReader(file):
                assert not is_share(row["metric"]) or 0 <= float(row["value"]) <= 1
