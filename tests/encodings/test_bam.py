import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.encodings import BAM, ALiBi, Compose
from tenfold.features.reach.partial_sums import partial
from tenfold.features.reach.receptive_field import reach

A = [0.3, -2.0, 1.0, -0.7]
B = [0.5, 1.0, 2.0, -0.8]


def lively(pe, a, b):
    with torch.no_grad():
        pe.a.copy_(torch.tensor(a))
        pe.b.copy_(torch.tensor(b))
    return pe.double().requires_grad_()


def test_by_loops(places, by_loops, axis):
    pe = lively(BAM(heads=4, axis=axis), A, B)
    a, b = pe.a.tolist(), pe.b.tolist()

    def formula(h, i, j):
        return -math.exp(a[h - 1]) * (abs(i - j) + 1e-5) ** b[h - 1]

    bias = pe.bias(*places)
    at_zero = torch.tensor([formula(h, 0, 0) for h in range(1, 5)], dtype=torch.float64)
    unrelated = by_loops(lambda h, i, j: 0.0, unrelated=1.0) == 1
    expected = torch.where(unrelated, at_zero[:, None, None], by_loops(formula))
    assert_close(bias, expected)


def test_without_positions_at_the_start(line):
    pe, at = BAM(heads=4), line(0, 1, 7, 900)
    assert_close(pe.bias(at, at), torch.full((1, 4, 4, 4), -1.0))


def test_alibi_is_the_power_one(line):
    alibi, at = ALiBi(heads=4), line(0, 1, 7, 900)
    pe = lively(BAM(heads=4), alibi.slopes.log().tolist(), [1.0] * 4)
    assert_close(pe.bias(at, at), alibi.bias(at, at).double(), atol=1e-4, rtol=1e-5)


def test_a_negative_power_prefers_far_keys(line):
    pe = lively(BAM(heads=1), [0.0], [-0.5])
    bias = pe.bias(line(9), line(9, 8, 5, 0)).flatten()
    assert (bias.diff() > 0).all()


def test_beyond_the_bounds_it_is_at_the_bounds_and_can_come_back(line):
    pe = lively(BAM(heads=3), [50.0, -90.0, 0.0], [1.0, 9.0, -30.0])
    bias = pe.bias(line(5), line(3)).flatten()
    n = 2 + 1e-5
    expected = [-math.exp(10) * n, -math.exp(-20) * n**4, -(n**-4)]
    assert_close(bias, torch.tensor(expected, dtype=torch.float64))
    bias.sum().backward()
    assert (pe.a.grad != 0).all()
    assert (pe.b.grad != 0).all()


def test_finite_at_the_bounds_in_single_precision(line):
    pe = BAM(heads=4)
    with torch.no_grad():
        pe.a.fill_(99.0)
        pe.b.copy_(torch.tensor([9.0, -9.0, 4.0, -4.0]))
    at = line(0, 1, 1_000_000)
    bias = pe.bias(at, at)
    bias.sum().backward()
    assert bias.isfinite().all()
    assert pe.a.grad.isfinite().all()
    assert pe.b.grad.isfinite().all()


def test_the_series_converges_where_the_power_is_positive():
    series = lively(BAM(heads=4), A, [0.5, 2.0, 0.0, -0.8]).series()
    assert series.converges == [True, True, False, False]
    assert [verdict.why.split(":")[0] for verdict in series.verdicts] == ["converges"] * 2 + ["diverges"] * 2  # fmt: skip
    assert "rise with distance" in series.verdicts[3].why
    assert series.decay.wavy
    assert not lively(BAM(heads=4), A, [0.5, 2.0, 0.0, 1.0]).series().decay.wavy
    assert [field is None for field in reach(series)] == [False, False, True, True]


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (-1.0, 0.5), (-3.0, 2.0)])
def test_reach_by_summing(a, b):
    """The smallest number of nearest keys with 95% of the weight, term by term."""
    weights = [math.exp(-math.exp(a) * (n + 1e-5) ** b) for n in range(20_000)]
    total, so_far, count = sum(weights), 0.0, 0
    while so_far <= 0.95 * total:
        so_far += weights[count]
        count += 1
    (found,) = reach(lively(BAM(heads=1), [a], [b]).series(), eps=0.05)
    assert (found.low, found.high) == (count, count)


def test_a_rising_head_is_summed_term_by_term():
    series = lively(BAM(heads=1), [0.0], [-1.0]).series()
    expected = sum(math.exp(-1 / (n + 1e-5)) for n in range(100))
    assert_close(partial(series, 100).low[0, -1].item(), expected)


def test_with_scalable_softmax_it_is_the_paper_s_best():
    pe = Compose(["bam", "scalable-softmax"], heads=2)
    assert pe.ways == {"bias", "normalise"}
    assert len(list(pe.parameters())) == 3
