"""The parallel algorithms against Python integers, their levels against cascades, and what is printed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import SAMPLERS, TASKS, samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.carries import longest_cascade
from tenfold.data.tasks.carry_levels import (
    add,
    common,
    counted,
    level,
    multiply,
    printed_addition,
    printed_multiplication,
    ripple,
)


def digits_of(values, width, base=10):
    """Python integers of any size as digits, units first."""
    rows = [[value // base**place % base for place in range(width)] for value in values]
    return np.array(rows, dtype=np.uint8)


def value_of(digits, base=10):
    return sum(digit * base**place for place, digit in enumerate(digits))


def slow_levels(columns, base):
    """One row, column by column, digit by digit."""
    columns, levels = list(columns), 0
    while max(columns) >= base:
        after = [0] * len(columns)
        for place, value in enumerate(columns):
            while value:
                after[place] += value % base
                value, place = value // base, place + 1
        columns, levels = after, levels + 1
    return columns, levels


@given(
    st.integers(2, 16),
    st.lists(st.lists(st.integers(0, 10**30), min_size=3, max_size=3), min_size=1, max_size=9),
)
def test_sums_are_those_of_python(base, rows):
    rows = [list(row) for row in zip(*rows, strict=True)]  # examples of as many addends each
    operands = np.stack([digits_of(row, 110, base) for row in rows])
    sums = add(operands, base)
    assert [value_of(each, base) for each in sums.digits.tolist()] == [sum(row) for row in rows]


@pytest.mark.parametrize("few", [1, 2, 3])
@pytest.mark.parametrize("base", [2, 10, 16])
def test_products_are_those_of_python(rng, base, few):
    for length in (1, 5, 40):
        multiplier, _ = samplers.lengths(rng, 300, few, 1, base)
        number, _ = samplers.nines(rng, 300, length, 1, base)
        product = multiply(multiplier[:, 0], number[:, 0], base)
        wanted = [
            value_of(a, base) * value_of(b, base)
            for a, b in zip(multiplier[:, 0].tolist(), number[:, 0].tolist(), strict=True)
        ]
        assert [value_of(each, base) for each in product.digits.tolist()] == wanted
        assert product.digits.shape == (300, length + few)


def test_rows_take_their_own_levels(rng):
    columns = np.zeros((200, 12), dtype=np.int64)
    columns[:, :8] = rng.integers(0, 400, (200, 8)) * (rng.random((200, 8)) < 0.2)
    result = ripple(columns, 7)
    for row in range(200):
        digits, levels = slow_levels(columns[row].tolist(), 7)
        assert result.digits[row].tolist() == digits
        assert result.levels[row] == levels
    assert len(set(result.levels.tolist())) > 3


@pytest.mark.parametrize("base", [2, 3, 10, 16])
@pytest.mark.parametrize("length", [1, 2, 3, 12])
def test_levels_of_a_sum_are_its_longest_cascade(rng, base, length):
    """Exactly, for two addends: a column that carried keeps at most base - 2, so that no other carry can follow."""
    for sampler in (samplers.complexity, samplers.numbers, samplers.nines):
        operands, _ = sampler(rng, 500, length, 2, base)
        assert (add(operands, base).levels == longest_cascade(operands, base)).all()
    assert set(longest_cascade(samplers.complexity(rng, 500, length, 2, base)[0], base)) == set(
        range(length + 1)
    )


@pytest.mark.parametrize("base", [2, 3, 10])
def test_levels_of_a_one_digit_product_are_one_more_than_cascades_after_the_first(rng, base):
    multiplier, _ = samplers.numbers(rng, 4000, 1, 1, base)
    number, _ = samplers.numbers(rng, 4000, 9, 1, base)
    levels = multiply(multiplier[:, 0], number[:, 0], base).levels
    columns = np.zeros((4000, 10), dtype=np.int64)
    columns[:, :9] = multiplier[:, 0].astype(np.int64) * number[:, 0]
    after = level(columns, base)
    half = after // 2  # two addends with these columns
    cascade = longest_cascade(np.stack([half, after - half], 1), base)
    assert (levels == np.where((columns >= base).any(1), 1 + cascade, 0)).all()
    assert levels.max() >= (4 if base > 2 else 0)


def test_what_does_not_fit_is_refused():
    with pytest.raises(TenfoldError, match="does not fit 2 digits of base 10"):
        ripple(np.array([[5, 10]]))
    with pytest.raises(TenfoldError, match="does not fit 1 digits of base 10"):
        ripple(np.array([[1000]]))


def test_the_printed_addition_loses_carries():
    """99+1: run to the letter, the answer is 0; also where its loops reach the highest column."""
    for mended in (False, True):
        assert printed_addition([9, 9], [1, 0], mended=mended) == [0, 0, 0]
        assert printed_addition([2, 1], [5, 4], mended=mended) == [7, 5, 0]
        assert printed_addition([9, 1], [9, 2], mended=mended) == [8, 4, 0]
    assert printed_addition([0, 5], [0, 5]) == [0, 0, 0]
    assert printed_addition([0, 5], [0, 5], mended=True) == [0, 0, 1]


def test_the_printed_addition_is_right_where_no_carry_runs_on(rng):
    operands, _ = samplers.numbers(rng, 500, 4, 2, 10)
    right = add(operands)
    for row, (first, second) in enumerate(operands.tolist()):
        printed = printed_addition(first, second, mended=True)
        assert (printed == right.digits[row].tolist()) == (right.levels[row] <= 1)


def test_the_printed_multiplication_loses_carries():
    assert printed_multiplication([2], [3, 4]) == [6, 8, 0]
    assert printed_multiplication([4], [6, 2]) == [4, 0, 0]  # 104
    assert printed_multiplication([2, 1], [9]) == [8, 0, 0]  # 108
    assert printed_multiplication([2, 1], [9], mended=True) == [8, 0, 1]
    assert printed_multiplication([9, 9], [9, 8], mended=True) == [1, 1, 7, 7]  # 8811


def drawn(task, n, length, rng, **options):
    return task.sample(n, length, rng, SAMPLERS.bind({"name": "levels", **options}))


@pytest.mark.parametrize(("multiplier", "most"), [(1, 4), (2, 4), (3, 5)])
def test_products_uniform_over_levels(rng, multiplier, most):
    task = Multiplication(multiplier=multiplier)
    examples = drawn(task, 600, 5, rng, multiplier=multiplier, most=most)
    levels = multiply(examples.operands[:, 0, :multiplier], examples.operands[:, 1]).levels
    counts, expected = np.bincount(levels), 600 / (most + 1)
    assert len(counts) == most + 1
    assert (abs(counts - expected) < 5 * expected**0.5).all()


@pytest.mark.parametrize("terms", [2, 3])
def test_sums_uniform_over_the_levels_that_are_not_rare(rng, terms):
    """Without `most`: of three numbers of 5 digits hardly any sum has no carry at all, which is not asked for then."""
    examples = drawn(Addition(terms=terms), 600, 5, rng)
    counts = np.bincount(add(examples.operands).levels)
    assert np.flatnonzero(counts).tolist() == {2: [0, 1, 2, 3], 3: [1, 2, 3, 4]}[terms]
    assert (abs(counts[counts > 0] - 150) < 5 * 150**0.5).all()


def test_a_share_of_them(rng):
    """The others as they come: of 4000 products of 5 digits 8 have 4 levels."""
    examples = drawn(Multiplication(), 4000, 5, rng, share=0.25, least=4, most=4)
    four = (counted(examples.operands, 10, product=True) == 4).sum()
    assert abs(four - 1000) < 5 * 1000**0.5


def test_largest_multiplier(rng):
    task = Multiplication(multiplier=2, most=12)
    examples = drawn(task, 300, 4, rng, multiplier=2, largest=12)
    value = examples.operands[:, 0, 0] + 10 * examples.operands[:, 0, 1]
    assert set(value.tolist()) == set(range(13))
    for sampler in task.by_levels(4).values():
        task.sample(50, 4, rng, sampler)  # else solve refuses what is larger


def test_among_the_products_of_a_level_nothing_is_preferred():
    """One digit times up to two in base 3: 3 * 9 problems, those of a level all as likely."""
    operands, lengths = samplers.levels(np.random.default_rng(1), 20_000, 2, 1, 3, most=2)
    rows = operands.reshape(-1, 4)[:, [0, 2, 3]]
    levels = multiply(operands[:, 0, :1], operands[:, 1], 3).levels
    assert set(levels.tolist()) == {0, 1, 2}
    for each in range(3):
        _, counts = np.unique(rows[levels == each], axis=0, return_counts=True)
        assert (abs(counts - counts.mean()) < 5 * counts.mean() ** 0.5).all()
    count = len(np.unique(rows, axis=0))
    assert count == 27
    assert (lengths[:, 0] == 1).all()


def test_levels_that_no_product_has(rng, monkeypatch):
    monkeypatch.setattr("tenfold.data.tasks.carry_levels.TRIES", 10_000)
    with pytest.raises(TenfoldError, match=r"none of .* problems of up to 2 digits has 3 levels"):
        samplers.levels(rng, 50, 2, 1, 10, most=3)
    with pytest.raises(TenfoldError, match="no levels from 5 to 4"):
        samplers.levels(rng, 50, 2, 1, 10, least=5, most=4)


@pytest.mark.parametrize("name", ["successor", "parity"])
def test_a_number_alone_has_no_levels(rng, name):
    task = TASKS.build(name)
    with pytest.raises(TenfoldError, match=f'drew 2 numbers; a problem of the task "{name}" has 1'):
        task.sample(3, 4, rng, samplers.levels)
    assert task.by_levels(5) == {}


@pytest.mark.parametrize(
    ("task", "length", "labels"),
    [
        (Multiplication(), 5, "01234"),
        (Multiplication(), 1, "01"),
        (Multiplication(multiplier=3), 5, "012345"),
        (Multiplication(base=2), 5, "0"),
        (Addition(), 5, "0123"),
        (Addition(terms=3), 20, "12345"),
    ],
)
def test_problems_level_by_level(rng, task, length, labels):
    samplers_by_label = task.by_levels(length)
    assert list(samplers_by_label) == [f"levels-{each}" for each in labels]
    for each, sampler in zip(labels, samplers_by_label.values(), strict=True):
        examples = task.sample(30, length, rng, sampler)
        assert (examples.longest == length).all()
        levels = counted(examples.operands, task.base, product=task.hub is not None)
        assert (levels == int(each)).all()


def test_of_three_numbers_the_levels_are_its_cascade(rng):
    task = Addition(terms=3)
    assert task.cascade(task.parse("97+5+0")).tolist() == [2]
    assert task.cascade(task.parse("333+333+334")).tolist() == [3]
    two = Addition().sample(200, 6, rng, samplers.complexity)
    three = np.concatenate([two.operands, np.zeros_like(two.operands[:, :1])], 1)
    lengths = np.concatenate([two.lengths, np.ones_like(two.lengths[:, :1])], 1)
    assert (task.cascade(task.solve(three, lengths)) == Addition().cascade(two)).all()


def test_common_levels_are_those_of_a_thousandth():
    levels = np.arange(32_768) % 2000 // 1997  # 1.5 in a thousand have 1
    drawn = np.zeros((1, 2, 5), dtype=np.uint8), np.ones((1, 2), dtype=np.int64)
    assert common(lambda n: drawn, lambda _: levels) == [0, 1]
    levels = np.arange(32_768) % 2000 // 1999  # half of one in a thousand
    assert common(lambda n: drawn, lambda _: levels) == [0]


@pytest.mark.parametrize(
    "sampler",
    [{"name": "mixed", "hard": "levels"}, {"name": "appended", "inner": "levels", "to": 9}],
)
def test_who_draws_multipliers_serves_no_other(rng, sampler):
    """An appended multiplier would be shifted with what it multiplies."""
    with pytest.raises(TenfoldError, match='"levels" draws multipliers too and serves no other'):
        Multiplication().sample(40, 5, rng, SAMPLERS.bind(sampler))
    Addition(terms=3).sample(40, 5, rng, SAMPLERS.bind(sampler))
