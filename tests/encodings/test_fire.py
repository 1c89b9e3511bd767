import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import FIRE, fire


@pytest.fixture
def pe(axis):
    """Beyond a threshold of 2 * 3 = 6 places, so that the rows lie on both sides of it."""
    return lively(FIRE(heads=4, hidden=5, threshold=3.0, axis=axis))


def lively(pe):
    torch.manual_seed(0)
    with torch.no_grad():
        pe.c.fill_(0.7)
        pe.multiplier.fill_(2.0)
        pe.contract.bias.normal_()
    return pe.double()


def bias_of_the_paper(pe, i, j):
    """f(psi(i - j) / psi(max(L, i))) for every head, for j <= i; eps is that of the paper's code."""
    c, limit = pe.c.item(), pe.threshold * pe.multiplier.item()
    share = math.log(c * (i - j) + 1) / (math.log(c * max(limit, i) + 1) + 1e-6)
    return network(pe, share)


def network(pe, share):
    (w, b), (v, d) = (
        (x.weight.tolist(), x.bias.tolist()) for x in (pe.expand, pe.contract)
    )  # (hidden, 1), (hidden,), (heads, hidden), (heads,)
    hidden = [max(0.0, row[0] * share + shift) for row, shift in zip(w, b, strict=True)]
    return [sum(map(math.prod, zip(row, hidden, strict=True))) + e for row, e in zip(v, d, strict=True)]  # fmt: skip


def test_by_loops(pe, places, by_loops):
    """Keys ahead have a share of -psi(j - i) / psi(max(L, j)): of our own, the paper has none."""

    def bias(h, i, j):
        if j <= i:
            return bias_of_the_paper(pe, i, j)[h - 1]
        c, limit = pe.c.item(), pe.threshold * pe.multiplier.item()
        share = -math.log(c * (j - i) + 1) / (math.log(c * max(limit, j) + 1) + 1e-6)
        return network(pe, share)[h - 1]

    assert_close(pe.bias(*places), by_loops(bias))


def test_slices_of_the_hidden_layer_are_the_whole(line, monkeypatch):
    pe, q_at, k_at = lively(FIRE(heads=4, hidden=5)), line(*range(7)), line(*range(9))
    whole = pe.bias(q_at, k_at)
    for room in (1, 2 * 9 * 5, 3 * 9 * 5 + 1):
        monkeypatch.setattr(fire, "ROOM", room)
        assert_close(pe.bias(q_at, k_at), whole)


def test_the_furthest_key_has_the_same_share_at_any_length(line):
    """Progressive interpolation: beyond the threshold, 0 is seen from everywhere alike."""
    pe = lively(FIRE(heads=4, threshold=3.0))
    bias = pe.bias(line(6, 60, 1_000_000), line(0))[0, :, :, 0]
    assert_close(bias[:, 0], bias[:, 1], rtol=0, atol=1e-5)
    assert_close(bias[:, 0], bias[:, 2], rtol=0, atol=1e-5)


def test_below_the_threshold_only_distance_matters(line):
    pe = lively(FIRE(heads=4, threshold=100.0))
    assert_close(pe.bias(line(5), line(2)), pe.bias(line(150), line(147)))
    assert (pe.bias(line(500), line(497)) - pe.bias(line(5), line(2))).abs().min() > 1e-4


def test_everything_is_learned(line):
    pe = lively(FIRE(heads=4))
    pe.bias(line(3, 7), line(0, 1)).pow(2).sum().backward()
    for name, parameter in pe.named_parameters():
        assert parameter.grad.abs().sum() > 0, name


def test_starts_as_in_the_paper(line):
    pe = FIRE(heads=4)
    assert pe.c == torch.tensor(0.1)
    assert pe.threshold * pe.multiplier == 512
    assert pe.expand.out_features == 32


@pytest.mark.parametrize("option", ["hidden", "threshold"])
def test_options(build, option):
    with pytest.raises(TenfoldError, match=f'encoding "fire": {option} is 0'):
        build("fire", **{option: 0})
