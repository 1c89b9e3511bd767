"""Addition against Python integers."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition, settle


def written(value, base):
    return np.base_repr(value, base).lower()


@hypothesis.given(
    base=st.integers(2, 16),
    terms=st.lists(st.integers(0, 10**40), min_size=2, max_size=5),
)
def test_parsed_sums_agree_with_integers(base, terms):
    task = Addition(terms=len(terms), base=base)
    examples = task.parse("+".join(written_big(term, base) for term in terms))
    assert task.truth(examples, 0) == written_big(sum(terms), base)
    assert task.question(examples, 0) == "+".join(written_big(term, base) for term in terms)


def written_big(value, base):
    """np.base_repr ends at 64 bits."""
    digits = []
    while value:
        value, digit = divmod(value, base)
        digits.append("0123456789abcdef"[digit])
    return "".join(reversed(digits)) or "0"


@pytest.mark.parametrize("base", range(2, 17))
@pytest.mark.parametrize("terms", range(2, 6))
def test_sampled_sums_agree_with_integers(base, terms, rng):
    task = Addition(terms, base)
    examples = task.sample(100, 7, rng, samplers.lengths)
    for row in range(100):
        values = [int(term, base) for term in task.question(examples, row).split("+")]
        assert len(values) == terms
        assert task.truth(examples, row) == written(sum(values), base)


@pytest.mark.parametrize("base", [2, 3, 10, 16])
@pytest.mark.parametrize("terms", [2, 5, 17, 40])
def test_the_largest_sum_has_room(base, terms):
    task = Addition(terms, base)
    top = np.full((1, terms, 6), base - 1, dtype=np.uint8)
    examples = task.solve(top, np.full((1, terms), 6))
    assert task.truth(examples, 0) == written(terms * (base**6 - 1), base)
    assert examples.room == task.room
    assert examples.room == len(written_big(terms - 1, base)) or base**task.room == terms


@hypothesis.given(
    base=st.integers(2, 16),
    columns=st.lists(st.lists(st.integers(0, 5000), min_size=8, max_size=8), min_size=1),
)
def test_settle_agrees_with_integers(base, columns):
    padded = np.array([[*row, *[0] * 14] for row in columns])
    digits = settle(padded, base)
    assert digits.max() < base
    for row, settled in zip(columns, digits.tolist(), strict=True):
        value = sum(column * base**i for i, column in enumerate(row))
        assert sum(digit * base**i for i, digit in enumerate(settled)) == value


def test_settle_carries_through_every_column():
    assert settle(np.array([10] + [9] * 50 + [0]), 10).tolist() == [0] * 51 + [1]


def test_a_million_digits_in_base_16_agree_with_integers(rng):
    """Base 16 because Python reads and writes it in linear time."""
    task = Addition(base=16)
    examples = task.sample(1, 1_000_000, rng, samplers.exact)
    a, b = task.question(examples, 0).split("+")
    assert len(a) == len(b) == 1_000_000
    assert int(task.truth(examples, 0), 16) == int(a, 16) + int(b, 16)


def test_a_million_decimal_digits_with_a_full_cascade():
    task = Addition()
    examples = task.parse("9" * 1_000_000 + "+1")
    assert task.truth(examples, 0) == "1" + "0" * 1_000_000


@pytest.mark.parametrize(
    ("text", "sum_"), [("12+345", "357"), (" 7 + 08 ", "15"), ("0+0", "0"), ("000+1", "1")]
)
def test_parse(task, text, sum_):
    assert task.truth(task.parse(text), 0) == sum_


@pytest.mark.parametrize(
    "text",
    ["", "12", "1+2+3", "1++2", "12+3a", "12+", "-1+2", "1 2+3", "\u0661+2", "1-2", "1+A"],
)
def test_what_is_no_sum(task, text):
    with pytest.raises(TenfoldError) as caught:
        task.parse(text)
    assert f'"{text}" is not a sum of 2 numbers in base 10' in str(caught.value)


def test_what_is_no_sum_is_shown_short(task):
    with pytest.raises(TenfoldError) as caught:
        task.parse("x" * 10_000)
    assert '"xxx' in str(caught.value)
    assert len(str(caught.value)) < 200


def test_digits_of_the_base_only():
    assert Addition(base=16).truth(Addition(base=16).parse("ff+1"), 0) == "100"
    with pytest.raises(TenfoldError, match="not a sum of 2 numbers in base 2"):
        Addition(base=2).parse("1+2")


@pytest.mark.parametrize("base", [1, 17, -2])
def test_base_out_of_range(base):
    with pytest.raises(TenfoldError, match=f"base {base}; 2 to 16"):
        Addition(base=base)


def test_one_term():
    with pytest.raises(TenfoldError, match="1 term"):
        Addition(terms=1)
