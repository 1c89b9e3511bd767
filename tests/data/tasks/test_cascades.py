"""Cascades and carries in a row, by plain loops; and that drawing by them is uniform."""

import itertools
import tracemalloc

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.carries import (
    consecutive_carries,
    draw_carries,
    draw_cascade,
    longest_cascade,
)


def slow_carries(example, base):
    """The most carries in a row of one pair, as taught in school."""
    carry = run = most = 0
    for a, b in zip(*example, strict=True):
        carry = (a + b + carry) // base
        run = run + 1 if carry else 0
        most = max(most, run)
    return most


@pytest.mark.parametrize("base", [2, 3, 10, 16])
def test_carries_by_a_plain_loop(rng, base):
    for sampler in (samplers.numbers, samplers.lengths, samplers.nines):
        digits, _ = sampler(rng, 500, 8, 2, base)
        slow = [slow_carries(example, base) for example in digits.tolist()]
        assert consecutive_carries(digits, base).tolist() == slow


@pytest.mark.parametrize(
    ("question", "cascade", "carries"),
    [("97+5", 2, 2), ("95+17", 1, 2), ("5555+5555", 1, 4), ("12+34", 0, 0), ("9999+1", 4, 4), ("18+81", 0, 0)],
)  # fmt: skip
def test_carries_in_a_row_are_not_a_cascade(question, cascade, carries):
    operands = Addition().parse(question).operands
    assert longest_cascade(operands).tolist() == [cascade]
    assert consecutive_carries(operands).tolist() == [carries]


def test_a_cascade_is_never_longer_than_the_carries(rng):
    digits, _ = samplers.mixed(rng, 2000, 12, 2, 10)
    assert (longest_cascade(digits) <= consecutive_carries(digits)).all()


def check_uniform(pairs, draw):
    """Every pair is drawn as often as any other."""
    digits = draw(np.random.default_rng(3), 400 * len(pairs))
    drawn, counts = np.unique(digits.reshape(len(digits), -1), axis=0, return_counts=True)
    assert sorted(map(tuple, drawn.tolist())) == sorted(pairs)
    chi_square, freedom = ((counts - 400) ** 2 / 400).sum(), len(pairs) - 1
    assert abs(chi_square - freedom) < 4 * (2 * freedom) ** 0.5


@pytest.mark.parametrize("wanted", [0, 1, 2])
def test_leading_zeros_are_as_likely_as_others(wanted):
    pairs = [
        pair
        for pair in itertools.product(range(4), repeat=4)
        if longest_cascade(np.array([[pair[:2], pair[2:]]], np.uint8), 4)[0] == wanted
    ]
    check_uniform(pairs, lambda rng, n: draw_cascade(rng, n, 2, 4, wanted, leading=False))


@pytest.mark.parametrize("wanted", [0, 1, 2])
def test_lone_carries_are_uniform_over_the_pairs(wanted):
    low, high = range(4), range(1, 4)
    pairs = []
    for pair in itertools.product(low, high, low, high):
        both = np.array([[pair[:2], pair[2:]]], np.uint8)
        if consecutive_carries(both, 4)[0] == wanted and longest_cascade(both, 4)[0] <= 1:
            pairs.append(pair)
    check_uniform(pairs, lambda rng, n: draw_carries(rng, n, 2, 4, wanted))


@pytest.mark.parametrize("base", [2, 10])
@pytest.mark.parametrize("length", [1, 2, 7, 70])
@pytest.mark.parametrize("draw", [draw_cascade, draw_carries])
def test_long_chains_draw_as_the_table_does(monkeypatch, base, length, draw):
    """A table of every column and state is the plain way; long chains compute its numbers when they are needed."""
    for wanted in sorted({0, 1, 2, length // 2, length - 1, length} & {*range(length + 1)}):
        drawn = []
        for short in (0, 100):
            monkeypatch.setattr("tenfold.data.tasks.carries.SHORT", short)
            try:
                drawn.append(draw(np.random.default_rng(5), 50, length, base, wanted).tolist())
            except TenfoldError:
                drawn.append(None)
        assert drawn[0] == drawn[1], wanted


def test_the_memory_of_a_long_cascade_grows_with_its_length():
    tracemalloc.start()
    try:
        digits = draw_cascade(np.random.default_rng(0), 2, 2000, 10, 1900)
        assert tracemalloc.get_traced_memory()[1] < 2000 * 1000  # the table takes 180 MB
    finally:
        tracemalloc.stop()
    assert longest_cascade(digits).tolist() == [1900, 1900]


def test_carries_that_a_base_cannot_have(rng):
    with pytest.raises(TenfoldError, match="no sum of 3 digits in base 2 has 0 carries in a row"):
        draw_carries(rng, 1, 3, 2, 0)
