"""Which lines stand out."""

import math

import pytest
import torch

from tenfold.features.calibration.line_selection import automatic, by_kappa, highest_z

NOISE = (0.03, -0.02, 0.05, 0.0, -0.04, 0.01, 0.02, -0.05, 0.04)


def kept(means, *, logarithm=False):
    means = torch.tensor(means, dtype=torch.float64)
    threshold = automatic(means, logarithm=logarithm)
    return [] if threshold is None else (means > threshold).nonzero()[:, 0].tolist()


@pytest.mark.parametrize("size", [1.0, 3.0, 30.0])
@pytest.mark.parametrize("lines", [1, 2, 3, 4])
def test_automatic_keeps_one_line_or_several_equal_ones(size, lines):
    assert kept([*NOISE, *[size] * lines]) == list(range(9, 9 + lines))


def test_automatic_keeps_lines_of_different_strength():
    weights = [0.62, 0.2, 0.012, 0.004, 0.02, 0.001, 0.01, 0.003]
    assert kept(weights, logarithm=True) == [0, 1]
    assert kept([math.log(weight) for weight in weights]) == [0, 1]


@pytest.mark.parametrize("means", [NOISE, [0.3] * 5, [0.0, 0.1, 0.2, 0.3], [7.0]])
def test_automatic_keeps_nothing_of_what_is_flat(means):
    assert kept(means) == []


def test_automatic_keeps_the_upper_part_of_a_slope():
    assert kept([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]) == [4, 5]


def test_automatic_does_not_tell_faint_lines_apart():
    """Whether a line has a millionth or a trillionth of the attention, the strong one is kept alone."""
    assert kept([0.9, 0.3, 1e-6, 1e-6, 1e-12, 1e-12, 1e-12], logarithm=True) == [0, 1]


def test_kappa_is_the_papers_rule():
    means = [1.0, 2.0, 6.0, 3.0]
    mu = sum(means) / 4
    sigma = math.sqrt(sum((mean - mu) ** 2 for mean in means) / 4)
    assert by_kappa(torch.tensor(means), 0.87) == pytest.approx(mu + 0.87 * sigma)


@pytest.mark.parametrize(("lines", "equal"), [(5, 1), (17, 1), (17, 2), (30, 3)])
def test_no_line_is_further_above_the_mean_than_the_bound(lines, equal):
    """Equal lines among others that are all alike reach it."""
    means = torch.tensor([1.0] * equal + [0.0] * (lines - equal), dtype=torch.float64)
    most = highest_z(lines, equal)
    assert by_kappa(means, most - 1e-6) < 1 < by_kappa(means, most + 1e-6)
