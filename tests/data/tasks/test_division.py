"""Division against Python integers."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.division import Division, almost_multiples, power_of_base


def check(task, examples, written):
    for row in range(len(examples)):
        number, divisor = task.question(examples, row).split("/")
        quotient = written(int(number, task.base) // int(divisor, task.base), task.base)
        assert task.truth(examples, row) == quotient.rjust(len(number), "0")


@pytest.mark.parametrize("base", [2, 3, 10, 16])
def test_small_ones_exhaustively(base, of_integers, written):
    task = Division(base)
    pairs = list(itertools.product(range(150), range(1, base)))
    examples = of_integers(task, pairs)
    assert (
        task.question(examples, len(pairs) - 1) == f"{written(149, base)}/{written(base - 1, base)}"
    )
    check(task, examples, written)


@pytest.mark.parametrize("base", [2, 7, 10, 16])
@pytest.mark.parametrize(
    "sampler", [samplers.numbers, samplers.lengths, power_of_base, almost_multiples]
)
def test_long_ones(base, sampler, rng, written):
    task = Division(base)
    check(task, task.sample(20, 40, rng, sampler), written)


@pytest.mark.parametrize("base", [2, 3, 10])
def test_almost_multiples_leave_the_largest_remainder(base, rng):
    task = Division(base)
    for length in (1, 2, 9):
        examples = task.sample(200, length, rng, almost_multiples)
        for row in range(200):
            number, divisor = (int(n, base) for n in task.question(examples, row).split("/"))
            assert number % divisor == divisor - 1


def test_every_divisor_is_drawn_and_zero_is_not(rng):
    examples = Division().sample(500, 3, rng)
    assert np.unique(examples.operands[:, 1, 0]).tolist() == list(range(1, 10))
    assert Division().answerable(examples.operands).all()
    assert not Division().answerable(examples.operands * np.array([1, 0])[:, None]).any()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("100/0", "100/0 divides by 0; divide by 1 to 9"),
        ("100/12", "100/12 divides by more than one digit; divide by 1 to 9"),
        ("100", '"100" is not a quotient of 2 numbers in base 10; write it as "100/8"'),
    ],
)
def test_refusals(text, words):
    with pytest.raises(TenfoldError) as caught:
        Division().parse(text)
    assert str(caught.value) == words


def test_a_sampler_of_products_is_refused(rng):
    with pytest.raises(TenfoldError, match="a sampler of products does not fit"):
        Division().sample(50, 3, rng, samplers.levels)


def test_two_columns_and_the_divisor_decide_a_digit_after_the_first():
    """What the remainder was before a column follows from the column, its quotient and the divisor: at most one fits."""
    for divisor in range(1, 10):
        for digit in range(10):
            for quotient in range(10):
                fits = [r for r in range(divisor) if (10 * r + digit) // divisor == quotient]
                assert len(fits) <= 1
