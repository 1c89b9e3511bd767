"""Multiplication against Python integers."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.transducer import END


@pytest.mark.parametrize("base", [2, 3, 10, 16])
def test_small_ones_exhaustively(base, of_integers, written, check_machine):
    task = Multiplication(base=base)
    pairs = list(itertools.product(range(base), range(150)))
    examples = of_integers(task, pairs)
    for row, (m, n) in enumerate(pairs):
        assert task.question(examples, row) == f"{written(m, base)}*{written(n, base)}"
        assert task.truth(examples, row) == written(m * n, base)
    check_machine(task, examples=examples)


@pytest.mark.parametrize("base", [2, 7, 10, 16])
@pytest.mark.parametrize("multiplier", [1, 2, 3])
def test_long_ones(base, multiplier, rng, written):
    task = Multiplication(multiplier, base)
    for sampler in (samplers.lengths, samplers.nines):
        examples = task.sample(6, 2000, rng, sampler)
        assert examples.room == multiplier
        for row in range(6):
            m, n = (int(text, base) for text in task.question(examples, row).split("*"))
            assert task.truth(examples, row) == written(m * n, base)


@pytest.mark.parametrize("base", [2, 5, 10])
@pytest.mark.parametrize("multiplier", [1, 2])
def test_the_machine(base, multiplier, check_machine):
    check_machine(Multiplication(multiplier, base))


def test_the_machine_of_three_digits(check_machine):
    check_machine(Multiplication(3, 4))
    assert Multiplication(3, 16).transducer() is None  # 8 million states


@pytest.mark.parametrize("multiplier", [1, 2])
def test_the_state_is_the_multiplier_and_a_carry_below_it(multiplier):
    machine = Multiplication(multiplier).transducer()
    values = np.arange(10**multiplier)
    assert (machine.value[machine.starts] == values).all()
    assert np.bincount(machine.value).tolist() == [2, *range(1, 10**multiplier)]
    assert (machine.value[machine.next] == machine.value[:, None]).all()  # it is kept
    assert machine.output.min() == END  # nothing is refused
    assert machine.output.max() == 9


@pytest.mark.parametrize("multiplier", [1, 2, 3])
def test_the_largest_product_has_room(multiplier):
    task = Multiplication(multiplier)
    examples = task.parse("9" * multiplier + "*" + "9" * 8)
    assert task.truth(examples, 0) == str((10**multiplier - 1) * (10**8 - 1))
    assert examples.longest.tolist() == [8]
    assert examples.answer.shape[1] == 8 + multiplier


def test_multipliers_are_drawn_of_every_length(rng):
    task = Multiplication(3)
    for length in (1, 5):  # also where the other number is shorter
        examples = task.sample(3000, length, rng, samplers.exact)
        counts = np.bincount(examples.lengths[:, 0])
        assert (abs(counts[1:] - 1000) < 150).all()
        assert (examples.lengths[:, 1] == length).all()
    assert set(Multiplication().sample(500, 3, rng).operands[:, 0, 0].tolist()) == set(range(10))


def test_a_million_digits():
    task = Multiplication()
    assert task.truth(task.parse("9*" + "9" * 1_000_000), 0) == "8" + "9" * 999_999 + "1"
    task = Multiplication(3, base=16)
    examples = task.sample(1, 1_000_000, np.random.default_rng(0), samplers.exact)
    m, n = (int(text, 16) for text in task.question(examples, 0).split("*"))
    assert int(task.truth(examples, 0), 16) == m * n


@pytest.mark.parametrize(
    ("text", "answer"), [("6*47", "282"), (" 006 * 047", "282"), ("0*999", "0"), ("7*0", "0")]
)
def test_parse(text, answer):
    task = Multiplication()
    assert task.truth(task.parse(text), 0) == answer


@pytest.mark.parametrize("text", ["", "12", "1*2*3", "1**2", "12*3a", "6*-1", "1+2"])
def test_what_is_no_product(text):
    with pytest.raises(TenfoldError) as caught:
        Multiplication().parse(text)
    assert f'"{text}" is not a product of 2 numbers in base 10; write it' in str(caught.value)


def test_a_multiplier_that_is_too_long():
    with pytest.raises(TenfoldError, match="the multiplier 12 has 2 digits; at most 1"):
        Multiplication().parse("12*345")
    assert Multiplication(2).truth(Multiplication(2).parse("12*345"), 0) == "4140"


@pytest.mark.parametrize("multiplier", [0, 4])
def test_multiplier_out_of_range(multiplier):
    with pytest.raises(TenfoldError, match=f"multiplier of {multiplier} digits; 1 to 3"):
        Multiplication(multiplier)


def test_base_out_of_range():
    with pytest.raises(TenfoldError, match="base 17; 2 to 16"):
        Multiplication(base=17)
