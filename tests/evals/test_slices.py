import numpy as np
import pytest

from tenfold.data.formats.numeric import InPlace, Reversed
from tenfold.data.tasks import TASKS
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.carries import consecutive_carries, longest_cascade
from tenfold.evals.exact_match import SLICES, pair_of
from tenfold.runs.recipe import Evaluation


def drawn(name, length, written=None):
    result = SLICES[name](length, Addition(), written or Reversed())
    return {k: s(np.random.default_rng(0), 200, length, 2, 10) for k, s in result.items()}


@pytest.mark.parametrize("task", TASKS.names())
@pytest.mark.parametrize("length", [1, 2, 3, 9])
def test_problems_of_this_length(task, length, rng):
    task = TASKS.build(task)
    for name in SLICES:
        for sampler in SLICES[name](length, task, Reversed()).values():
            examples = task.sample(20, length, rng, sampler)
            assert (examples.longest == length).all()


@pytest.mark.parametrize(
    ("task", "labels"),
    [
        ("addition", "uniform full unequal cascade-1 cascade-2 cascade-4 cascade-all nines"),
        ("subtraction", "uniform full unequal cascade-1 cascade-2 cascade-4 cascade-all power"),
        ("successor", "uniform full cascade-1 cascade-2 cascade-4 nines"),
        ("parity", "uniform full nines"),
        ("multiplication", "uniform full nines"),
        (
            "several",
            "uniform full sum-cascade-1 sum-cascade-2 sum-cascade-4 sum-cascade-all sum-nines product-nines",
        ),
        ("comparison", "uniform full unequal cascade-1 cascade-2 cascade-4 cascade-all equal"),
        (
            "modular-addition",
            "uniform full unequal cascade-1 cascade-2 cascade-4 cascade-all nines",
        ),
    ],
)
def test_a_task_says_what_is_hard(task, labels):
    questions = [name for name in SLICES if name in Evaluation().slices]
    result = [SLICES[name](5, TASKS.build(task), Reversed()) for name in questions]
    assert [label for one in result for label in one] == labels.split()


def test_cascades_are_what_their_label_says():
    result = drawn("cascades", 5)
    assert list(result) == ["cascade-1", "cascade-2", "cascade-4", "cascade-all"]
    for size, (digits, _) in zip((1, 2, 4, 5), result.values(), strict=True):
        assert set(longest_cascade(digits)) == {size}


def test_pads_are_counted_down_to_the_full_frame():
    assert [list(drawn("pads", n, InPlace(9))) for n in (5, 6, 8, 9)] == [
        [],
        ["pads-3"],
        ["pads-1"],
        ["pads-0"],
    ]
    assert drawn("pads", 5, Reversed()) == {}


def test_carries_in_a_row_that_do_not_run_on():
    result = drawn("carries", 10)
    assert list(result) == ["carries-1", "carries-2", "carries-4", "carries-8"]
    for size, (digits, _) in zip((1, 2, 4, 8), result.values(), strict=True):
        assert set(consecutive_carries(digits)) == {size}
        assert set(longest_cascade(digits)) == {1}
    assert SLICES["carries"](10, Addition(terms=3), Reversed()) == {}
    assert SLICES["carries"](10, TASKS.build("subtraction"), Reversed()) == {}


def test_full_only_where_nothing_is_padding():
    assert list(drawn("full", 5, InPlace(5))) == ["full"]
    assert drawn("full", 4, InPlace(5)) == {}
    assert list(drawn("full", 4, InPlace("fit"))) == ["full"]
    ((_, lengths),) = drawn("full", 4).values()
    assert (lengths == 4).all()


def test_unequal_needs_two_lengths():
    assert drawn("unequal", 1) == {}
    ((_, lengths),) = drawn("unequal", 4).values()
    assert (lengths.min(1) < 4).all()


def test_nines():
    ((digits, _),) = drawn("nines", 4).values()
    assert (digits == 9).all(-1).any(1).all()


def test_cascades_skip_what_cannot_be():
    assert SLICES["cascades"](5, Addition(terms=3), Reversed()) == {}
    binary = SLICES["cascades"](5, Addition(base=2), Reversed())
    assert list(binary) == ["cascade-1", "cascade-2", "cascade-4"]
    for sampler in binary.values():
        sampler(np.random.default_rng(0), 20, 5, 2, 2)


@pytest.mark.parametrize(
    ("task", "labels"),
    [
        ("addition", "5x1 5x2 5x4 1x5 2x5 4x5 5x5"),
        ("comparison", "5x1 5x2 5x4 1x5 2x5 4x5 5x5"),
        ("subtraction", "5x1 5x2 5x4 5x5"),  # the larger number comes first
        ("multiplication", ""),
        ("successor", ""),
        ("parity", ""),
    ],
)
def test_pairs_are_as_long_as_their_label_says(task, labels, rng):
    task = TASKS.build(task)
    result = SLICES["pairs"](5, task, Reversed())
    assert list(result) == labels.split()
    for label, sampler in result.items():
        lengths = task.sample(30, 5, rng, sampler).lengths
        assert {tuple(row) for row in lengths.tolist()} == {pair_of(label)}


def test_pairs_of_the_shortest_and_of_three():
    assert list(SLICES["pairs"](1, Addition(), Reversed())) == ["1x1"]
    assert SLICES["pairs"](5, Addition(terms=3), Reversed()) == {}


def test_pairs_are_numbers_of_every_kind():
    digits, _ = drawn("pairs", 4)["4x2"]
    assert set(digits[:, 0, 3]) == set(digits[:, 1, 1]) == set(range(1, 10))
    assert set(digits[:, 0, 0]) == set(range(10))
    assert not digits[:, 1, 2:].any()


def test_pairs_are_asked_only_where_they_are_named():
    named = {
        "carries",
        "hard",
        "levels",
        "multipliers",
        "pads",
        "pairs",
        "parts",
        "sentences",
        "shifted",
    }
    assert named.isdisjoint(Evaluation().slices)
    assert set(SLICES) == {*Evaluation().slices, *named}


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (Multiplication(3), {"multiplier-1": (0, 9), "multiplier-2": (10, 99), "multiplier-3": (100, 999)}),
        (Multiplication(2, most=12), {"multiplier-1": (0, 9), "multiplier-2": (10, 12)}),
        (Multiplication(2, most=7), {"multiplier-1": (0, 7)}),
        (Addition(), {}),
    ],
)  # fmt: skip
def test_multipliers_of_each_length(task, expected, rng):
    result = SLICES["multipliers"](4, task, Reversed())
    assert result.keys() == expected.keys()
    for label, (least, most) in expected.items():
        examples = task.sample(5000, 4, rng, result[label])
        digits = len(str(most))
        values = examples.operands[:, 0, :digits] @ 10 ** np.arange(digits)
        assert (values.min(), values.max()) == (least, most)
        assert (examples.lengths[:, 1] == 4).all()
