"""The list of relative columns: made by hand, and of adders that look back so many columns."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import SAMPLERS, TASKS
from tenfold.data.tasks.carries import longest_cascade
from tenfold.evals.exact_match import Examiner
from tenfold.features.influence.dependency_columns import Lists, between, relative_lists


def lists(matters):
    """By input column and answer column, of one operand."""
    shares = np.array(matters, dtype=np.float64)[None]
    return Lists(shares, np.ones_like(shares, dtype=np.int64))


def band(width, back):
    """Every answer digit depends on its own column and so many below."""
    return [[0 <= answer - below <= back for answer in range(width + 1)] for below in range(width)]


def test_one_list_for_all():
    found = lists(band(5, 2))
    assert found.commonest == {(0, 0), (0, 1), (0, 2)}
    assert found.same_list == 1.0  # near the ends as much of it as there is
    assert found.reach == 2


def test_a_digit_with_another_list():
    matters = band(5, 2)
    matters[1][3] = False  # two back from the answer's column 3
    matters[4][2] = True  # and one that looks ahead
    found = lists(matters)
    assert found.of(3) == {(0, 0), (0, 1)}
    assert found.of(2) == {(0, 0), (0, 1), (0, 2), (0, -2)}
    assert found.same_list == pytest.approx(4 / 6)
    assert found.reach == 2


def test_all_the_way_down():
    found = lists(band(5, 5))
    assert (found.same_list, found.reach) == (1.0, 5)


def test_nothing_matters():
    found = lists(np.zeros((5, 6)))
    assert (found.commonest, found.same_list, found.reach) == (frozenset(), 1.0, 0)


def test_half_is_enough():
    shares = np.where(np.array(band(5, 1)), 0.5, 0.49)
    assert lists(shares).reach == 1
    assert lists(shares - 0.02).commonest == frozenset()


@pytest.mark.parametrize(("low", "high"), [(0, 4), (1, 2), (3, 1), (0, 6), (4, 6)])
def test_columns_between_run_on(rng, low, high):
    digits = between(rng, 200, 6, 10, low, high)
    sums = digits.sum(1)
    assert (sums[:, low + 1 : high] == 9).all()
    assert (digits[..., -1] > 0).all()
    free = [c for c in range(6) if not low < c < high]
    assert all(len(set(sums[:, c].tolist())) > 8 for c in free)


@pytest.mark.parametrize("back", [0, 1, 3, 99])
def test_an_adder_that_looks_so_far_back(make_batcher, back, adder):
    examiner = Examiner(make_batcher("in_place", frame=6))
    found = relative_lists(examiner, adder(6, back=back), 5, n=6)
    assert found.reach == min(back, 5)
    assert found.same_list == 1.0
    assert {operand for operand, _ in found.commonest} == {0, 1}
    assert (found.counts > 0).all()


def test_the_problems_are_the_same_for_the_same_seed(make_batcher, adder):
    batcher = make_batcher("in_place", frame=6)
    one, two, other = (
        relative_lists(Examiner(batcher, seed), adder(6, back=1), 3, n=2) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.counts, two.counts)
    assert (one.counts != other.counts).any()


@pytest.mark.parametrize(
    "task", [{"name": "multiplication", "multiplier": 1}, {"name": "addition", "base": 2}]
)
def test_only_for_sums_of_two(make_batcher, task, adder):
    examiner = Examiner(make_batcher("in_place", frame=6, task=TASKS.build(task)))
    with pytest.raises(TenfoldError, match="sums of two numbers"):
        relative_lists(examiner, adder(6), 3)


def test_no_cascade_is_longer_than_most(rng):
    draw = SAMPLERS.bind({"name": "complexity", "most": 2, "shorter": True})
    found = longest_cascade(draw(rng, 3000, 5, 2, 10)[0])
    assert set(found.tolist()) == {0, 1, 2}
    assert np.bincount(found) / 3000 == pytest.approx([1 / 3] * 3, abs=0.04)
    short = longest_cascade(SAMPLERS.bind({"name": "complexity", "most": 5})(rng, 900, 3, 2, 10)[0])
    assert set(short.tolist()) == {0, 1, 2, 3}  # no longer than the numbers
    with pytest.raises(TenfoldError, match="most is -1"):
        SAMPLERS.bind({"name": "complexity", "most": -1})
